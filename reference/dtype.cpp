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
  std::size_t size;
  int precision;     // bits of the significand, the hidden one included; 0 for integers
  int min_exponent;  // of the smallest normal number
  double largest;
};

constexpr std::array<Format, 6> formats{{
    {DType::f64, "f64", 8, 53, -1022, std::numeric_limits<double>::max()},
    {DType::f32, "f32", 4, 24, -126, std::numeric_limits<float>::max()},
    {DType::f16, "f16", 2, 11, -14, 65504.0},
    {DType::bf16, "bf16", 2, 8, -126, 0x1.fep127},
    {DType::i32, "i32", 4, 0, 0, 2147483647.0},
    {DType::i64, "i64", 8, 0, 0, 0x1p63},
}};

const Format& format(DType dtype) { return formats.at(static_cast<std::size_t>(dtype)); }

// Rounds to a 16-bit IEEE-like format with the given number of fraction bits and exponent bias.
std::uint16_t round_to_16_bits(double value, int fraction_bits, int bias) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << 15);
  const int exponent_mask = (1 << (15 - fraction_bits)) - 1;
  const auto infinity = static_cast<std::uint16_t>(exponent_mask << fraction_bits);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (1 << (fraction_bits - 1)));
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  // The spacing of the target format at this magnitude; ldexp and nearbyint are exact here, so there is one rounding.
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  if (std::isinf(magnitude) || units >= std::ldexp(1.0, exponent_mask - bias + fraction_bits - exponent)) {
    return static_cast<std::uint16_t>(sign | infinity);
  }
  // Counting units from zero: a carry into the next binade, or from subnormal to normal, comes out right by itself.
  const auto count = static_cast<std::uint32_t>(units);
  const auto biased = static_cast<std::uint32_t>(exponent + bias - 1) << fraction_bits;
  return static_cast<std::uint16_t>(sign | (biased + count));
}

double from_16_bits(std::uint16_t bits, int fraction_bits, int bias) {
  const int exponent_mask = (1 << (15 - fraction_bits)) - 1;
  const int exponent = (bits >> fraction_bits) & exponent_mask;
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double magnitude = 0;
  if (exponent == exponent_mask) {
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    magnitude = std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
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

std::size_t size_of(DType dtype) { return format(dtype).size; }
bool is_floating(DType dtype) { return format(dtype).precision != 0; }
double unit_roundoff(DType dtype) { return std::ldexp(1.0, -format(dtype).precision); }
double largest_finite(DType dtype) { return format(dtype).largest; }

double smallest_subnormal(DType dtype) {
  return std::ldexp(1.0, format(dtype).min_exponent - format(dtype).precision + 1);
}

double half_to_double(std::uint16_t bits) { return from_16_bits(bits, 10, 15); }
double bfloat16_to_double(std::uint16_t bits) { return from_16_bits(bits, 7, 127); }
std::uint16_t double_to_half(double value) { return round_to_16_bits(value, 10, 15); }
std::uint16_t double_to_bfloat16(double value) { return round_to_16_bits(value, 7, 127); }

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

}  // namespace rope
