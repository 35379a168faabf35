#include "golden/input_generator.hpp"

#include <cstring>
#include <stdexcept>

namespace rope {
namespace {

struct Format {
  int fraction_bits;
  std::uint64_t bias;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return {52, 1023};
    case DType::f32: return {23, 127};
    case DType::f16: return {10, 15};
    case DType::bf16: return {7, 127};
    default: throw std::invalid_argument("generate_input: expected a floating dtype");
  }
}

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014) evaluated at a counter: any value can be computed without the others.
std::uint64_t word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

template <std::size_t size>
void generate(std::uint64_t seed, Format format, std::span<std::byte> bytes) {
  std::byte* to = bytes.data();
  for (std::size_t i = 0; i < bytes.size() / size; ++i, to += size) {
    const std::uint64_t z = word(seed, i);
    const std::uint64_t exponent = (z >> 60 & 7) + format.bias - 4;
    const std::uint64_t fraction = z >> 8 & ((std::uint64_t{1} << format.fraction_bits) - 1);
    const std::uint64_t bits = z >> 63 << (8 * size - 1) | exponent << format.fraction_bits | fraction;
    std::memcpy(to, &bits, size);  // little-endian: the low bytes come first
  }
}

}  // namespace

void generate_input(std::uint64_t seed, DType dtype, std::span<std::byte> bytes) {
  const Format format = format_of(dtype);
  switch (size_of(dtype)) {
    case 2: generate<2>(seed, format, bytes); break;
    case 4: generate<4>(seed, format, bytes); break;
    default: generate<8>(seed, format, bytes);
  }
}

std::vector<std::byte> generate_input(std::uint64_t seed, std::size_t count, DType dtype) {
  std::vector<std::byte> bytes(count * size_of(dtype));
  generate_input(seed, dtype, bytes);
  return bytes;
}

}  // namespace rope
