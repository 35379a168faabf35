/* No libm in the inner loop: the reduction by multiples of pi/2 and the polynomials are here. Theta comes from powl,
 * once per call. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/accepts.h"
#include "tests/kernels/designs/c_kernels.h"

typedef void (*sincos_fn)(int64_t pos, double theta, double* c, double* s);

/* On [-pi/4, pi/4]. */
static double poly_sin(double x) {
  const double z = x * x;
  double r = -1.0 / 1307674368000.0;
  r = r * z + 1.0 / 6227020800.0;
  r = r * z - 1.0 / 39916800.0;
  r = r * z + 1.0 / 362880.0;
  r = r * z - 1.0 / 5040.0;
  r = r * z + 1.0 / 120.0;
  r = r * z - 1.0 / 6.0;
  return x + x * z * r;
}
static double poly_cos(double x) {
  const double z = x * x;
  double r = 1.0 / 20922789888000.0;
  r = r * z - 1.0 / 87178291200.0;
  r = r * z + 1.0 / 479001600.0;
  r = r * z - 1.0 / 3628800.0;
  r = r * z + 1.0 / 40320.0;
  r = r * z - 1.0 / 720.0;
  r = r * z + 1.0 / 24.0;
  return 1.0 - 0.5 * z + z * z * r;
}
static void by_quadrant(long long n, double x, double* c, double* s) {
  const double a = poly_cos(x);
  const double b = poly_sin(x);
  switch (n & 3) {
    case 0: *c = a, *s = b; break;
    case 1: *c = -b, *s = a; break;
    case 2: *c = -a, *s = -b; break;
    default: *c = b, *s = -a; break;
  }
}

/* pi/2 in three parts of 33 bits and less: n * part is exact for n below 2^20 */
#define PIO2_1 1.57079632673412561417e+00
#define PIO2_2 6.07710050630396597660e-11
#define PIO2_3 2.02226624871116645580e-21
#define TWO_OVER_PI 6.36619772367581382433e-01

static void cody_waite(int64_t pos, double theta, double* c, double* s) {
  const double phi = (double)pos * theta;
  const double n = floor(phi * TWO_OVER_PI + 0.5);
  by_quadrant((long long)n, ((phi - n * PIO2_1) - n * PIO2_2) - n * PIO2_3, c, s);
}

static void half_angle(int64_t pos, double theta, double* c, double* s) {
  const double t = tan(0.5 * ((double)pos * theta));
  const double q = 1.0 / (1.0 + t * t);
  *c = (1.0 - t * t) * q;
  *s = 2.0 * t * q;
}

enum mode { PLAIN, LONG_DOUBLE, FLOAT_POSITION, RECURRENT };

static float bf_to(uint16_t h) {
  union {
    uint32_t u;
    float f;
  } w;
  w.u = (uint32_t)h << 16;
  return w.f;
}
static uint16_t to_bf(float f) {
  union {
    float f;
    uint32_t u;
  } w;
  w.f = f;
  if (f != f) return (uint16_t)((w.u >> 16) | 0x40u);
  return (uint16_t)((w.u + 0x7fffu + ((w.u >> 16) & 1u)) >> 16);
}

static void heads(const rope_call* c, const rope_tensor* in, const rope_tensor* out, int64_t b, int64_t s,
                  const double* cs) {
  const int64_t half = c->rotary_dim / 2;
  const int64_t head_dim = in->shape[3];
  static const size_t widths[4] = {8, 4, 2, 2};
  const size_t w = widths[in->dtype];
  int64_t h;
  int64_t p;
  for (h = 0; h < in->shape[2]; ++h) {
    const char* x = (const char*)in->data + (int64_t)w * (b * in->strides[0] + s * in->strides[1] + h * in->strides[2]);
    char* y = (char*)out->data + (int64_t)w * (b * out->strides[0] + s * out->strides[1] + h * out->strides[2]);
    for (p = 0; p < half; ++p) {
      const int64_t i = c->pairing == ROPE_INTERLEAVED ? 2 * p : p;
      const int64_t j = c->pairing == ROPE_INTERLEAVED ? 2 * p + 1 : p + half;
      if (in->dtype == ROPE_F64) {
        const double a = ((const double*)x)[i];
        const double d = ((const double*)x)[j];
        ((double*)y)[i] = a * cs[2 * p] - d * cs[2 * p + 1];
        ((double*)y)[j] = a * cs[2 * p + 1] + d * cs[2 * p];
      } else {
        const float co = (float)cs[2 * p];
        const float si = (float)cs[2 * p + 1];
        if (in->dtype == ROPE_F32) {
          const float a = ((const float*)x)[i];
          const float d = ((const float*)x)[j];
          ((float*)y)[i] = a * co - d * si;
          ((float*)y)[j] = a * si + d * co;
        } else if (in->dtype == ROPE_F16) {
          const float a = (float)((const _Float16*)x)[i];
          const float d = (float)((const _Float16*)x)[j];
          ((_Float16*)y)[i] = (_Float16)(a * co - d * si);
          ((_Float16*)y)[j] = (_Float16)(a * si + d * co);
        } else {
          const float a = bf_to(((const uint16_t*)x)[i]);
          const float d = bf_to(((const uint16_t*)x)[j]);
          ((uint16_t*)y)[i] = to_bf(a * co - d * si);
          ((uint16_t*)y)[j] = to_bf(a * si + d * co);
        }
      }
    }
    if (x != y && head_dim > 2 * half) {
      memcpy(y + w * (size_t)(2 * half), x + w * (size_t)(2 * half), w * (size_t)(head_dim - 2 * half));
    }
  }
}

