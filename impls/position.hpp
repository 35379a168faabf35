// The position of a token.
#pragma once

#include <cstdint>

#include "impls/host_device.hpp"
#include "impls/include/rope_kernel.h"

namespace rope {

// The position of token `seq` of `batch` on `axis`. Reads positions.data, which must hold it.
ROPE_HOST_DEVICE inline std::int64_t position_of(const rope_positions& positions, int axis, std::int64_t batch,
                                                 std::int64_t seq) {
  if (positions.data == nullptr) return positions.offset + seq;
  const std::int64_t index = axis * positions.axis_stride + batch * positions.batch_stride + seq * positions.seq_stride;
  if (positions.dtype == ROPE_I32) return static_cast<const std::int32_t*>(positions.data)[index];
  return static_cast<const std::int64_t*>(positions.data)[index];
}

}  // namespace rope
