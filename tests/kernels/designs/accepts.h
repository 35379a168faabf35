/* Which calls a kernel takes. Every engine and every kernel after a report asks here before it computes. So a call
 * outside the claims is noticed, and a bad argument is answered with a status. C99, also valid C++. */
#ifndef ROPE_DESIGNS_ACCEPTS_H
#define ROPE_DESIGNS_ACCEPTS_H

#include "impls/include/rope_kernel.h"

/* What designs_accepts() returns, in place of a rope_status, for a call without rows. */
#define DESIGNS_NOTHING_TO_DO (-1)

static inline int designs_has(const rope_capabilities* claims, int feature) {
  return (claims->features >> feature & 1u) != 0;
}

static inline int designs_in_mask(uint32_t mask, int32_t enumerator) {
  return enumerator >= 0 && enumerator < 32 && (mask >> enumerator & 1u) != 0;
}

static inline int designs_is_element(int32_t dtype) { return dtype >= ROPE_F64 && dtype <= ROPE_BF16; }

static inline int64_t designs_rows(const rope_tensor* tensor) {
  return tensor->shape[0] * tensor->shape[1] * tensor->shape[2];
}

static inline int64_t designs_position(const rope_positions* positions, int64_t axis, int64_t batch, int64_t token) {
  const int64_t at = axis * positions->axis_stride + batch * positions->batch_stride + token * positions->seq_stride;
  if (positions->data == NULL) return positions->offset + token;
  return positions->dtype == ROPE_I64 ? ((const int64_t*)positions->data)[at] : ((const int32_t*)positions->data)[at];
}

static inline int32_t designs_accepts_strides(const rope_tensor* tensor, const rope_capabilities* claims) {
  int64_t expected = 1;
  int axis;
  if (designs_has(claims, ROPE_FEATURE_STRIDED)) {
    if (designs_has(claims, ROPE_FEATURE_ANY_STRIDES)) return ROPE_OK;
    if (tensor->strides[3] != 1) return ROPE_UNSUPPORTED;
    for (axis = 0; axis < 3; ++axis) {
      if (tensor->strides[axis] < 0 && tensor->shape[axis] > 1) return ROPE_UNSUPPORTED;
    }
    return ROPE_OK;
  }
  for (axis = 3; axis >= 0; --axis) {
    if (tensor->shape[axis] > 1 && tensor->strides[axis] != expected) return ROPE_UNSUPPORTED;
    expected *= tensor->shape[axis];
  }
  return ROPE_OK;
}

/* in_place: 0 or 1, or -1 if the tensor has no rows. */
static inline int32_t designs_accepts_tensor(const rope_tensor* in, const rope_tensor* out,
                                            const rope_capabilities* claims, int* in_place) {
  int32_t status;
  int axis;
  *in_place = -1;
  for (axis = 0; axis < 4; ++axis) {
    if (in->shape[axis] < 0 || in->shape[axis] != out->shape[axis]) return ROPE_INVALID_ARGUMENT;
  }
  if (!designs_is_element(in->dtype) || !designs_is_element(out->dtype)) return ROPE_INVALID_ARGUMENT;
  if (!designs_in_mask(claims->out_dtypes[in->dtype], out->dtype)) return ROPE_UNSUPPORTED;
  if (designs_rows(in) == 0) return ROPE_OK;
  if (in->data == NULL || out->data == NULL) return ROPE_INVALID_ARGUMENT;
  if ((status = designs_accepts_strides(in, claims)) != ROPE_OK) return status;
  if ((status = designs_accepts_strides(out, claims)) != ROPE_OK) return status;
  *in_place = in->data == out->data;
  if (!*in_place) return ROPE_OK;
  if (!designs_has(claims, ROPE_FEATURE_IN_PLACE)) return ROPE_UNSUPPORTED;
  if (in->dtype != out->dtype) return ROPE_INVALID_ARGUMENT;
  for (axis = 0; axis < 4; ++axis) {
    if (in->shape[axis] > 1 && in->strides[axis] != out->strides[axis]) return ROPE_INVALID_ARGUMENT;
  }
  return ROPE_OK;
}

