// Blocks of eight lanes with the compiler's vectors; a tail handles the rest of a head. Half-split rows are loaded
// directly, interleaved ones are shuffled.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

#pragma GCC diagnostic ignored "-Wpsabi"  // the vectors never cross a call that is not inlined

namespace rope::designs::engines {
namespace {

using Floats = float __attribute__((vector_size(32)));
#define ALWAYS_INLINE inline __attribute__((always_inline))

ALWAYS_INLINE Floats load8(const float* p) {
  Floats v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
ALWAYS_INLINE Floats load_some(const float* p, std::int64_t n) {
  Floats v = {0, 0, 0, 0, 0, 0, 0, 0};
  std::memcpy(&v, p, static_cast<std::size_t>(n) * sizeof *p);
  return v;
}
ALWAYS_INLINE void store8(float* p, Floats v) { std::memcpy(p, &v, sizeof v); }
ALWAYS_INLINE void store_some(float* p, Floats v, std::int64_t n) {
  std::memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float));
}

ALWAYS_INLINE Bfloat16 cut_off(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t quiet = value != value ? 0x40u : 0u;
  return {static_cast<std::uint16_t>(bits >> 16 | quiet)};
}
ALWAYS_INLINE Floats load8(const Bfloat16* p) {
  Floats v;
  for (int i = 0; i < 8; ++i) v[i] = widen(p[i]);
  return v;
}
ALWAYS_INLINE void store8(Bfloat16* p, Floats v) {
  for (int i = 0; i < 8; ++i) p[i] = narrow<Bfloat16>(v[i]);
}

enum class Bug {
  none,
  none_interleaved,
  overlap_in_place,
  backward_not_transposed,
};

extern const rope_kernel kernels[];  // in the order of Bug

// The rows of the tables at a token's position, for the first and the second features of its pairs.
struct Rows {
  const float* c0;
  const float* s0;
  const float* c1;
  const float* s1;
  std::int64_t step;  // from pair to pair
};

template <Bug bug>
ALWAYS_INLINE Rows rows_at(const rope_call& c, std::int64_t pos) {
  const float* cos = static_cast<const float*>(c.table.cos) + pos * c.table.row_stride;
  const float* sin = static_cast<const float*>(c.table.sin) + pos * c.table.row_stride;
  const std::int64_t half = c.rotary_dim / 2;
  const bool full = c.table.width == c.rotary_dim;
  if (!full) return {cos, sin, cos, sin, 1};
  if (c.pairing == ROPE_HALF_SPLIT) return {cos, sin, cos + half, sin + half, 1};
  return {cos, sin, cos + 1, sin + 1, 2};
}

// One head, halves apart. `u` multiplies the second feature in the first's result, `w` the first in the second's.
template <Bug bug>
ALWAYS_INLINE void head_split(const float* x, float* y, const Rows& t, std::int64_t half, float factor, bool backward) {
  const float* u = backward && bug != Bug::backward_not_transposed ? t.s1 : t.s0;
  const float* w = backward && bug != Bug::backward_not_transposed ? t.s0 : t.s1;
  const float g = backward ? -1.0f : 1.0f;
  std::int64_t p = 0;
  for (; p + 8 <= half; p += 8) {
    const Floats a = load8(x + p);
    const Floats b = load8(x + half + p);
    store8(y + p, (a * load8(t.c0 + p) - b * (load8(u + p) * g)) * factor);
    store8(y + half + p, (b * load8(t.c1 + p) + a * (load8(w + p) * g)) * factor);
  }
  const std::int64_t left = half - p;
  if (left == 0) return;
  const Floats a = load_some(x + p, left);
  const Floats b = load_some(x + half + p, left);
  const std::int64_t loaded = left;
  const Floats c0 = load_some(t.c0 + p, loaded);
  const Floats c1 = load_some(t.c1 + p, loaded);
  const Floats s0 = load_some(u + p, loaded);
  const Floats s1 = load_some(w + p, loaded);
  Floats first = a * c0 - b * (s0 * g);
  Floats second = b * c1 + a * (s1 * g);
  first *= factor;
  second *= factor;
  store_some(y + p, first, left);
  store_some(y + half + p, second, left);
}

ALWAYS_INLINE Floats evens(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
}
ALWAYS_INLINE Floats odds(Floats low, Floats high) {
  return __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

template <Bug bug, class T>
ALWAYS_INLINE void block8(const T* x, T* y, const Rows& t, std::int64_t p, Floats factor) {
  const Floats lo = load8(x + 2 * p);
  const Floats hi = load8(x + 2 * p + 8);
  const Floats a = evens(lo, hi);
  const Floats b = odds(lo, hi);
  Floats c0;
  Floats s0;
  Floats c1;
  Floats s1;
  if (t.step == 1) {
    c0 = c1 = load8(t.c0 + p);
    s0 = s1 = load8(t.s0 + p);
  } else {
    const Floats cl = load8(t.c0 + 2 * p);
    const Floats sl = load8(t.s0 + 2 * p);
    const Floats ch = load_some(t.c0 + 2 * p + 8, 8);
    const Floats sh = load_some(t.s0 + 2 * p + 8, 8);
    c0 = evens(cl, ch);
    s0 = evens(sl, sh);
    c1 = odds(cl, ch);
    s1 = odds(sl, sh);
  }
  const Floats first = (a * c0 - b * s0) * factor;
  const Floats second = (b * c1 + a * s1) * factor;
  store8(y + 2 * p, __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11));
  store8(y + 2 * p + 8, __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15));
}
ALWAYS_INLINE void put(float* y, float v, bool) { *y = v; }
ALWAYS_INLINE void put(Bfloat16* y, float v, bool cut) { *y = cut ? cut_off(v) : narrow<Bfloat16>(v); }

