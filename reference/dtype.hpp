// Element types, their unit roundoff, and exact conversions to and from double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rope {

// The numeric values are those of rope_dtype in impls/rope_kernel.h.
enum class DType : std::int32_t { f64 = 0, f32 = 1, f16 = 2, bf16 = 3, i32 = 4, i64 = 5 };

std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view text);
std::size_t size_of(DType dtype);  // bytes
bool is_floating(DType dtype);

// u: half the distance from 1 to the next larger value; 2^-53, 2^-24, 2^-11, 2^-8.
double unit_roundoff(DType dtype);
// Smallest positive subnormal: 2^-1074, 2^-149, 2^-24, 2^-133.
double smallest_subnormal(DType dtype);
double largest_finite(DType dtype);

// Exact: every f16 and bf16 value is a double.
double half_to_double(std::uint16_t bits);
double bfloat16_to_double(std::uint16_t bits);

// Round to nearest, ties to even, in one step from double (not by way of float, which would round twice).
std::uint16_t double_to_half(double value);
std::uint16_t double_to_bfloat16(double value);

// One element of a type in memory (no alignment needed). Integers convert exactly below 2^53.
double load(DType dtype, const void* address);
void store(DType dtype, void* address, double value);

}  // namespace rope
