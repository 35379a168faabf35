// Claims: what a kernel says that it can do. Only what is claimed is tested, and what is claimed has to work.
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
  // Of the subject rather than the kernel: whether it can be handed tensors that begin at any element, rows that lie
  // far apart, q and k in one memory, and two calls at once, and whether it is compiled code, to which a tensor of
  // millions of elements is a matter of a second.
  bool shifted_tensors = true;
  bool far_tensors = false;
  bool packed_tensors = false;
  bool concurrent_calls = false;
  bool compiled = false;

  bool has(rope_feature feature) const { return (capabilities.features & ROPE_BIT(feature)) != 0; }
  // The widest type that positions may be given in.
  DType position_dtype() const {
    return (capabilities.position_dtypes & ROPE_BIT(ROPE_I64)) != 0 ? DType::i64 : DType::i32;
  }
};

}  // namespace rope
