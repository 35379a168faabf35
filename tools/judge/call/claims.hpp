// Claims: what a kernel says that it can do. Only claims are tested, and every claim must hold.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "reference/dtype.hpp"

namespace rope {

// rope_capabilities of impls/include/rope_kernel.h, with the head_dims copied.
struct Claims {
  rope_capabilities capabilities{};
  std::vector<std::int32_t> head_dims;  // empty: every even one
  // Of the subject, not of the kernel:
  bool shifted_tensors = true;    // it takes tensors that begin at any element
  bool far_tensors = false;       // it takes rows that lie far apart
  bool packed_tensors = false;    // it takes q and k in one memory
  bool concurrent_calls = false;  // it takes two calls at once
  bool compiled = false;          // it is compiled code: millions of elements take about a second

  bool has(rope_feature feature) const { return (capabilities.features & ROPE_BIT(feature)) != 0; }
  // Whether no call is without it.
  bool always(rope_feature feature) const { return (capabilities.required_features & ROPE_BIT(feature)) != 0; }
  // A new process takes a compiled kernel a few milliseconds. An interpreter loads its framework first, and CUDA its
  // driver, which takes much longer. There, the first death decides a requirement, and only the first of a run is
  // shrunk. If one failure occurred in a new process by itself, others of its kind are assumed not to need earlier
  // calls either.
  bool starts_slowly() const { return !compiled || capabilities.device == ROPE_CUDA; }
  // The widest type that positions may have.
  DType position_dtype() const {
    return (capabilities.position_dtypes & ROPE_BIT(ROPE_I64)) != 0 ? DType::i64 : DType::i32;
  }
};

}  // namespace rope
