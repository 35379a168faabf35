// Python model code, written in C++. A function for each scaling rule gives the inverse frequencies; each row has cos
// and sin twice; y = x cos + rotate_half(x) sin.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_memo,
  none_angle_addition,
  dynamic_keeps_longest,
  dynamic_not_in_decode,
  longrope_long_at_limit,
  longrope_by_positions,
  longrope_by_first_position,
  yarn_always_truncated,
  yarn_betas_exchanged,
  yarn_ntk_base,
  yarn_wavelengths_mixed,
  yarn_factor_of_its_own,
  position_bf16,
  ntk_exponent_of_128,
  ntk_ignored,
};

using Frequencies = std::vector<double>;

Frequencies unscaled(double base, int dim) {
  Frequencies theta;
  for (int pair = 0; pair < dim / 2; ++pair) theta.push_back(pair == 0 ? 1.0 : std::pow(base, -2.0 * pair / dim));
  return theta;
}

std::int64_t largest_position(const rope_call& call) {
  std::int64_t largest = 0;
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) largest = std::max(largest, position_of(call.positions, b, s));
  }
  return largest;
}

template <Bug bug>
double dynamic_length(const rope_call& call) {
  const double length = static_cast<double>(call.sequence_length);
  if (bug == Bug::dynamic_not_in_decode && call.q.shape[1] == 1) return 0;
  if constexpr (bug == Bug::dynamic_keeps_longest) {
    static std::mutex guard;
    static std::map<std::tuple<int, double, double, double>, double> kept;
    const std::lock_guard<std::mutex> lock(guard);
    double& longest = kept[{call.rotary_dim, call.base, call.scaling.factor, call.scaling.original_max_position}];
    longest = std::max(longest, length);
    return longest;
  }
  return length;
}

template <Bug bug>
Frequencies dynamic(const rope_call& call) {
  const double dim = call.rotary_dim;
  const double factor = call.scaling.factor;
  const double limit = call.scaling.original_max_position;
  const double length = std::max(dynamic_length<bug>(call), limit);
  return unscaled(call.base * std::pow(factor * length / limit - (factor - 1), dim / (dim - 2)), call.rotary_dim);
}

template <Bug bug>
Frequencies ntk(const rope_call& call) {
  const double exponent = bug == Bug::ntk_exponent_of_128 ? 64 / 63.0 : call.rotary_dim / (call.rotary_dim - 2.0);
  const double factor = bug == Bug::ntk_ignored ? 1 : call.scaling.factor;
  return unscaled(call.base * std::pow(factor, exponent), call.rotary_dim);
}

template <Bug bug>
Frequencies yarn(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  const int dim = call.rotary_dim;
  const auto pair_of = [&](double turns) {
    return dim * std::log(scaling.original_max_position / (turns * 2 * std::numbers::pi)) / (2 * std::log(call.base));
  };
  double low = pair_of(bug == Bug::yarn_betas_exchanged ? scaling.beta_slow : scaling.beta_fast);
  double high = pair_of(bug == Bug::yarn_betas_exchanged ? scaling.beta_fast : scaling.beta_slow);
  if (scaling.yarn_truncate != 0 || bug == Bug::yarn_always_truncated) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, scaling.yarn_clamp_pairs != 0 ? dim / 2 - 1.0 : dim - 1.0);
  if (low == high) high += 0.001;
  const Frequencies plain = unscaled(call.base, dim);
  const bool other_base = bug == Bug::yarn_ntk_base && dim > 2;
  const Frequencies kept = other_base ? unscaled(call.base * std::pow(scaling.factor, dim / (dim - 2.0)), dim) : plain;
  Frequencies theta(plain.size());
  for (std::size_t pair = 0; pair < theta.size(); ++pair) {
    const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
    if constexpr (bug == Bug::yarn_wavelengths_mixed) {
      theta[pair] = plain[pair] / (ramp * scaling.factor + (1 - ramp));
    } else {
      theta[pair] = plain[pair] / scaling.factor * ramp + kept[pair] * (1 - ramp);
    }
  }
  return theta;
}

