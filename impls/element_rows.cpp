#include "impls/element_rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "impls/multiversion.hpp"

namespace rope {
namespace {

constexpr std::int64_t chunk = 64;  // elements that pass through a buffer on the stack at a time

// The contiguous conversions. Each dtype has its own function, so that load_row and store_row stay tables.
template <class T>
void load_contiguous(DType dtype, const void* source, T* row, std::int64_t count) {
  const auto* bits = static_cast<const std::uint16_t*>(source);
  if constexpr (std::is_same_v<T, float>) {
    switch (dtype) {
      case DType::f64: std::copy_n(static_cast<const double*>(source), count, row); return;
      case DType::f32: std::copy_n(static_cast<const float*>(source), count, row); return;
      case DType::f16: return half_to_float(bits, row, count);
      case DType::bf16: return bfloat16_to_float(bits, row, count);
      default: throw std::logic_error("load_row: not a floating-point dtype");
    }
  } else {
    if (dtype == DType::f64) {
      std::copy_n(static_cast<const double*>(source), count, row);
      return;
    }
    if (dtype == DType::f32) {
      std::copy_n(static_cast<const float*>(source), count, row);
      return;
    }
    std::array<float, chunk> narrow;
    for (std::int64_t i = 0; i < count; i += chunk) {
      const std::int64_t n = std::min(chunk, count - i);
      load_contiguous(dtype, bits + i, narrow.data(), n);
      std::copy_n(narrow.data(), n, row + i);
    }
  }
}

template <class T>
void store_contiguous(DType dtype, const T* row, void* target, std::int64_t count) {
  auto* bits = static_cast<std::uint16_t*>(target);
  if constexpr (std::is_same_v<T, float>) {
    switch (dtype) {
      case DType::f32: std::copy_n(row, count, static_cast<float*>(target)); return;
      case DType::f16: return float_to_half(row, bits, count);
      case DType::bf16: return float_to_bfloat16(row, bits, count);
      default: break;
    }
  } else {
    switch (dtype) {
      case DType::f64: std::copy_n(row, count, static_cast<double*>(target)); return;
      case DType::f32:
        std::transform(row, row + count, static_cast<float*>(target), [](double v) { return static_cast<float>(v); });
        return;
      default: break;  // from double through float to 16 bits would round twice
    }
  }
  throw std::logic_error("store_row: no conversion to this dtype");
}

template <class Element>
void copy_elements(const void* source, std::int64_t source_stride, void* target, std::int64_t target_stride,
                   std::int64_t count) {
  const auto* from = static_cast<const Element*>(source);
  auto* to = static_cast<Element*>(target);
  for (std::int64_t i = 0; i < count; ++i) to[i * target_stride] = from[i * source_stride];
}

template <class Address>
Address advance(Address start, std::int64_t elements, std::size_t size) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Address>>, const std::byte, std::byte>;
  return static_cast<Byte*>(start) + elements * static_cast<std::int64_t>(size);
}

}  // namespace

void copy_row(std::size_t size, const void* source, std::int64_t source_stride, void* target,
              std::int64_t target_stride, std::int64_t count) {
  if (source_stride == 1 && target_stride == 1) {
    std::memmove(target, source, static_cast<std::size_t>(count) * size);
    return;
  }
  switch (size) {
    case 2: return copy_elements<std::uint16_t>(source, source_stride, target, target_stride, count);
    case 4: return copy_elements<std::uint32_t>(source, source_stride, target, target_stride, count);
    case 8: return copy_elements<std::uint64_t>(source, source_stride, target, target_stride, count);
    default: throw std::logic_error("copy_row: no dtype has this size");
  }
}

// Strided rows go through a contiguous buffer: one conversion serves both, so the bits are the same.
template <class T>
void load_row(DType dtype, const void* source, std::int64_t stride, T* row, std::int64_t count) {
  if (stride == 1) return load_contiguous(dtype, source, row, count);
  std::array<double, chunk> buffer;
  const std::size_t size = size_of(dtype);
  for (std::int64_t i = 0; i < count; i += chunk) {
    const std::int64_t n = std::min(chunk, count - i);
    copy_row(size, advance(source, i * stride, size), stride, buffer.data(), 1, n);
    load_contiguous(dtype, static_cast<const void*>(buffer.data()), row + i, n);
  }
}

template <class T>
void store_row(DType dtype, const T* row, void* target, std::int64_t stride, std::int64_t count) {
  if (stride == 1) return store_contiguous(dtype, row, target, count);
  std::array<double, chunk> buffer;
  const std::size_t size = size_of(dtype);
  for (std::int64_t i = 0; i < count; i += chunk) {
    const std::int64_t n = std::min(chunk, count - i);
    store_contiguous(dtype, row + i, static_cast<void*>(buffer.data()), n);
    copy_row(size, buffer.data(), 1, advance(target, i * stride, size), stride, n);
  }
}

template void load_row(DType, const void*, std::int64_t, float*, std::int64_t);
template void load_row(DType, const void*, std::int64_t, double*, std::int64_t);
template void store_row(DType, const float*, void*, std::int64_t, std::int64_t);
template void store_row(DType, const double*, void*, std::int64_t, std::int64_t);

ROPE_MULTIVERSION
void bfloat16_to_float(const std::uint16_t* source, float* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) row[i] = std::bit_cast<float>(static_cast<std::uint32_t>(source[i]) << 16);
}

// Uses integers, which vectorise. AVX-512's own instruction is unusable: it flushes subnormals to zero.
ROPE_MULTIVERSION
void float_to_bfloat16(const float* row, std::uint16_t* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(row[i]);
    const std::uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    const std::uint32_t quiet = bits | 0x400000;  // rounding could carry a NaN into infinity or zero
    target[i] = static_cast<std::uint16_t>((row[i] != row[i] ? quiet : rounded) >> 16);
  }
}

}  // namespace rope
