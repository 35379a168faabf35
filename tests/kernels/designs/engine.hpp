// Shared by the engines in C++: refusing calls outside the claims, positions as given, and elements as types. Each
// engine computes in its own way.
#pragma once

#include <type_traits>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs::engines {

// The compiler's f16: it keeps the payload of a NaN, designs::Half does not.
using Float16 = _Float16;

inline float widen(Float16 value) { return static_cast<float>(value); }
using designs::widen;

template <class T>
T narrow(float value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return static_cast<Float16>(value);
  } else {
    return designs::narrow<T>(value);
  }
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

}  // namespace rope::designs::engines
