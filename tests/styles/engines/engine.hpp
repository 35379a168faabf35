// What the engines in C++ share: the refusal of calls outside the claims, positions as they are given, and elements as
// types. How an engine computes is its own.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>

#include "impls/rope_kernel.h"
#include "tests/styles/element.hpp"
#include "tests/styles/engines/accepts.h"
#include "tests/styles/kernel.hpp"

namespace rope::styles::engines {

// f16 of the compiler, which keeps the payload of a NaN where styles::Half does not.
using Float16 = _Float16;

inline float widen(Float16 value) { return static_cast<float>(value); }
using styles::widen;

template <class T>
T narrow(float value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return static_cast<Float16>(value);
  } else {
    return styles::narrow<T>(value);
  }
}

// rotate() answers a rope_status; it is not asked where the claims do not cover the call or nothing is to be done.
template <class Rotate>
std::int32_t if_accepted(const rope_call* call, const rope_capabilities& claims, Rotate rotate) {
  const std::int32_t status = engines_accepts(call, &claims);
  if (status != ROPE_OK) return status == ENGINES_NOTHING_TO_DO ? ROPE_OK : status;
  try {
    return rotate();
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

constexpr rope_kernel engine(const char* name, const char* description, std::int32_t (*apply)(const rope_call*),
                             const rope_capabilities& claims) {
  return {sizeof(rope_kernel), ROPE_KERNEL_ABI, name, description, apply, claims};
}

Kernels coordinates_kernels();
Kernels gradients_kernels();
Kernels head_major_kernels();
Kernels mixed_precision_kernels();
Kernels row_shares_kernels();
Kernels scaling_rules_kernels();
Kernels table_rows_kernels();
Kernels token_blocks_kernels();
Kernels vector_blocks_kernels();
Kernels work_queue_kernels();

}  // namespace rope::styles::engines
