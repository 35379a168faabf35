// Angles from a base, or from given theta, an offset and a scale. A turn is computed once per pair and token and used
// for all heads, four at a time. One token has its own path.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

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

Turn turn_by(float angle) { return {std::cos(angle), std::sin(angle)}; }

class Angles {
 public:
  explicit Angles(const rope_call& call) : pairs_(static_cast<float>(call.rotary_dim / 2)) {
    offset_ = static_cast<float>(call.positions.offset);
    if (call.angle_source == ROPE_FREQUENCIES) {
      theta_ = static_cast<const float*>(call.theta);
      return;
    }
    auto base = static_cast<float>(call.base);
    log2_base_ = std::log2(base);
    if (call.scaling.kind == ROPE_SCALING_LINEAR) scale_ = static_cast<float>(1.0 / call.scaling.factor);
  }

  Turn turn(std::int64_t token, int pair) const {
    const auto index = static_cast<float>(token);
    const float position = scale_ * (offset_ + index);
    return turn_by(position * theta(pair));
  }

 private:
  float theta(int pair) const {
    if (theta_ == nullptr) return std::exp2(-(static_cast<float>(pair) / pairs_) * log2_base_);
    return theta_[pair];
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

template <class T>
void rotate_one_token(const rope_call& call, const Operand& x, const Angles& angles) {
  rope_tensor in = x.in;
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

template <class T>
void rotate_tokens(const rope_call& call, const Operand& x, const Angles& angles) {
  const std::int64_t fours = (x.heads() + 3) / 4;
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

void run(const rope_call& call) {
  const Operand x = query(call);
  const Angles angles(call);
  with_element<float, Half, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    if (call.rotary_dim < x.head_dim() && !x.in_place()) copy<T>(x);
    if (x.tokens() == 1) {
      rotate_one_token<T>(call, x, angles);
    } else {
      rotate_tokens<T>(call, x, angles);
    }
  });
}

rope_kernel base_offset(const char* name) {
  return kernel<run, claims>(name, "base or theta, scale and offset; one token on a path of its own");
}

}  // namespace

Kernels base_offset_kernels() {
  static const rope_kernel all[] = {
      base_offset("base_offset"),
  };
  return all;
}

}  // namespace rope::designs
