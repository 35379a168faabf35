// The position of a token.
#pragma once

#include <cstdint>

#include "impls/host_device.hpp"
#include "impls/include/rope_kernel.h"

namespace rope {

ROPE_HOST_DEVICE inline std::int64_t integer_at(const void* data, std::int32_t dtype, std::int64_t index) {
  if (dtype == ROPE_I32) return static_cast<const std::int32_t*>(data)[index];
  return static_cast<const std::int64_t*>(data)[index];
}

// The sequence that holds token `seq` of a packed row: the last one that begins at it or before. Empty sequences hold
// none.
ROPE_HOST_DEVICE inline std::int32_t packed_sequence_of(const rope_call& call, std::int64_t seq) {
  std::int32_t low = 0, high = call.sequences;
  while (high - low > 1) {
    const std::int32_t middle = low + (high - low) / 2;
    (call.cu_seqlens[middle] <= seq ? low : high) = middle;
  }
  return low;
}

// The position of token `seq` of `batch` on `axis`. Reads what gives the positions: positions.data, or seqlen_offsets
// and cu_seqlens. The call must be of today's struct_size.
ROPE_HOST_DEVICE inline std::int64_t position_of(const rope_call& call, int axis, std::int64_t batch,
                                                 std::int64_t seq) {
  const rope_positions& positions = call.positions;
  if (positions.data != nullptr) {
    return integer_at(positions.data, positions.dtype,
                      axis * positions.axis_stride + batch * positions.batch_stride + seq * positions.seq_stride);
  }
  const std::int64_t sequence = call.cu_seqlens != nullptr ? packed_sequence_of(call, seq) : batch;
  const std::int64_t first = call.cu_seqlens != nullptr ? call.cu_seqlens[sequence] : 0;
  const std::int64_t start = call.seqlen_offsets == nullptr
                                 ? positions.offset
                                 : integer_at(call.seqlen_offsets, call.seqlen_offsets_dtype, sequence);
  return start + (seq - first);
}

// Whether all batches have the same positions. False if only their values tell.
ROPE_HOST_DEVICE inline bool batches_share_positions(const rope_call& call) {
  return call.positions.data != nullptr ? call.positions.batch_stride == 0 : call.seqlen_offsets == nullptr;
}

}  // namespace rope
