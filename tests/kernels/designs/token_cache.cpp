// A graph runtime's operator. For each token it fills a cache of cos and sin and turns every head by it. Then it copies
// the rest of the head.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_negated_sine,
  none_running_product,
  further_blocks_turned,
  rest_by_dense_index,
  interleaved_positions_lost,
  yarn_factor_on_top,
  factors_for_theta,
  ramp_ends_exchanged,
  yarn_angles_concatenated,
};

struct Ramp {
  double low;
  double high;
};

Ramp ramp_of(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  const auto pair_of = [&](double turns) {
    return call.rotary_dim * std::log(scaling.original_max_position / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(call.base));
  };
  double low = pair_of(scaling.beta_fast);
  double high = pair_of(scaling.beta_slow);
  if (scaling.yarn_truncate != 0) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  const double top = scaling.yarn_clamp_pairs != 0 ? call.rotary_dim / 2 - 1 : call.rotary_dim - 1;
  return {std::max(low, 0.0), std::min(high, top)};
}

// The share of the unscaled frequency.
template <Bug bug>
double share_of_unscaled(Ramp ramp, std::int64_t pair) {
  if (bug == Bug::ramp_ends_exchanged) std::swap(ramp.low, ramp.high);
  double width = ramp.high - ramp.low;
  if (bug == Bug::ramp_ends_exchanged) {
    width = std::max(0.001, width);
  } else if (width == 0) {
    width = 0.001;
  }
  const double along = (static_cast<double>(pair) - ramp.low) / width;
  return 1 - std::min(1.0, std::max(0.0, along));
}

template <Bug bug>
std::vector<double> frequencies(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  const bool yarn = scaling.kind == ROPE_SCALING_YARN;
  const double scale = scaling.kind == ROPE_SCALING_LINEAR || yarn ? 1.0 / scaling.factor : 1.0;
  const double* factors = nullptr;
  if (scaling.kind == ROPE_SCALING_LONGROPE) {
    const bool beyond = static_cast<double>(call.sequence_length) > scaling.original_max_position;
    factors = beyond ? scaling.long_factor : scaling.short_factor;
  }
  const Ramp ramp = yarn ? ramp_of(call) : Ramp{0, 0};
  const double step = std::pow(call.base, -2.0 / call.rotary_dim);
  std::vector<double> theta;
  double running = 1;
  for (std::int64_t pair = 0; pair < call.rotary_dim / 2; ++pair, running *= step) {
    double unscaled = bug == Bug::none_running_product
                          ? running
                          : std::pow(call.base, -static_cast<double>(2 * pair) / call.rotary_dim);
    if (factors != nullptr) unscaled = bug == Bug::factors_for_theta ? factors[pair] : unscaled / factors[pair];
    double scaled = scale * unscaled;
    if (yarn) {
      const double share = share_of_unscaled<bug>(ramp, pair);
      scaled = scaled * (1 - share) + unscaled * share;
    }
    theta.push_back(scaled);
  }
  return theta;
}

struct Cache {
  explicit Cache(std::size_t pairs) : cos(pairs), sin(pairs) {}

  std::vector<float> cos;
  std::vector<float> sin;
};

template <Bug bug>
void fill(Cache& cache, const rope_call& call, const std::vector<double>& theta, double position, double slower) {
  double factor = call.attention_factor;
  if (bug == Bug::yarn_factor_on_top && call.scaling.kind == ROPE_SCALING_YARN) {
    factor *= 1.0 + 0.1 * std::log(call.scaling.factor);
  }
  const double sign = call.direction == ROPE_BACKWARD ? -1 : 1;
  for (std::size_t pair = 0; pair < theta.size(); ++pair) {
    const double phi = position * theta[pair] * slower;
    cache.cos[pair] = static_cast<float>(std::cos(phi) * factor);
    cache.sin[pair] = static_cast<float>(std::sin(phi) * factor * sign);
    if (bug == Bug::none_negated_sine) cache.sin[pair] = -cache.sin[pair];
  }
}

