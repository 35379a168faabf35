// Angles from a base, or from given theta, an offset and a scale. A turn is computed once per pair and token and used
// for all heads, four at a time. One token has its own path.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tests/kernels/styles/element.hpp"
#include "tests/kernels/styles/kernel.hpp"

namespace rope::styles {
namespace {

enum class Bug {
  none,
  offset_unscaled,
  one_token_batches_together,
  heads_in_fours,
  base_in_half,
  backward_from_zero,
  theta_as_periods,
  short_polynomial,
};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  for (const rope_dtype dtype : {ROPE_F32, ROPE_F16, ROPE_BF16}) claims.out_dtypes[dtype] = mask(dtype);
  claims.theta_dtypes = mask(ROPE_F32);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_COMPUTED, ROPE_FREQUENCIES);
  claims.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LINEAR);
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_BACKWARD,
                         ROPE_FEATURE_OFFSET);
  claims.max_position = 16384;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

struct Turn {
  float cos;
  float sin;
};

float short_sine(float angle) {
  constexpr double pi = std::numbers::pi;
  const double half_turns = std::nearbyint(angle / pi);
  const double t = angle - half_turns * pi;
  const double square = t * t;
  const double sine = t * (1 - square / 6 * (1 - square / 20 * (1 - square / 42)));
  return static_cast<float>(std::fmod(half_turns, 2.0) != 0 ? -sine : sine);
}

template <Bug bug>
Turn turn_by(float angle) {
  if constexpr (bug == Bug::short_polynomial) {
    return {short_sine(angle + static_cast<float>(std::numbers::pi / 2)), short_sine(angle)};
  }
  return {std::cos(angle), std::sin(angle)};
}

template <Bug bug>
class Angles {
 public:
  explicit Angles(const rope_call& call) : pairs_(static_cast<float>(call.rotary_dim / 2)) {
    const bool from_zero = bug == Bug::backward_from_zero && call.direction == ROPE_BACKWARD;
    offset_ = from_zero ? 0.0f : static_cast<float>(call.positions.offset);
    if (call.angle_source == ROPE_FREQUENCIES) {
      theta_ = static_cast<const float*>(call.theta);
      return;
    }
    auto base = static_cast<float>(call.base);
    if constexpr (bug == Bug::base_in_half) base = std::min(rounded<Half>(base), 65504.0f);
    log2_base_ = std::log2(base);
    if (call.scaling.kind == ROPE_SCALING_LINEAR) scale_ = static_cast<float>(1.0 / call.scaling.factor);
  }

  Turn turn(std::int64_t token, int pair) const {
    const auto index = static_cast<float>(token);
    const float position = bug == Bug::offset_unscaled ? offset_ + scale_ * index : scale_ * (offset_ + index);
    return turn_by<bug>(position * theta(pair));
  }

 private:
  float theta(int pair) const {
    if (theta_ == nullptr) return std::exp2(-(static_cast<float>(pair) / pairs_) * log2_base_);
    return bug == Bug::theta_as_periods ? 1.0f / theta_[pair] : theta_[pair];
  }

  float pairs_;
  float offset_ = 0;
  float scale_ = 1;
  float log2_base_ = 0;
  const float* theta_ = nullptr;
};

template <class T>
void turn_pair(const rope_call& call, const T* in, T* out, Pair pair, Turn turn) {
  const float first = widen(in[pair.first]);
  const float second = widen(in[pair.second]);
  if (call.direction == ROPE_FORWARD) {
    out[pair.first] = narrow<T>(first * turn.cos - second * turn.sin);
    out[pair.second] = narrow<T>(first * turn.sin + second * turn.cos);
  } else {
    out[pair.first] = narrow<T>(second * turn.sin + first * turn.cos);
    out[pair.second] = narrow<T>(second * turn.cos - first * turn.sin);
  }
}

template <Bug bug, class T>
void rotate_one_token(const rope_call& call, const Operand& x, const Angles<bug>& angles) {
  rope_tensor in = x.in;
  if constexpr (bug == Bug::one_token_batches_together) {
    in.strides[0] = std::min(in.strides[0], x.heads() * in.strides[2]);
  }
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    const Turn turn = angles.turn(0, p);
    for (std::int64_t row = 0; row < x.batches() * x.heads(); ++row) {
      const std::int64_t batch = row / x.heads();
      const std::int64_t head = row % x.heads();
      turn_pair(call, static_cast<const T*>(in.data) + element(in, batch, 0, head), head_out<T>(x, batch, 0, head),
                pair_at(call, p), turn);
    }
  }
}

template <Bug bug, class T>
void rotate_tokens(const rope_call& call, const Operand& x, const Angles<bug>& angles) {
  const bool whole_fours = bug == Bug::heads_in_fours && x.heads() > 4;
  const std::int64_t fours = whole_fours ? x.heads() / 4 : (x.heads() + 3) / 4;
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      const Turn turn = angles.turn(token, p);
      for (std::int64_t four = 0; four < fours; ++four) {
        const std::int64_t end = std::min(4 * four + 4, x.heads());
        for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
          for (std::int64_t head = 4 * four; head < end; ++head) {
            turn_pair(call, head_in<T>(x, batch, token, head), head_out<T>(x, batch, token, head), pair_at(call, p),
                      turn);
          }
        }
      }
    }
  }
}

template <class T>
void copy(const Operand& x) {
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      for (std::int64_t head = 0; head < x.heads(); ++head) {
        std::copy_n(head_in<T>(x, batch, token, head), x.head_dim(), head_out<T>(x, batch, token, head));
      }
    }
  }
}

template <Bug bug>
void run(const rope_call& call) {
  const Operand x = query(call);
  const Angles<bug> angles(call);
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    if (call.rotary_dim < x.head_dim() && !x.in_place()) copy<T>(x);
    if (x.tokens() == 1) {
      rotate_one_token<bug, T>(call, x, angles);
    } else {
      rotate_tokens<bug, T>(call, x, angles);
    }
  });
}

template <Bug bug = Bug::none>
rope_kernel base_offset(const char* name) {
  return kernel<run<bug>, claims>(name, "base or theta, scale and offset; one token on a path of its own");
}

}  // namespace

Kernels base_offset_kernels() {
  static const rope_kernel all[] = {
      base_offset("base_offset"),
      base_offset<Bug::offset_unscaled>("base_offset/offset-not-scaled"),
      base_offset<Bug::one_token_batches_together>("base_offset/decode-batch-step"),
      base_offset<Bug::heads_in_fours>("base_offset/heads-in-fours"),
      base_offset<Bug::base_in_half>("base_offset/base-in-f16"),
      base_offset<Bug::backward_from_zero>("base_offset/backward-no-offset"),
      base_offset<Bug::theta_as_periods>("base_offset/theta-as-periods"),
      base_offset<Bug::short_polynomial>("base_offset/short-sine"),
  };
  return all;
}

}  // namespace rope::styles
