// The common part of this folder's kernels: everything around the rotation loop. A kernel brings a loop over heads in
// memory as plain rows of float or double. This file handles dtypes, strides, in place, positions and angles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impls/angles.hpp"
#include "impls/element.hpp"
#include "impls/include/rope_kernel.h"

namespace rope {

// Heads of one token: head h is the row x + h * x_stride of 2 * pairs contiguous values. Its result goes to the row
// y + h * y_stride. The two are the same row or do not overlap.
template <class E>
struct Heads {
  const E* x;
  std::ptrdiff_t x_stride;
  E* y;
  std::ptrdiff_t y_stride;
  std::int64_t count;
};

template <class E>
using Rotate = void (*)(const Heads<E>&, const Turns<Working<E>>&);
using RotateHalf = Rotate<Half>;

struct Rotation {
  Rotate<float> f32;      // for f32, and others converted to it
  Rotate<double> f64;     // for f64, and f32 turned by tables in f64
  Rotate<Bfloat16> bf16;  // in one pass
  Rotate<Half> f16;       // in one pass; null: through f32
};

// Carries out a call that has passed check_call: q and k, token by token. Returns ROPE_OK, or ROPE_FAILED if memory
// runs out.
rope_status rotate_each_token(const rope_call& call, const Rotation& rotation) noexcept;

}  // namespace rope