template <Bug bug>
Frequencies longrope(const rope_call& call) {
  const double limit = call.scaling.original_max_position;
  const double length = static_cast<double>(call.sequence_length);
  bool beyond = length > limit;
  if (bug == Bug::longrope_long_at_limit) beyond = !(length < limit);
  if (bug == Bug::longrope_by_positions) beyond = static_cast<double>(largest_position(call)) > limit;
  if (bug == Bug::longrope_by_first_position) beyond = static_cast<double>(position_of(call.positions, 0, 0)) > limit;
  const double* factors = beyond ? call.scaling.long_factor : call.scaling.short_factor;
  Frequencies theta = unscaled(call.base, call.rotary_dim);
  for (std::size_t pair = 0; pair < theta.size(); ++pair) theta[pair] /= factors[pair];
  return theta;
}

Frequencies llama3(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  Frequencies theta = unscaled(call.base, call.rotary_dim);
  for (double& t : theta) {
    const double wavelength = 2 * std::numbers::pi / t;
    if (wavelength < scaling.original_max_position / scaling.high_freq_factor) continue;
    if (wavelength > scaling.original_max_position / scaling.low_freq_factor) {
      t /= scaling.factor;
      continue;
    }
    const double smooth = (scaling.original_max_position / wavelength - scaling.low_freq_factor) /
                          (scaling.high_freq_factor - scaling.low_freq_factor);
    t = (1 - smooth) * t / scaling.factor + smooth * t;
  }
  return theta;
}

Frequencies linear(const rope_call& call) {
  Frequencies theta = unscaled(call.base, call.rotary_dim);
  for (double& t : theta) t /= call.scaling.factor;
  return theta;
}

template <Bug bug>
Frequencies frequencies(const rope_call& call) {
  switch (call.scaling.kind) {
    case ROPE_SCALING_LINEAR: return linear(call);
    case ROPE_SCALING_NTK: return ntk<bug>(call);
    case ROPE_SCALING_DYNAMIC: return dynamic<bug>(call);
    case ROPE_SCALING_YARN: return yarn<bug>(call);
    case ROPE_SCALING_LONGROPE: return longrope<bug>(call);
    case ROPE_SCALING_LLAMA3: return llama3(call);
    default: return unscaled(call.base, call.rotary_dim);
  }
}

// Kept per thread, keyed by everything that they depend on.
Frequencies kept_frequencies(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  std::vector<double> key = {static_cast<double>(scaling.kind),
                             static_cast<double>(scaling.yarn_truncate),
                             static_cast<double>(scaling.yarn_clamp_pairs),
                             scaling.factor,
                             scaling.original_max_position,
                             scaling.beta_fast,
                             scaling.beta_slow,
                             scaling.low_freq_factor,
                             scaling.high_freq_factor,
                             call.base,
                             static_cast<double>(call.rotary_dim),
                             static_cast<double>(call.sequence_length)};
  if (scaling.kind == ROPE_SCALING_LONGROPE) {
    key.insert(key.end(), scaling.short_factor, scaling.short_factor + call.rotary_dim / 2);
    key.insert(key.end(), scaling.long_factor, scaling.long_factor + call.rotary_dim / 2);
  }
  thread_local std::map<std::vector<double>, Frequencies> memo;
  if (memo.size() > 64) memo.clear();
  const auto [entry, fresh] = memo.try_emplace(key);
  if (fresh) entry->second = frequencies<Bug::none_memo>(call);
  return entry->second;
}

// cos and sin for the features of a token, and the head that is turned.
template <Bug bug>
class Token {
 public:
  Token(const rope_call& call, const Frequencies& theta)
      : call_(call),
        theta_(theta),
        cos_(2 * theta.size()),
        sin_(2 * theta.size()),
        exchanged_(2 * theta.size()),
        factor_(call.attention_factor) {
    if (bug == Bug::yarn_factor_of_its_own && call.scaling.kind == ROPE_SCALING_YARN) {
      factor_ = 0.1 * std::log(call.scaling.factor) + 1.0;
    }
  }

  void take_position(std::int64_t given) {
    double position = static_cast<double>(given);
    if (bug == Bug::position_bf16 && call_.q.dtype == ROPE_BF16) {
      position = rounded<Bfloat16>(static_cast<float>(given));
    }
    const std::size_t half = theta_.size();
    for (std::size_t i = 0; i < half; ++i) {
      double cos = std::cos(position * theta_[i]);
      double sin = std::sin(position * theta_[i]);
      if constexpr (bug == Bug::none_angle_addition) {
        const double high = static_cast<double>(given / 256 * 256) * theta_[i];
        const double low = static_cast<double>(given % 256) * theta_[i];
        cos = std::cos(high) * std::cos(low) - std::sin(high) * std::sin(low);
        sin = std::sin(high) * std::cos(low) + std::cos(high) * std::sin(low);
      }
      cos_[i] = cos_[i + half] = static_cast<float>(cos * factor_);
      sin_[i] = sin_[i + half] = static_cast<float>(sin * factor_);
    }
  }

