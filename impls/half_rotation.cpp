#include "impls/half_rotation.hpp"

#include <algorithm>
#include <array>

#include "impls/element_rows.hpp"
#include "impls/prefetch.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rope {

#if defined(__x86_64__)
namespace {

#define ROPE_F16C __attribute__((target("avx,f16c")))

constexpr int lanes = 8;

ROPE_F16C inline __m256 load(const Half* x) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x)));
}

ROPE_F16C inline void store(Half* y, __m256 values) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}

ROPE_F16C inline __m256 times(__m256 values, const float* factors) {
  return _mm256_mul_ps(values, _mm256_loadu_ps(factors));
}

// The last pairs of a head, fewer than a vector holds. Pair p has the features p * step and p * step + second.
void turn_rest(const Half* x, Half* y, int pair, int end, std::ptrdiff_t step, std::ptrdiff_t second,
               const Turns<float>& turns) {
  for (; pair < end; ++pair) {
    float a = 0;
    float b = 0;
    half_to_float(&x[pair * step].bits, &a, 1);
    half_to_float(&x[pair * step + second].bits, &b, 1);
    const float first_result = a * turns.cos_first[pair] - b * turns.sin_first[pair];
    const float second_result = b * turns.cos_second[pair] + a * turns.sin_second[pair];
    float_to_half(&first_result, &y[pair * step].bits, 1);
    float_to_half(&second_result, &y[pair * step + second].bits, 1);
  }
}

ROPE_F16C void half_split(const Heads<Half>& heads, const Turns<float>& turns) {
  const int half = turns.pairs;
  for (std::int64_t h = 0; h < heads.count; ++h) {
    const Half* x = heads.x + h * heads.x_stride;
    Half* y = heads.y + h * heads.y_stride;
    prefetch_ahead(x, y, 2 * half);
    int p = 0;
    for (; p + lanes <= half; p += lanes) {
      const __m256 a = load(x + p);
      const __m256 b = load(x + half + p);
      store(y + p, _mm256_sub_ps(times(a, turns.cos_first + p), times(b, turns.sin_first + p)));
      store(y + half + p, _mm256_add_ps(times(b, turns.cos_second + p), times(a, turns.sin_second + p)));
    }
    turn_rest(x, y, p, half, 1, half, turns);
  }
}

// The factors of this many pairs are put into feature order once for all heads; 64 pairs are a head of 128.
constexpr int stretch = 64;

ROPE_F16C void interleaved(const Heads<Half>& heads, const Turns<float>& turns) {
  alignas(32) std::array<float, 2 * stretch> cos;
  alignas(32) std::array<float, 2 * stretch> sin;
  for (int start = 0; start < turns.pairs; start += stretch) {
    const int end = std::min(start + stretch, turns.pairs);
    for (int p = start; p < end; ++p) {
      const auto at = static_cast<std::size_t>(2 * (p - start));
      cos[at] = turns.cos_first[p];
      cos[at + 1] = turns.cos_second[p];
      sin[at] = turns.sin_first[p];
      sin[at + 1] = turns.sin_second[p];
    }
    for (std::int64_t h = 0; h < heads.count; ++h) {
      const Half* x = heads.x + h * heads.x_stride;
      Half* y = heads.y + h * heads.y_stride;
      prefetch_ahead(x + 2 * start, y + 2 * start, 2 * (end - start));
      int p = start;
      for (; p + lanes / 2 <= end; p += lanes / 2) {
        const __m256 pairs = load(x + 2 * p);
        const __m256 swapped = _mm256_permute_ps(pairs, _MM_SHUFFLE(2, 3, 0, 1));
        store(y + 2 * p, _mm256_addsub_ps(times(pairs, cos.data() + 2 * (p - start)),
                                          times(swapped, sin.data() + 2 * (p - start))));
      }
      turn_rest(x, y, p, end, 2, 1, turns);
    }
  }
}

#undef ROPE_F16C

}  // namespace

RotateHalf half_split_in_f16() { return has_f16c() ? half_split : nullptr; }
RotateHalf interleaved_in_f16() { return has_f16c() ? interleaved : nullptr; }

#else

RotateHalf half_split_in_f16() { return nullptr; }
RotateHalf interleaved_in_f16() { return nullptr; }

#endif

}  // namespace rope
