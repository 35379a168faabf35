// A training framework's fused kernel: frequencies given, cos and sin computed in the kernel, one block per token. The
// loop over tokens is outside the loop over batches; every stride is an argument.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_negative_angle,
  none_pairs_outside,
  all_at_last_position,
  rows_copied_to_offset,
  gradient_taken_apart_in_place,
};

struct Turn {
  float cos;
  float sin;
};

template <Bug bug>
Turn turn_of(const rope_call& call, std::int64_t b, std::int64_t s, std::int64_t pair) {
  double position = static_cast<double>(position_of(call.positions, b, s));
  const std::int64_t offset = call.positions.offset;
  if (call.positions.data == nullptr && offset > 0) {
    if (bug == Bug::all_at_last_position) position = static_cast<double>(offset + call.q.shape[1] - 1);
    if (bug == Bug::rows_copied_to_offset) {
      if (s < offset) return {0, 0};
      position = static_cast<double>(s - offset);
    }
  }
  const bool backward = call.direction == ROPE_BACKWARD;
  double phi = position * static_cast<double>(static_cast<const float*>(call.theta)[pair]);
  if (bug == Bug::none_negative_angle && backward) phi = -phi;
  const float sin = static_cast<float>(std::sin(phi));
  return {static_cast<float>(std::cos(phi)), bug != Bug::none_negative_angle && backward ? -sin : sin};
}

template <Bug bug, class T>
class Block {
 public:
  Block(const rope_call& call, const Operand& operand, std::int64_t b, std::int64_t s)
      : call_(call), operand_(operand), b_(b), s_(s), half_(call.rotary_dim / 2) {}

  void run() {
    if (bug == Bug::none_pairs_outside) {
      run_pairs_outside();
    } else if (bug == Bug::gradient_taken_apart_in_place && call_.direction == ROPE_BACKWARD &&
               call_.pairing == ROPE_INTERLEAVED && operand_.in_place()) {
      for (std::int64_t h = 0; h < operand_.heads(); ++h) turn_through_halves(out(h));
    } else {
      std::vector<Turn> turns;
      for (std::int64_t pair = 0; pair < half_; ++pair) turns.push_back(turn_of<bug>(call_, b_, s_, pair));
      for (std::int64_t h = 0; h < operand_.heads(); ++h) {
        for (std::int64_t pair = 0; pair < half_; ++pair) turn(h, pair, turns[static_cast<std::size_t>(pair)]);
      }
    }
    for (std::int64_t h = 0; h < operand_.heads(); ++h) copy_rest(call_, in(h), out(h));
  }

 private:
  void run_pairs_outside() {
    for (std::int64_t pair = half_ - 1; pair >= 0; --pair) {
      const Turn by = turn_of<bug>(call_, b_, s_, pair);
      for (std::int64_t h = 0; h < operand_.heads(); ++h) turn(h, pair, by);
    }
  }

  void turn(std::int64_t h, std::int64_t pair, const Turn& by) {
    turn_pair(in(h), out(h), pair_at(call_, pair), by.cos, by.sin);
  }

  // Writes the gradient as halves in place, over features that were not read yet.
  void turn_through_halves(T* gradient) {
    for (std::int64_t pair = 0; pair < half_; ++pair) {
      const T even = gradient[2 * pair];
      const T odd = gradient[2 * pair + 1];
      gradient[pair] = even;
      gradient[pair + half_] = odd;
    }
    std::vector<T> turned;
    for (std::int64_t pair = 0; pair < half_; ++pair) {
      const Turn by = turn_of<bug>(call_, b_, s_, pair);
      const float first = widen(gradient[pair]);
      const float second = widen(gradient[pair + half_]);
      turned.push_back(narrow<T>(first * by.cos - second * by.sin));
      turned.push_back(narrow<T>(second * by.cos + first * by.sin));
    }
    std::copy(turned.begin(), turned.end(), gradient);
  }

  const T* in(std::int64_t h) const { return head_in<T>(operand_, b_, s_, h); }
  T* out(std::int64_t h) const { return head_out<T>(operand_, b_, s_, h); }

  const rope_call& call_;
  const Operand& operand_;
  const std::int64_t b_;
  const std::int64_t s_;
  const std::int64_t half_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  for_operands<float, Half, Bfloat16>(call, [&]<class T>(T, const Operand& x) {
    for (std::int64_t s = 0; s < x.tokens(); ++s) {
      for (std::int64_t b = 0; b < x.batches(); ++b) Block<bug, T>(call, x, b, s).run();
    }
  });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_F16, ROPE_BF16);
  all.theta_dtypes = mask(ROPE_F32);
  all.position_dtypes = mask(ROPE_I32);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_FREQUENCIES);
  all.features = usual | with_positions | mask(ROPE_FEATURE_STRIDED, ROPE_FEATURE_BACKWARD, ROPE_FEATURE_IN_PLACE);
  all.max_position = 16777215;
  return all;
}();

template <Bug bug>
constexpr rope_kernel fused(const char* name) {
  return kernel(name, "given frequencies, a block for a token", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    fused<Bug::none>("fused"),
    fused<Bug::none_negative_angle>("fused-negative-angle"),
    fused<Bug::none_pairs_outside>("fused-pairs-outside"),
    fused<Bug::all_at_last_position>("fused/all-at-last-position"),
    fused<Bug::rows_copied_to_offset>("fused/rows-copied-to-offset"),
    fused<Bug::gradient_taken_apart_in_place>("fused/gradient-taken-apart-in-place"),
};

}  // namespace

Kernels fused_kernels() { return kernels; }

}  // namespace rope::designs::reported