static inline int32_t designs_accepts_positions(const rope_call* call, const rope_capabilities* claims) {
  const rope_positions* positions = &call->positions;
  const int64_t rows = call->angle_source == ROPE_TABLES ? call->table.rows : INT64_MAX;
  const int64_t tokens = call->q.shape[1];
  const int64_t batches = positions->batch_stride == 0 ? 1 : call->q.shape[0];
  int64_t axis, batch, token;
  int32_t pair;
  if (positions->data == NULL) {
    if (positions->offset < 0) return ROPE_INVALID_ARGUMENT;
    if (positions->offset != 0 && !designs_has(claims, ROPE_FEATURE_OFFSET)) return ROPE_UNSUPPORTED;
    if (positions->offset + tokens > rows) return ROPE_INVALID_ARGUMENT;
    return positions->offset + tokens - 1 > claims->max_position ? ROPE_UNSUPPORTED : ROPE_OK;
  }
  if (!designs_has(claims, ROPE_FEATURE_POSITIONS)) return ROPE_UNSUPPORTED;
  if (positions->dtype != ROPE_I32 && positions->dtype != ROPE_I64) return ROPE_INVALID_ARGUMENT;
  if (!designs_in_mask(claims->position_dtypes, positions->dtype)) return ROPE_UNSUPPORTED;
  if (positions->axes < 1) return ROPE_INVALID_ARGUMENT;
  if (positions->axes > 1 && !designs_has(claims, ROPE_FEATURE_AXES)) return ROPE_UNSUPPORTED;
  for (pair = 0; call->axis != NULL && pair < call->rotary_dim / 2; ++pair) {
    if (call->axis[pair] < 0 || call->axis[pair] >= positions->axes) return ROPE_INVALID_ARGUMENT;
  }
  for (axis = 0; axis < positions->axes; ++axis) {
    for (batch = 0; batch < batches; ++batch) {
      for (token = 0; token < tokens; ++token) {
        const int64_t position = designs_position(positions, axis, batch, token);
        if (position < 0 || position >= rows) return ROPE_INVALID_ARGUMENT;
        if (position > claims->max_position) return ROPE_UNSUPPORTED;
      }
    }
  }
  return ROPE_OK;
}

static inline int32_t designs_accepts_angles(const rope_call* call, const rope_capabilities* claims) {
  const rope_scaling* scaling = &call->scaling;
  if (call->angle_source < ROPE_TABLES || call->angle_source > ROPE_COMPUTED) return ROPE_INVALID_ARGUMENT;
  if (!designs_in_mask(claims->angle_sources, call->angle_source)) return ROPE_UNSUPPORTED;
  if (call->angle_source == ROPE_TABLES) {
    const rope_table* table = &call->table;
    if (table->cos == NULL || table->sin == NULL || table->rows < 0) return ROPE_INVALID_ARGUMENT;
    if (!designs_is_element(table->dtype)) return ROPE_INVALID_ARGUMENT;
    if (!designs_in_mask(claims->table_dtypes, table->dtype)) return ROPE_UNSUPPORTED;
    if (table->width == call->rotary_dim / 2) return claims->half_tables ? ROPE_OK : ROPE_UNSUPPORTED;
    if (table->width == call->rotary_dim) return claims->full_tables ? ROPE_OK : ROPE_UNSUPPORTED;
    return ROPE_INVALID_ARGUMENT;
  }
  if (call->angle_source == ROPE_FREQUENCIES) {
    if (call->theta == NULL) return ROPE_INVALID_ARGUMENT;
    if (call->theta_dtype != ROPE_F32 && call->theta_dtype != ROPE_F64) return ROPE_INVALID_ARGUMENT;
    return designs_in_mask(claims->theta_dtypes, call->theta_dtype) ? ROPE_OK : ROPE_UNSUPPORTED;
  }
  if (scaling->kind < ROPE_SCALING_NONE || scaling->kind > ROPE_SCALING_CONSTANT) return ROPE_INVALID_ARGUMENT;
  if (!designs_in_mask(claims->scalings, scaling->kind)) return ROPE_UNSUPPORTED;
  if (scaling->kind != ROPE_SCALING_PIXEL && scaling->kind != ROPE_SCALING_CONSTANT && !(call->base > 0)) {
    return ROPE_INVALID_ARGUMENT;
  }
  if (scaling->kind == ROPE_SCALING_LONGROPE && (scaling->short_factor == NULL || scaling->long_factor == NULL)) {
    return ROPE_INVALID_ARGUMENT;
  }
  return ROPE_OK;
}

