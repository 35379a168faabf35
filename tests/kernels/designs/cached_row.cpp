// An inference engine in plain loops: for each token it fills one row of cosines and sines, which all heads use. The
// attention factor and the sign of the direction are in the row. Angles in f32; YaRN is mixed pair by pair.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <type_traits>
#include <vector>

#include "tests/kernels/designs/element.hpp"
#include "tests/kernels/designs/kernel.hpp"

namespace rope::designs {
namespace {

enum class Bug {
  none,
  recurrence,  // no bug: theta by repeated multiplication
};

constexpr std::int32_t recurrence_head_dims[] = {64, 80, 96, 128};

constexpr rope_capabilities make_claims() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_F16] = mask(ROPE_F16);
  claims.position_dtypes = mask(ROPE_I32);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LINEAR, ROPE_SCALING_YARN, ROPE_SCALING_LONGROPE);
  claims.features = mask(ROPE_FEATURE_PARTIAL, ROPE_FEATURE_POSITIONS, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED,
                         ROPE_FEATURE_BACKWARD, ROPE_FEATURE_ATTENTION_FACTOR);
  claims.max_position = 16384;
  claims.device = ROPE_CPU;
  return claims;
}
constexpr rope_capabilities claims = make_claims();

// The error of the recurrence grows with pairs and positions.
constexpr rope_capabilities make_recurrence_claims() {
  rope_capabilities fewer = make_claims();
  fewer.max_position = 4096;
  fewer.head_dims = recurrence_head_dims;
  fewer.head_dim_count = 4;
  return fewer;
}
constexpr rope_capabilities recurrence_claims = make_recurrence_claims();

struct Turn {
  float cos;
  float sin;
};

// The pair that makes this many turns within the original length.
double pair_of_turns(const rope_call& call, double turns) {
  const double ratio = call.scaling.original_max_position / (turns * 2 * std::numbers::pi);
  return call.rotary_dim * std::log(ratio) / (2 * std::log(call.base));
}

template <Bug bug>
class Angles {
 public:
  explicit Angles(const rope_call& call)
      : rotary_dim_(call.rotary_dim),
        exponent_dim_(call.rotary_dim),
        base_(static_cast<float>(call.base)),
        factor_(static_cast<float>(call.attention_factor)),
        sign_(call.direction == ROPE_BACKWARD ? -1.0f : 1.0f) {
    const rope_scaling& scaling = call.scaling;
    yarn_ = scaling.kind == ROPE_SCALING_YARN;
    if (yarn_ || scaling.kind == ROPE_SCALING_LINEAR) slower_ = static_cast<float>(1.0 / scaling.factor);
    if (yarn_) set_ramp(call);
    if (scaling.kind == ROPE_SCALING_LONGROPE) {
      const auto length = static_cast<double>(call.sequence_length);
      divisors_ = length > scaling.original_max_position ? scaling.long_factor : scaling.short_factor;
    }
  }

  void fill(float position, std::vector<Turn>& row) const {
    float repeated = position;
    const float step = std::pow(base_, -2.0f / static_cast<float>(rotary_dim_));
    for (int pair = 0; pair < rotary_dim_ / 2; ++pair) {
      const float divisor = divisors_ == nullptr ? 1.0f : static_cast<float>(divisors_[pair]);
      float unscaled = 0;
      if constexpr (bug == Bug::recurrence) {
        unscaled = repeated / divisor;
        repeated *= step;
      } else {
        unscaled = position * theta(pair) / divisor;
      }
      float angle = slower_ * unscaled;
      if (yarn_) {
        const float kept = ramp(static_cast<float>(pair));
        angle = angle * (1 - kept) + unscaled * kept;
      }
      row[static_cast<std::size_t>(pair)] = {std::cos(angle) * factor_, std::sin(angle) * factor_ * sign_};
    }
  }

 private:
  float theta(int pair) const {
    return std::pow(base_, -static_cast<float>(2 * pair) / static_cast<float>(exponent_dim_));
  }

  void set_ramp(const rope_call& call) {
    double low = pair_of_turns(call, call.scaling.beta_fast);
    double high = pair_of_turns(call, call.scaling.beta_slow);
    if (call.scaling.yarn_truncate != 0) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    const int last = call.scaling.yarn_clamp_pairs != 0 ? rotary_dim_ / 2 - 1 : rotary_dim_ - 1;
    low_ = static_cast<float>(std::max(0.0, low));
    high_ = static_cast<float>(std::min<double>(last, high));
  }

  // The share of the unscaled angle.
  float ramp(float pair) const {
    const float width = high_ == low_ ? 0.001f : high_ - low_;
    return 1.0f - std::min(1.0f, std::max(0.0f, (pair - low_) / width));
  }

  int rotary_dim_;
  int exponent_dim_;
  float base_;
  float factor_;
  float sign_;
  bool yarn_ = false;
  float slower_ = 1;
  float low_ = 0;
  float high_ = 0;
  const double* divisors_ = nullptr;
};

template <Bug bug, class T>
void rotate(const rope_call& call) {
  const Operand x = query(call);
  const Angles<bug> angles(call);
  std::vector<Turn> row(static_cast<std::size_t>(call.rotary_dim / 2));
  rope_tensor in = call.q;
  auto rest = static_cast<std::size_t>(x.head_dim() - call.rotary_dim) * sizeof(T);
  for (std::int64_t batch = 0; batch < x.batches(); ++batch) {
    for (std::int64_t token = 0; token < x.tokens(); ++token) {
      angles.fill(static_cast<float>(position_of(call.positions, batch, token)), row);
      for (std::int64_t head = 0; head < x.heads(); ++head) {
        const T* from = static_cast<const T*>(in.data) + element(in, batch, token, head);
        T* to = head_out<T>(x, batch, token, head);
        for (std::size_t p = 0; p < row.size(); ++p) {
          const Pair pair = pair_at(call, static_cast<std::int64_t>(p));
          const float first = widen(from[pair.first]);
          const float second = widen(from[pair.second]);
          to[pair.first] = narrow<T>(first * row[p].cos - second * row[p].sin);
          to[pair.second] = narrow<T>(first * row[p].sin + second * row[p].cos);
        }
        if (from != to) std::memmove(to + call.rotary_dim, from + call.rotary_dim, rest);
      }
    }
  }
}

template <Bug bug>
void run(const rope_call& call) {
  with_element<float, Half>(call.q.dtype, [&]<class T>(T) { rotate<bug, T>(call); });
}

template <Bug bug = Bug::none>
rope_kernel cached_row(const char* name) {
  return kernel<run<bug>, claims>(name, "a row of cosines and sines a token, angles in f32");
}

}  // namespace

Kernels cached_row_kernels() {
  static const rope_kernel all[] = {
      cached_row("cached_row"),
      kernel<run<Bug::recurrence>, recurrence_claims>("cached_row-recurrence",
                                                      "a row a token, theta by repeated multiplication"),
  };
  return all;
}

}  // namespace rope::designs