static int32_t rotate(const rope_call* c, const rope_capabilities* claims, enum mode mode, sincos_fn sincos_of) {
  const int32_t status = designs_accepts(c, claims);
  int64_t half;
  int64_t p;
  int64_t b;
  int64_t s;
  double* theta;
  double* cs;
  long double* wide;
  float* now;
  float* step;
  if (status != ROPE_OK) return status == DESIGNS_NOTHING_TO_DO ? (int32_t)ROPE_OK : status;
  half = c->rotary_dim / 2;
  theta = (double*)malloc((size_t)half * sizeof(double));
  cs = (double*)malloc((size_t)half * 2 * sizeof(double));
  wide = (long double*)malloc((size_t)half * sizeof(long double));
  now = (float*)malloc((size_t)half * 4 * sizeof(float));
  if (!theta || !cs || !wide || !now) {
    free(theta);
    free(cs);
    free(wide);
    free(now);
    return ROPE_FAILED;
  }
  step = now + 2 * half;
  for (p = 0; p < half; ++p) {
    long double t;
    if (c->angle_source == ROPE_FREQUENCIES) {
      t = c->theta_dtype == ROPE_F64 ? ((const double*)c->theta)[p] : ((const float*)c->theta)[p];
    } else {
      t = powl((long double)c->base, -2.0L * p / c->rotary_dim);
      if (c->scaling.kind == ROPE_SCALING_LINEAR) t /= c->scaling.factor;
    }
    wide[p] = t;
    theta[p] = (double)t;
    step[2 * p] = (float)cosl(t);
    step[2 * p + 1] = (float)sinl(t);
  }
  for (b = 0; b < c->q.shape[0]; ++b) {
    for (s = 0; s < c->q.shape[1]; ++s) {
      const int64_t m = designs_position(&c->positions, 0, b, s);
      for (p = 0; p < half; ++p) {
        if (mode == LONG_DOUBLE || mode == FLOAT_POSITION) {
          const long double at = mode == FLOAT_POSITION ? (long double)(float)m : (long double)m;
          cs[2 * p] = (double)cosl(at * wide[p]);
          cs[2 * p + 1] = (double)sinl(at * wide[p]);
        } else if (mode == RECURRENT && c->positions.data == NULL && s > 0) {
          const float co = now[2 * p];
          const float si = now[2 * p + 1];
          cs[2 * p] = now[2 * p] = co * step[2 * p] - si * step[2 * p + 1];
          cs[2 * p + 1] = now[2 * p + 1] = si * step[2 * p] + co * step[2 * p + 1];
        } else {
          sincos_of(m, theta[p], &cs[2 * p], &cs[2 * p + 1]);
          now[2 * p] = (float)cs[2 * p];
          now[2 * p + 1] = (float)cs[2 * p + 1];
        }
      }
      heads(c, &c->q, &c->q_out, b, s, cs);
      if (c->k.data) heads(c, &c->k, &c->k_out, b, s, cs);
    }
  }
  free(theta);
  free(cs);
  free(wide);
  free(now);
  return ROPE_OK;
}

#define ENGINE(id, mode, sincos_of)                                     \
  static int32_t apply_##id(const rope_call* call) {                    \
    return rotate(call, &own_sine_kernels[id].claims, mode, sincos_of); \
  }
ENGINE(0, PLAIN, cody_waite)
ENGINE(1, LONG_DOUBLE, cody_waite)
ENGINE(2, PLAIN, half_angle)
ENGINE(3, RECURRENT, cody_waite)
ENGINE(4, FLOAT_POSITION, cody_waite)

#define SPLIT ROPE_BIT(ROPE_HALF_SPLIT)
#define EITHER (ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED))
#define FEATURES                                                                                                \
  (ROPE_BIT(ROPE_FEATURE_PARTIAL) | ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | \
   ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY) |               \
   ROPE_BIT(ROPE_FEATURE_GROUPED_HEADS))
#define F64 ROPE_BIT(ROPE_F64)
#define F32 ROPE_BIT(ROPE_F32)
#define F16 ROPE_BIT(ROPE_F16)
#define BF16 ROPE_BIT(ROPE_BF16)
#define KERNEL_FOR(id, name, f64, f32, f16, bf16, theta, sources, pairings, max_position)                            \
  {                                                                                                                  \
    sizeof(rope_kernel), ROPE_KERNEL_ABI, name, "a sine and cosine of its own", apply_##id, {                        \
      {f64, f32, f16, bf16}, 0, theta, ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64), pairings, sources, 0, 0,             \
          ROPE_BIT(ROPE_SCALING_NONE) | ROPE_BIT(ROPE_SCALING_LINEAR), FEATURES, 0, max_position, NULL, 0, ROPE_CPU, \
          0, 0, 0, 0, 0                                                                                              \
    }                                                                                                                \
  }
#define KERNEL(id, name, f64, f32, f16, bf16, pairings, max_position) \
  KERNEL_FOR(id, name, f64, f32, f16, bf16, 0, ROPE_BIT(ROPE_COMPUTED), pairings, max_position)

const rope_kernel own_sine_kernels[5] = {
    KERNEL(0, "own_sine", 0, F32, 0, BF16, EITHER, (1 << 20) - 1),
    KERNEL(1, "own_sine-f64", F64, 0, 0, 0, EITHER, (1 << 20) - 1),
    KERNEL_FOR(2, "own_sine-half-angle", 0, F32, F16, 0, F32 | F64,
               ROPE_BIT(ROPE_COMPUTED) | ROPE_BIT(ROPE_FREQUENCIES), SPLIT, 131071),
    KERNEL(3, "own_sine/recurrence", 0, F32, 0, 0, SPLIT, 131071),
    KERNEL(4, "own_sine/f64-position-f32", F64, 0, 0, 0, EITHER, 1 << 26),
};
