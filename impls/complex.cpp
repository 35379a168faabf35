// Pairs as complex numbers: a rotation is the multiplication by w = lambda e^{i phi} (RoFormer, eq. 12 to 14), as in
// Meta's Llama code. Interleaved heads are rows of complex numbers as they stand; half-split heads hold the real parts
// first and the imaginary parts after them.
#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/each_token.hpp"
#include "impls/multiversion.hpp"

namespace rope {
namespace {

// A pair whose two features turn by different angles is no complex multiplication, so unequal halves are not claimed.
constexpr rope_capabilities claims = [] {
  rope_capabilities result = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));
  result.features &= ~ROPE_BIT(ROPE_FEATURE_UNEQUAL_HALVES);
  return result;
}();

// The product with w is written out on real and imaginary parts: operator* of std::complex looks for infinities behind
// a NaN (C99, annex G), which would hand on an infinity where a NaN came in. And rows of complex numbers are read as
// the rows of their parts that the standard says they are ([complex.numbers.general]): neither g++ 12 nor clang 16
// makes vector code of std::complex in memory, which took 5.5 ms where this takes 2.54 (memcpy 2.44; f32, see
// half_split.cpp).
template <class T>
[[gnu::always_inline]] inline void rotate_interleaved(const Heads<T>& heads, const Turns<T>& turns) {
  for (std::int64_t h = 0; h < heads.count; ++h) {
    const T* z = heads.x + h * heads.x_stride;
    T* y = heads.y + h * heads.y_stride;
    ROPE_INDEPENDENT_ITERATIONS
    for (int p = 0; p < turns.pairs; ++p) {
      const T re = z[2 * p];
      const T im = z[2 * p + 1];
      y[2 * p] = re * turns.cos_first[p] - im * turns.sin_first[p];
      y[2 * p + 1] = im * turns.cos_first[p] + re * turns.sin_first[p];
    }
  }
}

template <class T>
[[gnu::always_inline]] inline void rotate_half_split(const Heads<T>& heads, const Turns<T>& turns) {
  for (std::int64_t h = 0; h < heads.count; ++h) {
    const T* real = heads.x + h * heads.x_stride;
    const T* imag = real + turns.pairs;
    T* y_real = heads.y + h * heads.y_stride;
    T* y_imag = y_real + turns.pairs;
    ROPE_INDEPENDENT_ITERATIONS
    for (int p = 0; p < turns.pairs; ++p) {
      const T re = real[p];
      const T im = imag[p];
      y_real[p] = re * turns.cos_first[p] - im * turns.sin_first[p];
      y_imag[p] = im * turns.cos_first[p] + re * turns.sin_first[p];
    }
  }
}

ROPE_MULTIVERSION void interleaved_f32(const Heads<float>& heads, const Turns<float>& turns) {
  rotate_interleaved(heads, turns);
}
ROPE_MULTIVERSION void interleaved_f64(const Heads<double>& heads, const Turns<double>& turns) {
  rotate_interleaved(heads, turns);
}
ROPE_MULTIVERSION void half_split_f32(const Heads<float>& heads, const Turns<float>& turns) {
  rotate_half_split(heads, turns);
}
ROPE_MULTIVERSION void half_split_f64(const Heads<double>& heads, const Turns<double>& turns) {
  rotate_half_split(heads, turns);
}

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  if (status != ROPE_OK) return status;
  const bool halves = call->pairing == ROPE_HALF_SPLIT;
  return rotate_each_token(
      *call, halves ? Rotation{half_split_f32, half_split_f64} : Rotation{interleaved_f32, interleaved_f64});
}

}  // namespace

const rope_kernel& complex_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "complex", "pairs as complex numbers, either pairing", apply, claims};
  return kernel;
}

}  // namespace rope
