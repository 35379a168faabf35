// Half-split pairs (p, p + r/2), as in GPT-NeoX and in Hugging Face's Llama. Every kernel here has this form: claims, a
// rotation loop over the heads of one token, apply, registration.
#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/each_token.hpp"
#include "impls/half_rotation.hpp"
#include "impls/multiversion.hpp"
#include "impls/pair_loop.hpp"

namespace rope {
namespace {

constexpr rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT));

// Both features are read before either is written, so in place needs no special case. Speed: docs/benchmarks.md.
template <class E>
[[gnu::always_inline]] inline void rotate(const Heads<E>& heads, const Turns<Working<E>>& turns) {
  const auto [cos_first, sin_first, cos_second, sin_second, half] = turns;
  for_each_head(
      heads, half, [=](const E* x1, E* y1) __attribute__((always_inline)) {
        const E* x2 = x1 + half;
        E* y2 = y1 + half;
        for_each_pair(
            half, [=](int p) __attribute__((always_inline)) {
              const auto a = widen(x1[p]);
              const auto b = widen(x2[p]);
              y1[p] = narrow<E>(a * cos_first[p] - b * sin_first[p]);
              y2[p] = narrow<E>(b * cos_second[p] + a * sin_second[p]);
            });
      });
}

ROPE_MULTIVERSION void rotate_f32(const Heads<float>& heads, const Turns<float>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_f64(const Heads<double>& heads, const Turns<double>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_bf16(const Heads<Bfloat16>& heads, const Turns<float>& turns) { rotate(heads, turns); }

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  return status != ROPE_OK ? status
                           : rotate_each_token(*call, {rotate_f32, rotate_f64, rotate_bf16, half_split_in_f16()});
}

}  // namespace

const rope_kernel& half_split_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "half_split", "pairs (p, p + r/2), plain loops", apply, claims};
  return kernel;
}

}  // namespace rope
