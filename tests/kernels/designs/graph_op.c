/* One operator of a graph of tensors, on one tensor: sizes in ne, strides in bytes in nb and ob. Rows are divided into
 * shares; a small cache holds the angles of a row as cos, sin, cos, sin. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/accepts.h"
#include "tests/kernels/designs/c_kernels.h"

#define PI 3.14159265358979323846
#define SLOTS 16
#define SLOT_DIMS 256

/* In the order of graph_op_kernels. */
enum bug {
  NONE,
  NONE_F16,
  F16_REST_LEFT,
  KEPT_ANGLES_WITHOUT_BASE,
};

typedef struct operation {
  const rope_call* call;
  enum bug bug;
  int64_t ne[4]; /* head_dim, heads, tokens, batches */
  int64_t nb[4]; /* bytes, of the source */
  int64_t ob[4]; /* bytes, of the destination */
  int32_t n_dims;
  int half_split;
  int yarn;
  double theta_scale;
  double freq_scale;
  double corr_lo;
  double corr_hi;
  double factor_of_angles;
  double sin_sign;
  const double* freq_factors;
  float* cache;
} operation;

typedef struct kept_row {
  int used;
  int n_dims;
  int kind;
  int64_t pos;
  double factor_of_angles;
  double scaling_factor;
  float cs[SLOT_DIMS];
} kept_row;
static _Thread_local kept_row kept_rows[SLOTS];

static double corr_dim(int n_dims, double original_length, double beta, double base) {
  return n_dims * log(original_length / (beta * 2.0 * PI)) / (2.0 * log(base));
}

static void corr_dims(operation* op) {
  const rope_scaling* y = &op->call->scaling;
  double lo = corr_dim(op->n_dims, y->original_max_position, y->beta_fast, op->call->base);
  double hi = corr_dim(op->n_dims, y->original_max_position, y->beta_slow, op->call->base);
  const double top = y->yarn_clamp_pairs ? op->n_dims / 2 - 1 : op->n_dims - 1;
  if (y->yarn_truncate) {
    lo = floor(lo);
    hi = ceil(hi);
  }
  lo = lo < 0.0 ? 0.0 : lo;
  hi = hi > top ? top : hi;
  if (lo == hi) hi += 0.001;
  op->corr_lo = lo;
  op->corr_hi = hi;
}

static double ramp(const operation* op, int i0) {
  const double at = (double)(i0 / 2);
  double y = (at - op->corr_lo) / (op->corr_hi - op->corr_lo);
  y = y < 0.0 ? 0.0 : y > 1.0 ? 1.0 : y;
  return 1.0 - y;
}

static void cache_fill(const operation* op, int64_t pos, float* cs) {
  double theta = (double)pos;
  const double sign = op->sin_sign;
  for (int i0 = 0; i0 < op->n_dims; i0 += 2) {
    const double extrap = op->freq_factors ? theta / op->freq_factors[i0 / 2] : theta;
    double angle = op->freq_scale * extrap;
    if (op->yarn) {
      const double mix = ramp(op, i0);
      angle = angle * (1.0 - mix) + extrap * mix;
    }
    cs[i0] = (float)(cos(angle) * op->factor_of_angles);
    cs[i0 + 1] = (float)(sin(angle) * op->factor_of_angles * sign);
    theta *= op->theta_scale;
  }
}

static const float* cache_row(const operation* op, int64_t pos) {
  if (op->bug == KEPT_ANGLES_WITHOUT_BASE && op->n_dims <= SLOT_DIMS) {
    kept_row* slot = &kept_rows[pos & (SLOTS - 1)];
    if (!slot->used || slot->pos != pos || slot->n_dims != op->n_dims ||
        slot->factor_of_angles != op->factor_of_angles || slot->kind != op->call->scaling.kind ||
        slot->scaling_factor != op->call->scaling.factor || op->yarn) {
      slot->used = 1;
      slot->pos = pos;
      slot->n_dims = op->n_dims;
      slot->factor_of_angles = op->factor_of_angles;
      slot->kind = op->call->scaling.kind;
      slot->scaling_factor = op->call->scaling.factor;
      cache_fill(op, pos, slot->cs);
    }
    return slot->cs;
  }
  cache_fill(op, pos, op->cache);
  return op->cache;
}

