/* Angles first, then the rotation: every call computes its frequencies and a tile of cos and sin in scratch memory,
 * then runs over the heads. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/accepts.h"
#include "tests/kernels/designs/c_kernels.h"

enum { TILE = 256 };

/* What is wrong, and where the scratch memory is. */
enum knob { LENGTH_OF_POSITIONS = 1 << 4, GROWING_BUFFER = 1 << 8 };

typedef union {
  float f;
  uint32_t u;
} word;

static inline float from_bf16(uint16_t h) {
  word w;
  w.u = (uint32_t)h << 16;
  return w.f;
}
static inline uint16_t to_bf16(float f) {
  word w;
  w.f = f;
  if (f != f) return (uint16_t)((w.u >> 16) | 0x40u);
  return (uint16_t)((w.u + 0x7fffu + ((w.u >> 16) & 1u)) >> 16);
}

static double length_seen(const rope_call* c) {
  int64_t most = 0;
  int64_t b;
  int64_t s;
  for (b = 0; b < c->q.shape[0]; ++b) {
    for (s = 0; s < c->q.shape[1]; ++s) {
      const int64_t m = designs_position(&c->positions, 0, b, s);
      if (m > most) most = m;
    }
  }
  return (double)(most + 1);
}

static double llama3(double theta, const rope_scaling* z) {
  const double lo = z->low_freq_factor;
  const double hi = z->high_freq_factor;
  const double wave = 6.283185307179586476925 / theta;
  const double longest = z->original_max_position / lo;
  const double shortest = z->original_max_position / hi;
  double keep;
  if (wave < shortest) return theta;
  if (wave > longest) return theta / z->factor;
  keep = (z->original_max_position / wave - lo) / (hi - lo);
  return (1.0 - keep) * theta / z->factor + keep * theta;
}

static void frequencies(const rope_call* c, double* theta, int knobs) {
  const rope_scaling* z = &c->scaling;
  const int r = c->rotary_dim;
  double base = c->base;
  int p;
  if (z->kind == ROPE_SCALING_NTK) {
    if (r > 2) base *= pow(z->factor, (double)r / (r - 2));
  } else if (z->kind == ROPE_SCALING_DYNAMIC) {
    double length = knobs & LENGTH_OF_POSITIONS ? length_seen(c) : (double)c->sequence_length;
    if (length < z->original_max_position) length = z->original_max_position;
    if (r > 2) base *= pow(z->factor * length / z->original_max_position - (z->factor - 1.0), (double)r / (r - 2));
  }
  for (p = 0; p < r / 2; ++p) {
    theta[p] = pow(base, -2.0 * p / r);
    if (z->kind == ROPE_SCALING_LLAMA3) theta[p] = llama3(theta[p], z);
  }
}

static void turn_head(const rope_call* c, const void* from, void* to, const float* cs) {
  const int half = c->rotary_dim / 2;
  const int head_dim = (int)c->q.shape[3];
  const int neighbours = c->pairing == ROPE_INTERLEAVED;
  int p;
  for (p = 0; p < half; ++p) {
    const int i = neighbours ? 2 * p : p;
    const int j = neighbours ? 2 * p + 1 : p + half;
    const float co = cs[2 * p];
    const float si = cs[2 * p + 1];
    if (c->q.dtype == ROPE_F32) {
      const float a = ((const float*)from)[i];
      const float b = ((const float*)from)[j];
      ((float*)to)[i] = a * co - b * si;
      ((float*)to)[j] = a * si + b * co;
    } else {
      const float a = from_bf16(((const uint16_t*)from)[i]);
      const float b = from_bf16(((const uint16_t*)from)[j]);
      ((uint16_t*)to)[i] = to_bf16(a * co - b * si);
      ((uint16_t*)to)[j] = to_bf16(a * si + b * co);
    }
  }
  if (from != to && head_dim > 2 * half) {
    const size_t w = c->q.dtype == ROPE_F32 ? 4 : 2;
    memcpy((char*)to + (size_t)(2 * half) * w, (const char*)from + (size_t)(2 * half) * w,
           (size_t)(head_dim - 2 * half) * w);
  }
}

static void turn_tokens(const rope_call* c, const rope_tensor* x, const rope_tensor* y, int64_t b, int64_t s0,
                        int64_t s1, const float* tile, int64_t row) {
  const int64_t w = x->dtype == ROPE_F32 ? 4 : 2;
  int64_t s;
  int64_t h;
  for (s = s0; s < s1; ++s) {
    for (h = 0; h < x->shape[2]; ++h) {
      turn_head(c, (const char*)x->data + w * (b * x->strides[0] + s * x->strides[1] + h * x->strides[2]),
                (char*)y->data + w * (b * y->strides[0] + s * y->strides[1] + h * y->strides[2]),
                tile + (s - s0) * row);
    }
  }
}

