// Converts rows of elements of any dtype to and from rows of the type that computes the rotation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/dtype.hpp"

namespace rope {

// row[i] = source[i * stride], converted from `dtype` (f64, f32, f16, bf16) to T; exact except from f64 to float.
// Instantiated for float and double.
template <class T>
void load_row(DType dtype, const void* source, std::int64_t stride, T* row, std::int64_t count);

// target[i * stride] = row[i], rounded once to nearest even. T = float writes f32, f16 and bf16; double f64 and f32.
// A NaN stays a NaN.
template <class T>
void store_row(DType dtype, const T* row, void* target, std::int64_t stride, std::int64_t count);

// target[i * target_stride] = source[i * source_stride], bit for bit; strides in elements of `size` bytes (2, 4, 8).
void copy_row(std::size_t size, const void* source, std::int64_t source_stride, void* target,
              std::int64_t target_stride, std::int64_t count);

// Whether the processor converts binary16 itself.
bool has_f16c();

// IEEE binary16 in its bits, with F16C where the machine has it.
void half_to_float(const std::uint16_t* source, float* row, std::int64_t count);
void float_to_half(const float* row, std::uint16_t* target, std::int64_t count);

// bfloat16: the upper half of a float.
void bfloat16_to_float(const std::uint16_t* source, float* row, std::int64_t count);
void float_to_bfloat16(const float* row, std::uint16_t* target, std::int64_t count);

}  // namespace rope