static inline int32_t designs_accepts_dims(const rope_call* call, const rope_capabilities* claims) {
  const int64_t head_dim = call->q.shape[3];
  int32_t i;
  if (call->rotary_dim < 2 || call->rotary_dim % 2 != 0 || call->rotary_dim > head_dim) return ROPE_INVALID_ARGUMENT;
  if (call->rotary_dim < head_dim && !designs_has(claims, ROPE_FEATURE_PARTIAL)) return ROPE_UNSUPPORTED;
  if (head_dim % 2 != 0) return ROPE_UNSUPPORTED;
  if (claims->head_dims == NULL) return ROPE_OK;
  for (i = 0; i < claims->head_dim_count; ++i) {
    if (claims->head_dims[i] == head_dim) return ROPE_OK;
  }
  return ROPE_UNSUPPORTED;
}

static inline int32_t designs_accepts_tensors(const rope_call* call, const rope_capabilities* claims) {
  const rope_tensor* q = &call->q;
  const rope_tensor* k = &call->k;
  int32_t status;
  int q_in_place, k_in_place;
  if ((status = designs_accepts_tensor(q, &call->q_out, claims, &q_in_place)) != ROPE_OK) return status;
  if (k->data == NULL) return designs_rows(q) == 0 ? DESIGNS_NOTHING_TO_DO : (int32_t)ROPE_OK;
  if (!designs_has(claims, ROPE_FEATURE_KEY)) return ROPE_UNSUPPORTED;
  if (k->dtype != q->dtype || call->k_out.dtype != call->q_out.dtype) return ROPE_INVALID_ARGUMENT;
  if (k->shape[0] != q->shape[0] || k->shape[1] != q->shape[1] || k->shape[3] != q->shape[3]) {
    return ROPE_INVALID_ARGUMENT;
  }
  if (k->shape[2] != q->shape[2] && !designs_has(claims, ROPE_FEATURE_GROUPED_HEADS)) return ROPE_UNSUPPORTED;
  if ((status = designs_accepts_tensor(k, &call->k_out, claims, &k_in_place)) != ROPE_OK) return status;
  if (q_in_place >= 0 && k_in_place >= 0 && q_in_place != k_in_place) return ROPE_INVALID_ARGUMENT;
  return designs_rows(q) + designs_rows(k) == 0 ? DESIGNS_NOTHING_TO_DO : (int32_t)ROPE_OK;
}

static inline int32_t designs_accepts(const rope_call* call, const rope_capabilities* claims) {
  int32_t status;
  if (call == NULL || call->struct_size < sizeof(rope_call) || call->abi != ROPE_KERNEL_ABI) {
    return ROPE_INVALID_ARGUMENT;
  }
  if (call->device != claims->device) return ROPE_UNSUPPORTED;
  if ((status = designs_accepts_dims(call, claims)) != ROPE_OK) return status;
  if (call->pairing != ROPE_HALF_SPLIT && call->pairing != ROPE_INTERLEAVED) return ROPE_INVALID_ARGUMENT;
  if (!designs_in_mask(claims->pairings, call->pairing)) return ROPE_UNSUPPORTED;
  if (call->direction != ROPE_FORWARD && call->direction != ROPE_BACKWARD) return ROPE_INVALID_ARGUMENT;
  if (call->direction == ROPE_BACKWARD && !designs_has(claims, ROPE_FEATURE_BACKWARD)) return ROPE_UNSUPPORTED;
  if (call->attention_factor != 1.0 && !designs_has(claims, ROPE_FEATURE_ATTENTION_FACTOR)) return ROPE_UNSUPPORTED;
  if ((status = designs_accepts_angles(call, claims)) != ROPE_OK) return status;
  if ((status = designs_accepts_tensors(call, claims)) != ROPE_OK) return status;
  return designs_accepts_positions(call, claims);
}

#endif
