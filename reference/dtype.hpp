// Element types, their unit roundoff, and exact conversions to and from double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rope {

// The same numeric values as rope_dtype in impls/include/rope_kernel.h.
enum class DType : std::int32_t { f64 = 0, f32 = 1, f16 = 2, bf16 = 3, i32 = 4, i64 = 5 };

std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view text);
constexpr std::size_t size_of(DType dtype) {  // bytes
  switch (dtype) {
    case DType::f64:
    case DType::i64: return 8;
    case DType::f32:
    case DType::i32: return 4;
    case DType::f16:
    case DType::bf16: return 2;
  }
  return 0;
}
bool is_floating(DType dtype);

// u: half the distance from 1 to the next larger value; 2^-53, 2^-24, 2^-11, 2^-8.
double unit_roundoff(DType dtype);
// Smallest positive subnormal: 2^-1074, 2^-149, 2^-24, 2^-133.
double smallest_subnormal(DType dtype);
double largest_finite(DType dtype);

// Exact: every f16 and bf16 value is a double.
double half_to_double(std::uint16_t bits);
double bfloat16_to_double(std::uint16_t bits);

// Round to nearest, ties to even, in one step from double. Going through float would round twice.
std::uint16_t double_to_half(double value);
std::uint16_t double_to_bfloat16(double value);

// One element of a type in memory (no alignment needed). Integers convert exactly below 2^53.
double load(DType dtype, const void* address);
void store(DType dtype, void* address, double value);
// The same for `count` elements that lie `step` elements apart, many times as fast.
void load(DType dtype, const void* first, std::int64_t step, std::size_t count, double* values);
void store(DType dtype, void* first, std::int64_t step, std::size_t count, const double* values);

}  // namespace rope
