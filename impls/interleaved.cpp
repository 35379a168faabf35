// Interleaved pairs (2p, 2p + 1), as in the RoFormer paper, GPT-J and Cohere.
#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/half_rotation.hpp"
#include "impls/multiversion.hpp"
#include "impls/pair_loop.hpp"

namespace rope {
namespace {

constexpr rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_INTERLEAVED));

template <class E>
[[gnu::always_inline]] inline void rotate(const Heads<E>& heads, const Turns<Working<E>>& turns) {
  const auto [cos_first, sin_first, cos_second, sin_second, pairs] = turns;
  for_each_head(
      heads, pairs, [=](const E* x, E* y) __attribute__((always_inline)) {
        for_each_pair(
            pairs, [=](int p) __attribute__((always_inline)) {
              const auto [a, b] = load_pair(x + 2 * p);
              store_pair<E>(y + 2 * p, {a * cos_first[p] - b * sin_first[p], b * cos_second[p] + a * sin_second[p]});
            });
      });
}

ROPE_MULTIVERSION void rotate_f32(const Heads<float>& heads, const Turns<float>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_f64(const Heads<double>& heads, const Turns<double>& turns) { rotate(heads, turns); }
ROPE_MULTIVERSION void rotate_bf16(const Heads<Bfloat16>& heads, const Turns<float>& turns) { rotate(heads, turns); }

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  return status != ROPE_OK ? status
                           : rotate_each_token(*call, {rotate_f32, rotate_f64, rotate_bf16, interleaved_in_f16()});
}

}  // namespace

const rope_kernel& interleaved_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "interleaved", "pairs (2p, 2p + 1), plain loops", apply, claims};
  return kernel;
}

}  // namespace rope
