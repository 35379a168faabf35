// Which calls a kernel of designs.so takes.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

bool has(const rope_capabilities& claims, rope_feature feature) { return (claims.features & mask(feature)) != 0; }

bool in_mask(std::uint32_t mask, std::int32_t enumerator) {
  return enumerator >= 0 && enumerator < 32 && (mask >> enumerator & 1u) != 0;
}

bool rows_follow_one_another(const rope_tensor& tensor) {
  std::int64_t expected = 1;
  for (int axis = 3; axis >= 0; --axis) {
    if (tensor.shape[axis] == 0) return true;
    if (tensor.shape[axis] != 1 && tensor.strides[axis] != expected) return false;
    expected *= tensor.shape[axis];
  }
  return true;
}

bool covers_types(const rope_capabilities& claims, const rope_call& call) {
  return call.q.dtype >= ROPE_F64 && call.q.dtype <= ROPE_BF16 &&
         in_mask(claims.out_dtypes[call.q.dtype], call.q_out.dtype) && in_mask(claims.pairings, call.pairing);
}

bool covers_angles(const rope_capabilities& claims, const rope_call& call) {
  if (!in_mask(claims.angle_sources, call.angle_source)) return false;
  if (call.angle_source == ROPE_TABLES) {
    const bool half = claims.half_tables != 0 && call.table.width == call.rotary_dim / 2;
    const bool full = claims.full_tables != 0 && call.table.width == call.rotary_dim;
    return in_mask(claims.table_dtypes, call.table.dtype) && (half || full);
  }
  if (call.angle_source == ROPE_FREQUENCIES) return in_mask(claims.theta_dtypes, call.theta_dtype);
  return in_mask(claims.scalings, call.scaling.kind);
}

bool covers_dims(const rope_capabilities& claims, const rope_call& call) {
  const std::int64_t head_dim = call.q.shape[3];
  if (call.rotary_dim < 2 || call.rotary_dim > head_dim || call.rotary_dim % 2 != 0) return false;
  if (call.rotary_dim != head_dim && !has(claims, ROPE_FEATURE_PARTIAL)) return false;
  const std::int32_t* end = claims.head_dims + claims.head_dim_count;
  return claims.head_dims == nullptr || std::find(claims.head_dims, end, head_dim) != end;
}

bool covers_positions(const rope_capabilities& claims, const rope_call& call) {
  const rope_positions& positions = call.positions;
  if (positions.data == nullptr) return positions.offset == 0 || has(claims, ROPE_FEATURE_OFFSET);
  return has(claims, ROPE_FEATURE_POSITIONS) && in_mask(claims.position_dtypes, positions.dtype) &&
         (positions.axes <= 1 || has(claims, ROPE_FEATURE_AXES));
}

bool covers_layout(const rope_capabilities& claims, const rope_call& call) {
  if (call.q.data != nullptr && call.q.data == call.q_out.data && !has(claims, ROPE_FEATURE_IN_PLACE)) return false;
  if (call.k.data != nullptr) {
    if (!has(claims, ROPE_FEATURE_KEY)) return false;
    if (call.k.shape[2] != call.q.shape[2] && !has(claims, ROPE_FEATURE_GROUPED_HEADS)) return false;
  }
  for (const rope_tensor* tensor : {&call.q, &call.q_out, &call.k, &call.k_out}) {
    if (tensor->data == nullptr) continue;
    if (tensor->shape[3] > 1 && tensor->strides[3] != 1) return false;
    if (!has(claims, ROPE_FEATURE_STRIDED) && !rows_follow_one_another(*tensor)) return false;
  }
  return true;
}

}  // namespace

bool covers(const rope_capabilities& claims, const rope_call& call) {
  if (call.abi != ROPE_KERNEL_ABI || call.struct_size < sizeof(rope_call) || call.device != claims.device) return false;
  const bool direction =
      call.direction == ROPE_FORWARD || (call.direction == ROPE_BACKWARD && has(claims, ROPE_FEATURE_BACKWARD));
  const bool factor = call.attention_factor == 1 || has(claims, ROPE_FEATURE_ATTENTION_FACTOR);
  return direction && factor && covers_types(claims, call) && covers_dims(claims, call) &&
         covers_angles(claims, call) && covers_positions(claims, call) && covers_layout(claims, call);
}

}  // namespace rope::designs