template <Bug bug, class T>
ALWAYS_INLINE void pair(const T* x, T* y, const Rows& t, std::int64_t p, float factor, bool cut) {
  const float a = widen(x[2 * p]);
  const float b = widen(x[2 * p + 1]);
  const std::int64_t j = p * t.step;
  const float first = (a * t.c0[j] - b * t.s0[j]) * factor;
  const float second = (b * t.c1[j] + a * t.s1[j]) * factor;
  put(y + 2 * p, first, cut);
  put(y + 2 * p + 1, second, cut);
}

template <Bug bug, class T>
ALWAYS_INLINE void head_alternating(const T* x, T* y, const Rows& t, std::int64_t half, float factor) {
  Floats wide;
  for (int i = 0; i < 8; ++i) wide[i] = factor;
  std::int64_t p = 0;
  for (; p + 8 <= half; p += 8) block8<bug>(x, y, t, p, wide);
  if (p == half) return;
  const bool overlap = bug == Bug::none_interleaved || bug == Bug::overlap_in_place;
  if (overlap && half >= 8 && (bug == Bug::overlap_in_place || x != y)) {
    block8<bug>(x, y, t, half - 8, wide);  // the last eight again, with the same values, as x is not y
    return;
  }
  for (; p < half; ++p) pair<bug>(x, y, t, p, factor, false);
}

template <Bug bug, class T>
ALWAYS_INLINE void head(const rope_call& c, const T* x, T* y, const Rows& t) {
  const std::int64_t half = c.rotary_dim / 2;
  const std::int64_t rest = c.q.shape[3] - c.rotary_dim;
  const float factor = static_cast<float>(c.attention_factor);
  if constexpr (sizeof(T) == 4 && (bug == Bug::none || bug == Bug::backward_not_transposed)) {
    head_split<bug>(x, y, t, half, factor, c.direction == ROPE_BACKWARD);
  } else {
    head_alternating<bug>(x, y, t, half, factor);
  }
  if (x != y && rest > 0) std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(rest) * sizeof(T));
}

template <Bug bug, class T>
void tensor(const rope_call& c, const rope_tensor& in, const rope_tensor& out) {
  const std::int64_t heads = in.shape[2];
  for (std::int64_t b = 0; b < in.shape[0]; ++b) {
    for (std::int64_t s = 0; s < in.shape[1]; ++s) {
      const Rows t = rows_at<bug>(c, position_of(c.positions, b, s));
      const T* x = static_cast<const T*>(in.data) + b * in.strides[0] + s * in.strides[1];
      T* y = static_cast<T*>(out.data) + b * out.strides[0] + s * out.strides[1];
      for (std::int64_t h = 0; h < heads; ++h) head<bug, T>(c, x + h * in.strides[2], y + h * out.strides[2], t);
    }
  }
}

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    const auto rotate = [call](const rope_tensor& in, const rope_tensor& out) {
      in.dtype == ROPE_F32 ? tensor<bug, float>(*call, in, out) : tensor<bug, Bfloat16>(*call, in, out);
    };
    rotate(call->q, call->q_out);
    if (call->k.data != nullptr) rotate(call->k, call->k_out);
    return ROPE_OK;
  });
}

constexpr std::uint32_t usual = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS,
                                     ROPE_FEATURE_OFFSET, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_KEY,
                                     ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_ATTENTION_FACTOR);
constexpr std::uint32_t unequal = usual | mask(ROPE_FEATURE_UNEQUAL_HALVES);
constexpr std::uint32_t unequal_backward = unequal | mask(ROPE_FEATURE_BACKWARD);

constexpr rope_capabilities half_split(bool full_tables, std::uint32_t features) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.table_dtypes = mask(ROPE_F32);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT);
  claims.angle_sources = mask(ROPE_TABLES);
  claims.half_tables = 1;
  claims.full_tables = full_tables;
  claims.features = features;
  claims.max_position = INT32_MAX;
  return claims;
}

constexpr rope_capabilities interleaved(bool full_tables, std::uint32_t features) {
  rope_capabilities claims = half_split(full_tables, features);
  claims.out_dtypes[ROPE_BF16] = mask(ROPE_BF16);
  claims.pairings = mask(ROPE_INTERLEAVED);
  return claims;
}

template <Bug bug>
constexpr rope_kernel vector_blocks(const char* name, const rope_capabilities& claims) {
  return kernel(name, "eight lanes of f32 tables, and a tail", apply<bug>, claims);
}

constexpr rope_kernel kernels[] = {
    vector_blocks<Bug::none>("vector_blocks", half_split(true, unequal_backward)),
    vector_blocks<Bug::none_interleaved>("vector_blocks-interleaved", interleaved(true, unequal)),
    vector_blocks<Bug::overlap_in_place>("vector_blocks/overlap-in-place", interleaved(false, usual)),
    vector_blocks<Bug::backward_not_transposed>("vector_blocks/backward-not-transposed",
                                                half_split(true, unequal_backward)),
};

}  // namespace

Kernels vector_blocks_kernels() { return kernels; }

}  // namespace rope::designs::engines