template <Bug bug, class T>
void turn(const rope_call& call, const Cache& cache, const T* x, T* y) {
  const std::int64_t half = call.rotary_dim / 2;
  const bool concatenated = bug == Bug::yarn_angles_concatenated && call.scaling.kind == ROPE_SCALING_YARN &&
                            call.pairing == ROPE_INTERLEAVED;
  const float* cos = cache.cos.data();
  const float* sin = cache.sin.data();
  for (std::int64_t pair = 0; pair < half; ++pair) {
    const Pair at = pair_at(call, pair);
    const std::int64_t column = concatenated ? at.first % half : pair;
    const std::int64_t second_column = concatenated ? at.second % half : pair;
    const float first = widen(x[at.first]);
    const float second = widen(x[at.second]);
    if constexpr (bug == Bug::none_negated_sine) {
      y[at.first] = narrow<T>(first * cos[column] + second * sin[column]);
      y[at.second] = narrow<T>(second * cos[second_column] - first * sin[second_column]);
    } else {
      y[at.first] = narrow<T>(first * cos[column] - second * sin[column]);
      y[at.second] = narrow<T>(second * cos[second_column] + first * sin[second_column]);
    }
  }
}

template <Bug bug, class T>
void rotate_tensor(const rope_call& call, const Operand& operand, const std::vector<double>& theta) {
  const std::int64_t head_dim = operand.head_dim();
  const std::int64_t block = call.rotary_dim;
  Cache cache(theta.size());
  Cache further(theta.size());
  for (std::int64_t b = 0; b < operand.batches(); ++b) {
    for (std::int64_t s = 0; s < operand.tokens(); ++s) {
      const bool lost =
          bug == Bug::interleaved_positions_lost && call.pairing == ROPE_INTERLEAVED && call.positions.data != nullptr;
      const double position = lost ? 0 : static_cast<double>(position_of(call.positions, b, s));
      fill<bug>(cache, call, theta, position, 1);
      for (std::int64_t h = 0; h < operand.heads(); ++h) {
        const T* x = head_in<T>(operand, b, s, h);
        T* y = head_out<T>(operand, b, s, h);
        turn<bug>(call, cache, x, y);
        std::int64_t rest = block;
        if (bug == Bug::further_blocks_turned && call.pairing == ROPE_HALF_SPLIT) {
          for (std::int64_t n = 1; rest + block <= head_dim; ++n, rest += block) {
            fill<bug>(further, call, theta, position, std::pow(call.base, static_cast<double>(-n)));
            turn<bug>(call, further, x + rest, y + rest);
          }
        }
        if (bug == Bug::rest_by_dense_index) {
          x = static_cast<const T*>(operand.in.data) +
              ((b * operand.tokens() + s) * operand.heads() + h) * operand.head_dim();
        }
        for (std::int64_t i = rest; i < head_dim; ++i) y[i] = x[i];
      }
    }
  }
}

template <Bug bug>
void rotate(const rope_call& call) {
  const std::vector<double> theta = frequencies<bug>(call);
  for_operands<float, Half>(call, [&]<class T>(T, const Operand& x) { rotate_tensor<bug, T>(call, x, theta); });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_F16);
  all.position_dtypes = mask(ROPE_I32);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_COMPUTED);
  all.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LINEAR, ROPE_SCALING_YARN, ROPE_SCALING_LONGROPE);
  all.features =
      usual | with_positions | with_key |
      mask(ROPE_FEATURE_STRIDED, ROPE_FEATURE_ATTENTION_FACTOR, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_BACKWARD);
  all.max_position = 131072;
  return all;
}();

template <Bug bug>
constexpr rope_kernel token_cache(const char* name) {
  return kernel(name, "a cache of cos and sin for each token", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    token_cache<Bug::none>("token_cache"),
    token_cache<Bug::none_negated_sine>("token_cache-negated-sine"),
    token_cache<Bug::none_running_product>("token_cache-running-product"),
    token_cache<Bug::further_blocks_turned>("token_cache/further-blocks-turned"),
    token_cache<Bug::rest_by_dense_index>("token_cache/rest-by-dense-index"),
    token_cache<Bug::interleaved_positions_lost>("token_cache/interleaved-positions-lost"),
    token_cache<Bug::yarn_factor_on_top>("token_cache/yarn-factor-on-top"),
    token_cache<Bug::factors_for_theta>("token_cache/factors-for-theta"),
    token_cache<Bug::ramp_ends_exchanged>("token_cache/ramp-ends-exchanged"),
    token_cache<Bug::yarn_angles_concatenated>("token_cache/yarn-angles-concatenated"),
};

}  // namespace

Kernels token_cache_kernels() { return kernels; }

}  // namespace rope::designs::reported