static void row_f32(const operation* op, const float* cs, const float* src, float* dst) {
  const int64_t half = op->n_dims / 2;
  for (int64_t i0 = 0; i0 < op->n_dims; i0 += 2) {
    const int64_t a = op->half_split ? i0 / 2 : i0;
    const int64_t b = op->half_split ? i0 / 2 + half : i0 + 1;
    const float x0 = src[a];
    const float x1 = src[b];
    dst[a] = x0 * cs[i0] - x1 * cs[i0 + 1];
    dst[b] = x0 * cs[i0 + 1] + x1 * cs[i0];
  }
  if (dst != src && op->ne[0] > op->n_dims) {
    memcpy(dst + op->n_dims, src + op->n_dims, (size_t)(op->ne[0] - op->n_dims) * sizeof(float));
  }
}

static void row_f16(const operation* op, const float* cs, const _Float16* src, _Float16* dst) {
  const int64_t half = op->n_dims / 2;
  for (int64_t i0 = 0; i0 < op->n_dims; i0 += 2) {
    const int64_t a = op->half_split ? i0 / 2 : i0;
    const int64_t b = op->half_split ? i0 / 2 + half : i0 + 1;
    const float x0 = (float)src[a];
    const float x1 = (float)src[b];
    dst[a] = (_Float16)(x0 * cs[i0] - x1 * cs[i0 + 1]);
    dst[b] = (_Float16)(x0 * cs[i0 + 1] + x1 * cs[i0]);
  }
  if (op->bug == F16_REST_LEFT) return;
  if (dst != src && op->ne[0] > op->n_dims) {
    memcpy(dst + op->n_dims, src + op->n_dims, (size_t)(op->ne[0] - op->n_dims) * 2);
  }
}

static void compute(const operation* op, int ith, int nth) {
  const int64_t nr = op->ne[1] * op->ne[2] * op->ne[3];
  const int64_t dr = (nr + nth - 1) / nth;
  const int64_t ir0 = dr * ith;
  const int64_t ir1 = ir0 + dr < nr ? ir0 + dr : nr;
  int64_t ir = 0;
  for (int64_t i3 = 0; i3 < op->ne[3]; ++i3) {
    for (int64_t i2 = 0; i2 < op->ne[2]; ++i2) {
      if (ir + op->ne[1] <= ir0 || ir >= ir1) {
        ir += op->ne[1];
        continue;
      }
      const float* cs = cache_row(op, designs_position(&op->call->positions, 0, i3, i2));
      for (int64_t i1 = 0; i1 < op->ne[1]; ++i1, ++ir) {
        if (ir < ir0 || ir >= ir1) continue;
        const char* src = (const char*)op->call->q.data + i3 * op->nb[3] + i2 * op->nb[2] + i1 * op->nb[1];
        const int64_t ob1 = op->ob[1];
        char* dst = (char*)op->call->q_out.data + i3 * op->ob[3] + i2 * op->ob[2] + i1 * ob1;
        if (op->call->q.dtype == ROPE_F32) {
          row_f32(op, cs, (const float*)src, (float*)dst);
        } else {
          row_f16(op, cs, (const _Float16*)src, (_Float16*)dst);
        }
      }
    }
  }
}

