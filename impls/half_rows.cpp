// binary16 rows in two versions with the same bits: F16C, and integer arithmetic for every other machine. Integers,
// because the compiler vectorises them (g++ 12 converts _Float16 one at a time: five times slower).
#include <bit>
#include <cstring>

#include "impls/element_rows.hpp"
#include "impls/multiversion.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rope {
namespace {

ROPE_MULTIVERSION
void half_to_float_portable(const std::uint16_t* source, float* row, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t bits = source[i];
    const std::uint32_t sign = (bits & 0x8000) << 16;
    const std::uint32_t magnitude = (bits & 0x7fff) << 13;
    // As a float the magnitude is 2^112 times too small; the product is exact and normalises subnormals.
    const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t quiet = (bits & 0x7fff) > 0x7c00 ? 0x400000 : 0;
    const std::uint32_t special = magnitude | 0x7f800000 | quiet;
    row[i] = std::bit_cast<float>(sign | ((bits & 0x7c00) == 0x7c00 ? special : finite));
  }
}

ROPE_MULTIVERSION
void float_to_half_portable(const float* row, std::uint16_t* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(row[i]);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const std::uint32_t magnitude = bits & 0x7fffffff;
    // Below 2^-14 the sum with 1/2 rounds at 2^-24, a half's smallest subnormal, and leaves the result in its low bits.
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
    const std::uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    const std::uint32_t finite = magnitude < 0x38800000 ? subnormal : normal;
    const std::uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    const std::uint32_t result = magnitude > 0x7f800000 ? nan : magnitude >= 0x477ff000 ? 0x7c00 : finite;
    target[i] = static_cast<std::uint16_t>(sign | result);
  }
}

#if defined(__x86_64__)

__attribute__((target("avx,f16c"))) void half_to_float_f16c(const std::uint16_t* source, float* row,
                                                            std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 8) {
    _mm256_storeu_ps(row + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(source + i))));
  }
}

__attribute__((target("avx,f16c"))) void float_to_half_f16c(const float* row, std::uint16_t* target,
                                                            std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(row + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(target + i), bits);
  }
}

#endif

}  // namespace

#if defined(__x86_64__)
// clang 16 cannot be asked for F16C; every processor with AVX2 has it.
bool has_f16c() { return __builtin_cpu_supports("avx2") != 0; }
#else
bool has_f16c() { return false; }
#endif

void half_to_float(const std::uint16_t* source, float* row, std::int64_t count) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if (has_f16c()) half_to_float_f16c(source, row, done = count & ~std::int64_t{7});
#endif
  half_to_float_portable(source + done, row + done, count - done);
}

void float_to_half(const float* row, std::uint16_t* target, std::int64_t count) {
  std::int64_t done = 0;
#if defined(__x86_64__)
  if (has_f16c()) float_to_half_f16c(row, target, done = count & ~std::int64_t{7});
#endif
  float_to_half_portable(row + done, target + done, count - done);
}

}  // namespace rope
