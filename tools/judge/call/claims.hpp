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
  // Properties of the subject, not the kernel. It can take: tensors that begin at any element, rows that lie far apart,
  // q and k in one memory, two calls at once. `compiled`: it is compiled code, which handles a tensor of millions of
  // elements in about a second.
  bool shifted_tensors = true;
  bool far_tensors = false;
  bool packed_tensors = false;
  bool concurrent_calls = false;
  bool compiled = false;

  bool has(rope_feature feature) const { return (capabilities.features & ROPE_BIT(feature)) != 0; }
  // The widest type that positions may have.
  DType position_dtype() const {
    return (capabilities.position_dtypes & ROPE_BIT(ROPE_I64)) != 0 ? DType::i64 : DType::i32;
  }
};

}  // namespace rope
