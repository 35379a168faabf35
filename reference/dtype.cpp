#include "reference/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace rope {
namespace {

struct Format {
  DType dtype;
  std::string_view name;
  int precision;     // bits of the significand, the hidden one included; 0 for integers
  int min_exponent;  // of the smallest normal number
  double largest;
};

constexpr std::array<Format, 6> formats{{
    {DType::f64, "f64", 53, -1022, std::numeric_limits<double>::max()},
    {DType::f32, "f32", 24, -126, std::numeric_limits<float>::max()},
    {DType::f16, "f16", 11, -14, 65504.0},
    {DType::bf16, "bf16", 8, -126, 0x1.fep127},
    {DType::i32, "i32", 0, 0, 2147483647.0},
    {DType::i64, "i64", 0, 0, 0x1p63},
}};

const Format& format(DType dtype) { return formats.at(static_cast<std::size_t>(dtype)); }

// IEEE-like 16-bit formats, given by fraction bits and exponent bias. Integer arithmetic on the bits, for speed: every
// judged element passes through here.
template <int fraction_bits, int bias>
std::uint16_t round_to_16_bits(double value) {
  constexpr std::uint64_t infinity = ((1u << (15 - fraction_bits)) - 1u) << fraction_bits;
  constexpr int dropped = 52 - fraction_bits;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = (bits >> 63) << 15;
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1u << (fraction_bits - 1)));
  constexpr std::uint64_t smallest_normal = std::uint64_t{1024 - bias} << 52;
  std::uint64_t rounded = 0;
  if (magnitude < smallest_normal) {
    // Counting units of the smallest subnormal: adding 2^52 leaves no bit below one, so the sum rounds to nearest even.
    const double units = std::fabs(value) * (fraction_bits == 10 ? 0x1p24 : 0x1p133);
    rounded = static_cast<std::uint64_t>((units + 0x1p52) - 0x1p52);
  } else {
    // A carry out of the fraction raises the exponent, which is what rounding up to the next binade means.
    const std::uint64_t even = (magnitude >> dropped) & 1;
    rounded = (magnitude + ((std::uint64_t{1} << (dropped - 1)) - 1) + even) >> dropped;
    rounded -= std::uint64_t{1023 - bias} << fraction_bits;
  }
  return static_cast<std::uint16_t>(sign | std::min(rounded, infinity));
}

template <class T>
double load_as(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void store_as(void* address, T value) {
  std::memcpy(address, &value, sizeof value);
}

}  // namespace

std::string_view name(DType dtype) { return format(dtype).name; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const Format& f : formats) {
    if (f.name == text) return f.dtype;
  }
  return std::nullopt;
}

bool is_floating(DType dtype) { return format(dtype).precision != 0; }
double unit_roundoff(DType dtype) { return std::ldexp(1.0, -format(dtype).precision); }
double largest_finite(DType dtype) { return format(dtype).largest; }

double smallest_subnormal(DType dtype) {
  return std::ldexp(1.0, format(dtype).min_exponent - format(dtype).precision + 1);
}

double half_to_double(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7FFFu;
  if (magnitude >= 0x7C00u) return std::bit_cast<float>(sign | 0x7F800000u | (magnitude & 0x3FFu) << 13);
  // This type's exponent bias is 112 less than float's; multiplying corrects that, for subnormals too.
  return static_cast<double>(std::bit_cast<float>(sign | magnitude << 13)) * 0x1p112;
}

double bfloat16_to_double(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
std::uint16_t double_to_half(double value) { return round_to_16_bits<10, 15>(value); }
std::uint16_t double_to_bfloat16(double value) { return round_to_16_bits<7, 127>(value); }

double load(DType dtype, const void* address) {
  std::uint16_t bits = 0;
  switch (dtype) {
    case DType::f64: return load_as<double>(address);
    case DType::f32: return load_as<float>(address);
    case DType::i32: return load_as<std::int32_t>(address);
    case DType::i64: return load_as<std::int64_t>(address);
    case DType::f16: std::memcpy(&bits, address, 2); return half_to_double(bits);
    case DType::bf16: std::memcpy(&bits, address, 2); return bfloat16_to_double(bits);
  }
  throw std::logic_error("load: unknown dtype");
}

void store(DType dtype, void* address, double value) {
  switch (dtype) {
    case DType::f64: return store_as<double>(address, value);
    case DType::f32: return store_as<float>(address, static_cast<float>(value));
    case DType::i32: return store_as<std::int32_t>(address, static_cast<std::int32_t>(value));
    case DType::i64: return store_as<std::int64_t>(address, static_cast<std::int64_t>(value));
    case DType::f16: return store_as<std::uint16_t>(address, double_to_half(value));
    case DType::bf16: return store_as<std::uint16_t>(address, double_to_bfloat16(value));
  }
  throw std::logic_error("store: unknown dtype");
}

namespace {

template <class T, class Convert>
void each(const void* first, std::int64_t step, std::size_t count, double* values, Convert&& convert) {
  const auto* from = static_cast<const std::byte*>(first);
  for (std::size_t i = 0; i < count; ++i, from += step * static_cast<std::int64_t>(sizeof(T))) {
    T value;
    std::memcpy(&value, from, sizeof value);
    values[i] = convert(value);
  }
}

template <class T, class Convert>
void each(void* first, std::int64_t step, std::size_t count, const double* values, Convert&& convert) {
  auto* to = static_cast<std::byte*>(first);
  for (std::size_t i = 0; i < count; ++i, to += step * static_cast<std::int64_t>(sizeof(T))) {
    const T value = convert(values[i]);
    std::memcpy(to, &value, sizeof value);
  }
}

}  // namespace

void load(DType dtype, const void* first, std::int64_t step, std::size_t count, double* values) {
  const auto widen = [](auto value) { return static_cast<double>(value); };
  switch (dtype) {
    case DType::f64: return each<double>(first, step, count, values, widen);
    case DType::f32: return each<float>(first, step, count, values, widen);
    case DType::i32: return each<std::int32_t>(first, step, count, values, widen);
    case DType::i64: return each<std::int64_t>(first, step, count, values, widen);
    case DType::f16: return each<std::uint16_t>(first, step, count, values, half_to_double);
    case DType::bf16: return each<std::uint16_t>(first, step, count, values, bfloat16_to_double);
  }
  throw std::logic_error("load: unknown dtype");
}

void store(DType dtype, void* first, std::int64_t step, std::size_t count, const double* values) {
  switch (dtype) {
    case DType::f64: return each<double>(first, step, count, values, [](double v) { return v; });
    case DType::f32: return each<float>(first, step, count, values, [](double v) { return static_cast<float>(v); });
    case DType::i32:
      return each<std::int32_t>(first, step, count, values, [](double v) { return static_cast<std::int32_t>(v); });
    case DType::i64:
      return each<std::int64_t>(first, step, count, values, [](double v) { return static_cast<std::int64_t>(v); });
    case DType::f16: return each<std::uint16_t>(first, step, count, values, double_to_half);
    case DType::bf16: return each<std::uint16_t>(first, step, count, values, double_to_bfloat16);
  }
  throw std::logic_error("store: unknown dtype");
}

}  // namespace rope
