// Pairs as complex numbers: a rotation is the multiplication by w = lambda e^{i phi} (RoFormer, eq. 12 to 14), as in
// Meta's Llama code. Interleaved heads are rows of complex numbers as they stand; half-split heads hold the real parts
// first and the imaginary parts after them.
#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/half_rotation.hpp"
#include "impls/multiversion.hpp"
#include "impls/pair_loop.hpp"

namespace rope {
namespace {

// Unequal halves are not claimed: complex multiplication cannot turn a pair's two features by different angles.
constexpr rope_capabilities claims = [] {
  rope_capabilities result = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));
  result.features &= ~ROPE_BIT(ROPE_FEATURE_UNEQUAL_HALVES);
  return result;
}();

// The product with w is written out on real and imaginary parts: operator* of std::complex looks for infinities behind
// a NaN (C99, annex G) and would return an infinity for it. Rows of complex numbers are read as rows of their parts;
// the standard guarantees that layout. g++ 12 and clang 16 do not vectorise std::complex in memory, which takes twice
// as long (f32).
template <class E>
[[gnu::always_inline]] inline void rotate_interleaved(const Heads<E>& heads, const Turns<Working<E>>& turns) {
  const auto* w_re = turns.cos_first;
  const auto* w_im = turns.sin_first;
  const int pairs = turns.pairs;
  for_each_head(
      heads, pairs, [=](const E* z, E* y) __attribute__((always_inline)) {
        for_each_pair(
            pairs, [=](int p) __attribute__((always_inline)) {
              const auto [re, im] = load_pair(z + 2 * p);
              store_pair<E>(y + 2 * p, {re * w_re[p] - im * w_im[p], im * w_re[p] + re * w_im[p]});
            });
      });
}

template <class E>
[[gnu::always_inline]] inline void rotate_half_split(const Heads<E>& heads, const Turns<Working<E>>& turns) {
  const auto* w_re = turns.cos_first;
  const auto* w_im = turns.sin_first;
  const int pairs = turns.pairs;
  for_each_head(
      heads, pairs, [=](const E* z, E* y) __attribute__((always_inline)) {
        for_each_pair(
            pairs, [=](int p) __attribute__((always_inline)) {
              const auto re = widen(z[p]);
              const auto im = widen(z[p + pairs]);
              y[p] = narrow<E>(re * w_re[p] - im * w_im[p]);
              y[p + pairs] = narrow<E>(im * w_re[p] + re * w_im[p]);
            });
      });
}

ROPE_MULTIVERSION void interleaved_f32(const Heads<float>& heads, const Turns<float>& turns) {
  rotate_interleaved(heads, turns);
}
ROPE_MULTIVERSION void interleaved_f64(const Heads<double>& heads, const Turns<double>& turns) {
  rotate_interleaved(heads, turns);
}
ROPE_MULTIVERSION void interleaved_bf16(const Heads<Bfloat16>& heads, const Turns<float>& turns) {
  rotate_interleaved(heads, turns);
}
ROPE_MULTIVERSION void half_split_f32(const Heads<float>& heads, const Turns<float>& turns) {
  rotate_half_split(heads, turns);
}
ROPE_MULTIVERSION void half_split_f64(const Heads<double>& heads, const Turns<double>& turns) {
  rotate_half_split(heads, turns);
}
ROPE_MULTIVERSION void half_split_bf16(const Heads<Bfloat16>& heads, const Turns<float>& turns) {
  rotate_half_split(heads, turns);
}

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  if (status != ROPE_OK) return status;
  const bool halves = call->pairing == ROPE_HALF_SPLIT;
  return rotate_each_token(*call,
                           halves ? Rotation{half_split_f32, half_split_f64, half_split_bf16, half_split_in_f16()}
                                  : Rotation{interleaved_f32, interleaved_f64, interleaved_bf16, interleaved_in_f16()});
}

}  // namespace

const rope_kernel& complex_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "complex", "pairs as complex numbers, either pairing", apply, claims};
  return kernel;
}

}  // namespace rope
