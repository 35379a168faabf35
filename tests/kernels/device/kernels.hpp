// The list of kernels. Include it behind queue<Edit>(call), which starts a grid of Edit::run: on_device.cu and
// on_cpu.cpp have one each.
#pragma once

#include "tests/kernels/device/rotation.hpp"
#include "tests/kernels/exports.hpp"
#include "tests/kernels/designs/if_accepted.hpp"

namespace rope::device_kernels {

inline rope_capabilities claims() {
  rope_capabilities claims{};
  claims.device = ROPE_CUDA;
  claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.half_tables = 1;
  claims.features = ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_STRIDED);
  claims.max_position = INT32_MAX;
  return claims;
}

template <class Edit>
std::int32_t apply(const rope_call* call) {
  return designs::if_accepted(call, claims(), [call] { return queue<Edit>(*call); });
}

template <class Edit>
rope_kernel kernel(const char* name, const char* description) {
  return {sizeof(rope_kernel), ROPE_KERNEL_ABI, name, description, apply<Edit>, claims()};
}

inline Kernels kernels() {
  static const rope_kernel all[] = {
      kernel<Right>("device", "half-split pairs from half-width f32 tables, a pair a thread"),
      kernel<Waits>("device-waits", "the same, and waits for its work"),
      kernel<SharedTurns<true>>("device-shared", "cos and sin through shared memory"),
      kernel<SharedTurns<false>>("device/no-barrier", "shared memory is read before other threads have filled it"),
      kernel<BarrierForSome>("device/barrier-for-some", "a barrier that only threads with a pair reach"),
      kernel<DefaultStream>("device/default-stream", "starts on the default stream"),
      kernel<BlockTooLarge>("device/block-too-large", "2048 threads a block, if a batch has more than 16 tokens"),
      kernel<TokensInGridY>("device/tokens-in-grid-y", "a block for each token, in dimension y"),
      kernel<ReadBeyond>("device/read-beyond", "reads behind the last element of q"),
      kernel<ReadOutput>("device/read-output", "reads the output before it is written"),
      kernel<WriteBeyond>("device/write-beyond", "writes behind the last element of q_out"),
      kernel<WriteInput>("device/write-input", "writes to q"),
      kernel<WildAddress>("device/wild-address",
                          "writes to an address of no memory, if a batch has more than 16 tokens"),
      kernel<LoadsOf16Bytes>("device/loads-of-16-bytes", "loads four features at once, at any address"),
      kernel<LoadAfterStore>("device/load-after-store", "in place, loads a feature after its result was stored"),
      kernel<Hangs>("device/hangs", "hangs, if a batch has more than 4 tokens"),
      kernel<OffsetLost>("device/offset-lost", "positions count from 0"),
  };
  return all;
}

}  // namespace rope::device_kernels
