// Shared by the kernels after reports: claims, refusing calls outside them, q and k by their element type. Each kernel
// computes in its own way.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs::reported {

constexpr std::uint32_t usual = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_OFFSET);
constexpr std::uint32_t with_positions = mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS);
constexpr std::uint32_t with_key = mask(ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS);
constexpr std::uint32_t either_pairing = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);

// Outputs have the type of the inputs.
template <class... Dtypes>
constexpr rope_capabilities claims_for(Dtypes... dtypes) {
  rope_capabilities claims{};
  ((claims.out_dtypes[dtypes] = mask(dtypes)), ...);
  return claims;
}

// Calls rotate(T{}, x) for q, and for k if there is one, with their element type T, one of Elements.
template <class... Elements, class Rotate>
void for_operands(const rope_call& call, Rotate rotate) {
  with_element<Elements...>(call.q.dtype, [&](auto type) {
    rotate(type, query(call));
    if (call.k.data != nullptr) rotate(type, key(call));
  });
}

template <class T>
void turn_pair(const T* x, T* y, const Pair& at, float cos, float sin) {
  const float first = widen(x[at.first]);
  const float second = widen(x[at.second]);
  y[at.first] = narrow<T>(first * cos - second * sin);
  y[at.second] = narrow<T>(second * cos + first * sin);
}

// The features behind the rotated ones pass through.
template <class T>
void copy_rest(const rope_call& call, const T* x, T* y) {
  for (std::int64_t i = call.rotary_dim; i < call.q.shape[3]; ++i) y[i] = x[i];
}

using designs::apply;

Kernels flat_tokens_kernels();
Kernels fused_kernels();
Kernels gathered_axes_kernels();
Kernels head_blocks_kernels();
Kernels in_double_kernels();
Kernels lanes_kernels();
Kernels pair_threads_kernels();
Kernels rotate_half_kernels();
Kernels token_cache_kernels();
Kernels wavelengths_kernels();

}  // namespace rope::designs::reported