static int32_t forward(const rope_call* c, enum bug bug) {
  const int32_t status = designs_accepts(c, &graph_op_kernels[bug].claims);
  if (status != ROPE_OK) return status == DESIGNS_NOTHING_TO_DO ? (int32_t)ROPE_OK : status;
  operation op;
  memset(&op, 0, sizeof op);
  op.call = c;
  op.bug = bug;
  const int64_t ts = c->q.dtype == ROPE_F32 ? 4 : 2;
  for (int i = 0; i < 4; ++i) {
    op.ne[i] = c->q.shape[3 - i];
    op.nb[i] = c->q.strides[3 - i] * ts;
    op.ob[i] = c->q_out.strides[3 - i] * ts;
  }
  op.n_dims = c->rotary_dim;
  op.half_split = c->pairing == ROPE_HALF_SPLIT;
  op.sin_sign = c->direction == ROPE_BACKWARD ? -1.0 : 1.0;
  op.factor_of_angles = c->attention_factor;
  op.theta_scale = pow(c->base, -2.0 / op.n_dims);
  op.freq_scale = 1.0;
  switch (c->scaling.kind) {
    case ROPE_SCALING_LINEAR: op.freq_scale = 1.0 / c->scaling.factor; break;
    case ROPE_SCALING_YARN:
      op.freq_scale = 1.0 / c->scaling.factor;
      op.yarn = 1;
      corr_dims(&op);
      break;
    case ROPE_SCALING_LONGROPE:
      op.freq_factors = (double)c->sequence_length > c->scaling.original_max_position ? c->scaling.long_factor
                                                                                      : c->scaling.short_factor;
      break;
    default: break;
  }
  op.cache = (float*)malloc((size_t)op.n_dims * sizeof(float));
  if (op.cache == NULL) return ROPE_FAILED;
  const int nth = op.ne[1] * op.ne[2] * op.ne[3] >= 64 ? 4 : 1;
  for (int ith = 0; ith < nth; ++ith) compute(&op, ith, nth);
  free(op.cache);
  return ROPE_OK;
}

#define ENGINE(bug) \
  static int32_t apply_##bug(const rope_call* call) { return forward(call, bug); }
ENGINE(NONE)
ENGINE(NONE_F16)
ENGINE(F16_REST_LEFT)
ENGINE(KEPT_ANGLES_WITHOUT_BASE)

#define USUAL                                                                                                   \
  (ROPE_BIT(ROPE_FEATURE_PARTIAL) | ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | \
   ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_STRIDED) | ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR))
#define WITH_BACKWARD (USUAL | ROPE_BIT(ROPE_FEATURE_BACKWARD))
#define LINEAR (ROPE_BIT(ROPE_SCALING_NONE) | ROPE_BIT(ROPE_SCALING_LINEAR))
#define YARN (LINEAR | ROPE_BIT(ROPE_SCALING_YARN))
#define LONGROPE (LINEAR | ROPE_BIT(ROPE_SCALING_LONGROPE))
#define SPLIT ROPE_BIT(ROPE_HALF_SPLIT)
#define EITHER (ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED))
#define F32 ROPE_BIT(ROPE_F32)
#define F16 ROPE_BIT(ROPE_F16)
#define KERNEL(bug, name, f32, f16, scalings, features, pairings)                                                 \
  {                                                                                                               \
    sizeof(rope_kernel), ROPE_KERNEL_ABI, name, "one operator of a graph", apply_##bug, {                         \
      {0, f32, f16, 0}, 0, 0, ROPE_BIT(ROPE_I32), pairings, ROPE_BIT(ROPE_COMPUTED), 0, 0, scalings, features, 0, \
          (int64_t)1 << 20, NULL, 0, ROPE_CPU, 0, 0, 0, 0, 0                                                      \
    }                                                                                                             \
  }

const rope_kernel graph_op_kernels[4] = {
    KERNEL(NONE, "graph_op", F32, 0, YARN, USUAL, EITHER),
    KERNEL(NONE_F16, "graph_op-f16", 0, F16, LONGROPE, WITH_BACKWARD, EITHER),
    KERNEL(F16_REST_LEFT, "graph_op/f16-rest-left", F32, F16, LINEAR, USUAL, SPLIT),
    KERNEL(KEPT_ANGLES_WITHOUT_BASE, "graph_op/kept-angles-without-base", F32, 0, LINEAR, USUAL, EITHER),
};
