// Reads and writes elements in the type that a kernel works in. Integer arithmetic converts the 16-bit types as
// hardware converts f16: the result does not depend on the mode of the floating-point unit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impls/include/rope_kernel.h"

namespace rope::legal {

inline std::int64_t size_of(std::int32_t dtype) { return dtype == ROPE_F64 ? 8 : dtype == ROPE_F32 ? 4 : 2; }

inline float from_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // NaN stays NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  std::uint32_t exponent = half >> 10 & 0x1fu;
  std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    for (exponent = 1; (fraction & 0x400u) == 0; --exponent) fraction <<= 1;  // may wrap below 0; 112 is added
    fraction &= 0x3ffu;
  }
  return std::bit_cast<float>(sign | (exponent + 112u) << 23 | fraction << 13);
}

inline std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 113u << 23) {  // 2^-14, the smallest normal number
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    half = std::min((rounded - (112u << 23)) >> 13, 0x7c00u);
  } else if (magnitude >= 102u << 23) {  // 2^-25, half of the smallest subnormal one
    const std::uint32_t dropped = 126u - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    half = significand >> dropped;
    const std::uint32_t rest = significand & ((1u << dropped) - 1u);
    const std::uint32_t middle = 1u << (dropped - 1u);
    if (rest > middle || (rest == middle && (half & 1u) != 0)) ++half;
  }
  return static_cast<std::uint16_t>(sign | half);
}

template <class T>
T read(const void* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

// W is float or double: the type that the kernel works in.
template <class W>
W load(std::int32_t dtype, const void* address) {
  switch (dtype) {
    case ROPE_F64: return static_cast<W>(read<double>(address));
    case ROPE_F32: return read<float>(address);
    case ROPE_F16: return from_half(read<std::uint16_t>(address));
    default: return from_bfloat16(read<std::uint16_t>(address));
  }
}

// A float that rounds to a 16-bit type as the value itself does. It is rounded toward zero; if that is not exact, its
// last bit is set ("round to odd").
inline float sticky(float value) { return value; }
inline float sticky(double value) {
  auto narrow = static_cast<float>(value);
  if (narrow == value || value != value) return narrow;
  if (std::fabs(narrow) > std::fabs(value)) narrow = std::nextafter(narrow, 0.0f);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(narrow) | 1u);
}

template <class W>
void store(std::int32_t dtype, void* address, W value) {
  const auto narrow = static_cast<float>(value);
  const std::uint16_t bits = dtype == ROPE_F16 ? to_half(sticky(value)) : to_bfloat16(sticky(value));
  switch (dtype) {
    case ROPE_F64: {
      const auto wide = static_cast<double>(value);
      std::memcpy(address, &wide, sizeof wide);
      return;
    }
    case ROPE_F32: std::memcpy(address, &narrow, sizeof narrow); return;
    default: std::memcpy(address, &bits, sizeof bits); return;
  }
}

// A value after it was stored in an element of that type.
template <class W>
W rounded(std::int32_t dtype, W value) {
  switch (dtype) {
    case ROPE_F16: return from_half(to_half(sticky(value)));
    case ROPE_BF16: return from_bfloat16(to_bfloat16(sticky(value)));
    default: return value;
  }
}

}  // namespace rope::legal
