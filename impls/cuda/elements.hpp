// Elements as the kernel loads, converts and stores them: one, or as many as 16 bytes hold.
#pragma once

#include <cstdint>
#include <cstring>

#include "impls/element.hpp"
#include "impls/host_device.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define ROPE_SHARED_MEMORY(name) extern __shared__ __align__(16) unsigned char name[]
#else
#include "impls/cuda/grid_shim.hpp"
#include "impls/element_rows.hpp"
#endif

namespace rope::cuda {

template <class E, int n>
struct alignas(n == 1 ? alignof(E) : 16) Elements {
  E at[n];
};

#ifdef __CUDACC__

// Elements of 16 bits stay in the words that they are loaded in: one by one they would take twice as many registers.
template <class E, int n>
requires(sizeof(E) == 2 && n > 1) struct alignas(16) Elements<E, n> {
  std::uint32_t words[n / 2];
};

template <class E, int n>
__device__ inline Elements<E, n> load(const E* source) {
  return *reinterpret_cast<const Elements<E, n>*>(source);
}

template <class E, int n>
__device__ inline void store(const Elements<E, n>& elements, E* target) {
  *reinterpret_cast<Elements<E, n>*>(target) = elements;
}

__device__ inline float as_float(float value) { return value; }
__device__ inline float as_float(Half value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ inline float as_float(Bfloat16 value) { return __bfloat162float(__ushort_as_bfloat16(value.bits)); }
__device__ inline double as_float(double value) { return value; }

__device__ inline void round_to(float& target, float value) { target = value; }
__device__ inline void round_to(float& target, double value) { target = static_cast<float>(value); }
__device__ inline void round_to(double& target, double value) { target = value; }
__device__ inline void round_to(Half& target, float value) { target.bits = __half_as_ushort(__float2half_rn(value)); }
__device__ inline void round_to(Bfloat16& target, float value) {
  target.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
}

// Two elements of 16 bits in a word, the first one in the low half.
__device__ inline float2 as_floats(std::uint32_t word, Half) {
  return __half22float2(__halves2half2(__ushort_as_half(static_cast<std::uint16_t>(word)),
                                       __ushort_as_half(static_cast<std::uint16_t>(word >> 16))));
}
__device__ inline float2 as_floats(std::uint32_t word, Bfloat16) {
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)};
}
template <class Pair>
__device__ inline std::uint32_t word_of(Pair pair) {
  std::uint32_t word;
  std::memcpy(&word, &pair, sizeof word);
  return word;
}
__device__ inline std::uint32_t rounded(float low, float high, Half) { return word_of(__floats2half2_rn(low, high)); }
__device__ inline std::uint32_t rounded(float low, float high, Bfloat16) {
  return word_of(__floats2bfloat162_rn(low, high));
}

template <class Work, class E, int n>
__device__ inline void widen(const Elements<E, n>& from, Work (&to)[n]) {
  if constexpr (sizeof(E) == 2 && n > 1) {
#pragma unroll
    for (int i = 0; i < n; i += 2) {
      const float2 pair = as_floats(from.words[i / 2], E());
      to[i] = static_cast<Work>(pair.x);
      to[i + 1] = static_cast<Work>(pair.y);
    }
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) to[i] = static_cast<Work>(as_float(from.at[i]));
  }
}

template <class Work, class E, int n>
__device__ inline void narrow(const Work (&from)[n], Elements<E, n>& to) {
  if constexpr (sizeof(E) == 2 && n > 1) {
#pragma unroll
    for (int i = 0; i < n; i += 2) to.words[i / 2] = rounded(from[i], from[i + 1], E());
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) round_to(to.at[i], from[i]);
  }
}

#else

// By memcpy, with the alignment that a device would ask for.
template <class E, int n>
Elements<E, n> load(const E* source) {
  grid::check_alignment(source, alignof(Elements<E, n>));
  Elements<E, n> elements;
  std::memcpy(&elements, source, sizeof elements);
  return elements;
}

template <class E, int n>
void store(const Elements<E, n>& elements, E* target) {
  grid::check_alignment(target, alignof(Elements<E, n>));
  std::memcpy(target, &elements, sizeof elements);
}

template <class From, class To>
void convert(const From* from, To* to, int n) {
  for (int i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}
inline void convert(const Half* from, float* to, int n) { half_to_float(&from->bits, to, n); }
inline void convert(const float* from, Half* to, int n) { float_to_half(from, &to->bits, n); }
inline void convert(const Bfloat16* from, float* to, int n) { bfloat16_to_float(&from->bits, to, n); }
inline void convert(const float* from, Bfloat16* to, int n) { float_to_bfloat16(from, &to->bits, n); }

template <class Work, class E, int n>
void widen(const Elements<E, n>& from, Work (&to)[n]) {
  if constexpr (std::is_same_v<E, Work>) {
    convert(from.at, to, n);
  } else {
    float values[n];
    convert(from.at, values, n);
    for (int i = 0; i < n; ++i) to[i] = static_cast<Work>(values[i]);
  }
}

template <class Work, class E, int n>
void narrow(const Work (&from)[n], Elements<E, n>& to) {
  convert(from, to.at, n);
}

#endif

}  // namespace rope::cuda