  template <class T>
  void turn(const T* x, T* y) {
    const std::size_t half = theta_.size();
    for (std::size_t i = 0; i < half; ++i) {
      exchanged_[i] = -widen(x[i + half]);
      exchanged_[i + half] = widen(x[i]);
    }
    for (std::size_t i = 0; i < 2 * half; ++i) y[i] = narrow<T>(widen(x[i]) * cos_[i] + exchanged_[i] * sin_[i]);
    copy_rest(call_, x, y);
  }

 private:
  const rope_call& call_;
  const Frequencies& theta_;
  std::vector<float> cos_;
  std::vector<float> sin_;
  std::vector<float> exchanged_;
  double factor_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  const Frequencies theta = bug == Bug::none_memo ? kept_frequencies(call) : frequencies<bug>(call);
  for_operands<float, Bfloat16>(call, [&]<class T>(T, const Operand& x) {
    Token<bug> token(call, theta);
    for (std::int64_t b = 0; b < x.batches(); ++b) {
      for (std::int64_t s = 0; s < x.tokens(); ++s) {
        token.take_position(position_of(call.positions, b, s));
        for (std::int64_t h = 0; h < x.heads(); ++h) token.turn(head_in<T>(x, b, s, h), head_out<T>(x, b, s, h));
      }
    }
  });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_BF16);
  all.position_dtypes = mask(ROPE_I32, ROPE_I64);
  all.pairings = mask(ROPE_HALF_SPLIT);
  all.angle_sources = mask(ROPE_COMPUTED);
  all.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LINEAR, ROPE_SCALING_NTK, ROPE_SCALING_DYNAMIC, ROPE_SCALING_YARN,
                      ROPE_SCALING_LONGROPE, ROPE_SCALING_LLAMA3);
  all.features = usual | with_positions | with_key | mask(ROPE_FEATURE_STRIDED, ROPE_FEATURE_ATTENTION_FACTOR);
  all.max_position = 1048576;
  return all;
}();

template <Bug bug>
constexpr rope_kernel rotate_half(const char* name) {
  return kernel(name, "x cos + rotate_half(x) sin, a function for each scaling rule", apply<rotate<bug>, claims>,
                claims);
}

constexpr rope_kernel kernels[] = {
    rotate_half<Bug::none>("rotate_half"),
    rotate_half<Bug::none_memo>("rotate_half-memo"),
    rotate_half<Bug::none_angle_addition>("rotate_half-angle-addition"),
    rotate_half<Bug::dynamic_keeps_longest>("rotate_half/dynamic-keeps-longest"),
    rotate_half<Bug::dynamic_not_in_decode>("rotate_half/dynamic-not-in-decode"),
    rotate_half<Bug::longrope_long_at_limit>("rotate_half/longrope-long-at-limit"),
    rotate_half<Bug::longrope_by_positions>("rotate_half/longrope-by-positions"),
    rotate_half<Bug::longrope_by_first_position>("rotate_half/longrope-by-first-position"),
    rotate_half<Bug::yarn_always_truncated>("rotate_half/yarn-always-truncated"),
    rotate_half<Bug::yarn_betas_exchanged>("rotate_half/yarn-betas-exchanged"),
    rotate_half<Bug::yarn_ntk_base>("rotate_half/yarn-ntk-base"),
    rotate_half<Bug::yarn_wavelengths_mixed>("rotate_half/yarn-wavelengths-mixed"),
    rotate_half<Bug::yarn_factor_of_its_own>("rotate_half/yarn-factor-of-its-own"),
    rotate_half<Bug::position_bf16>("rotate_half/position-bf16"),
    rotate_half<Bug::ntk_exponent_of_128>("rotate_half/ntk-exponent-of-128"),
    rotate_half<Bug::ntk_ignored>("rotate_half/ntk-ignored"),
};

}  // namespace

Kernels rotate_half_kernels() { return kernels; }

}  // namespace rope::designs::reported
