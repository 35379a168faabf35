// Half-split pairs (p, p + r/2), as in GPT-NeoX and in Hugging Face's Llama. The shape of every kernel here: claims, a
// rotation loop over the heads of one token, apply, registration.
#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/each_token.hpp"
#include "impls/element.hpp"
#include "impls/multiversion.hpp"

namespace rope {
namespace {

constexpr rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT));

// Both features are read before either is written, so in place is nothing special. One thread,
// [1, 2048, 32, 128], Xeon (Sapphire Rapids): f32 2.58 ms where memcpy takes 2.44, bf16 1.94 (1.23), f16 1.94 (1.33).
template <class E>
[[gnu::always_inline]] inline void rotate(const Heads<E>& heads, const Turns<Working<E>>& turns) {
  const int half = turns.pairs;
  for (std::int64_t h = 0; h < heads.count; ++h) {
    const E* x1 = heads.x + h * heads.x_stride;
    const E* x2 = x1 + half;
    E* y1 = heads.y + h * heads.y_stride;
    E* y2 = y1 + half;
    ROPE_INDEPENDENT_ITERATIONS
    for (int p = 0; p < half; ++p) {
      const auto a = widen(x1[p]);
      const auto b = widen(x2[p]);
      y1[p] = narrow<E>(a * turns.cos_first[p] - b * turns.sin_first[p]);
      y2[p] = narrow<E>(b * turns.cos_second[p] + a * turns.sin_second[p]);
    }
  }
}

ROPE_MULTIVERSION void rotate_f32(const Heads<float>& heads, const Turns<float>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_f64(const Heads<double>& heads, const Turns<double>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_bf16(const Heads<Bfloat16>& heads, const Turns<float>& turns) { rotate(heads, turns); }

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  return status != ROPE_OK ? status : rotate_each_token(*call, {rotate_f32, rotate_f64, rotate_bf16});
}

}  // namespace

const rope_kernel& half_split_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "half_split", "pairs (p, p + r/2), plain loops", apply, claims};
  return kernel;
}

}  // namespace rope