static float* thread_buffer(size_t floats) {
  static _Thread_local float* held;
  static _Thread_local size_t size;
  if (floats > size) {
    float* more = (float*)realloc(held, floats * sizeof(float));
    if (!more) return NULL;
    held = more;
    size = floats;
  }
  return held;
}

static int32_t rotate(const rope_call* c, const rope_capabilities* claims, int knobs) {
  const int32_t status = designs_accepts(c, claims);
  int64_t b;
  int64_t s;
  int64_t s0;
  int64_t p;
  int64_t half;
  int64_t row;
  double* theta;
  float* tile;
  if (status != ROPE_OK) return status == DESIGNS_NOTHING_TO_DO ? (int32_t)ROPE_OK : status;
  half = c->rotary_dim / 2;
  row = 2 * half;
  theta = (double*)malloc((size_t)half * sizeof(double));
  if (!theta) return ROPE_FAILED;
  frequencies(c, theta, knobs);
  if (knobs & GROWING_BUFFER) {
    tile = thread_buffer((size_t)(TILE * row));
  } else {
    tile = (float*)malloc((size_t)(TILE * row) * sizeof(float));
  }
  if (!tile) {
    free(theta);
    return ROPE_FAILED;
  }
  for (s0 = 0; s0 < c->q.shape[1]; s0 += TILE) {
    const int64_t s1 = s0 + TILE < c->q.shape[1] ? s0 + TILE : c->q.shape[1];
    for (b = 0; b < c->q.shape[0]; ++b) {
      if (b == 0 || (c->positions.data && c->positions.batch_stride != 0)) {
        for (s = s0; s < s1; ++s) {
          const double m = (double)designs_position(&c->positions, 0, b, s);
          for (p = 0; 2 * p < row; ++p) {
            tile[(s - s0) * row + 2 * p] = (float)(cos(m * theta[p]) * c->attention_factor);
            tile[(s - s0) * row + 2 * p + 1] = (float)(sin(m * theta[p]) * c->attention_factor);
          }
        }
      }
      turn_tokens(c, &c->q, &c->q_out, b, s0, s1, tile, row);
      if (c->k.data) turn_tokens(c, &c->k, &c->k_out, b, s0, s1, tile, row);
    }
  }
  if (!(knobs & GROWING_BUFFER)) free(tile);
  free(theta);
  return ROPE_OK;
}

#define ENGINE(id, knobs) \
  static int32_t apply_##id(const rope_call* call) { return rotate(call, &scratch_kernels[id].claims, knobs); }
ENGINE(0, 0)
ENGINE(1, GROWING_BUFFER)
ENGINE(2, LENGTH_OF_POSITIONS | GROWING_BUFFER)

#define FEATURES                                                                                                \
  (ROPE_BIT(ROPE_FEATURE_PARTIAL) | ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | \
   ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY) | ROPE_BIT(ROPE_FEATURE_GROUPED_HEADS) |        \
   ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR))
#define SPLIT ROPE_BIT(ROPE_HALF_SPLIT)
#define EITHER (ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED))
#define PLAIN ROPE_BIT(ROPE_SCALING_NONE)
#define LLAMA3 (PLAIN | ROPE_BIT(ROPE_SCALING_LLAMA3))
#define DYNAMIC (PLAIN | ROPE_BIT(ROPE_SCALING_DYNAMIC))
#define NTK (PLAIN | ROPE_BIT(ROPE_SCALING_NTK))
#define KERNEL(id, name, pairings, scalings)                                                                    \
  {                                                                                                             \
    sizeof(rope_kernel), ROPE_KERNEL_ABI, name, "angles into scratch memory, then heads", apply_##id, {         \
      {0, ROPE_BIT(ROPE_F32), 0, ROPE_BIT(ROPE_BF16)}, 0, 0, ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64), pairings, \
          ROPE_BIT(ROPE_COMPUTED), 0, 0, scalings, FEATURES, 0, (1 << 20) - 1, NULL, 0, ROPE_CPU, 0, 0, 0, 0, 0 \
    }                                                                                                           \
  }

const rope_kernel scratch_kernels[3] = {
    KERNEL(0, "scratch", SPLIT, LLAMA3),
    KERNEL(1, "scratch-growing", EITHER, NTK | DYNAMIC),
    KERNEL(2, "scratch/dynamic-length-of-positions", EITHER, DYNAMIC),
};
