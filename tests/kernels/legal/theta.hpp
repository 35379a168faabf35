// The frequencies of a call, with every operation in the type that the kernel works in. The scaling rules are written
// as Hugging Face and lucidrains write them; reference/scaling has another order of operations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope::legal {

// base^(-2p/r) for p = 0 .. count-1, four ways.
struct Power {
  template <class W>
  static std::vector<W> unscaled(W base, int r, std::size_t count) {
    std::vector<W> theta;
    for (std::size_t p = 0; p < count; ++p) theta.push_back(std::pow(base, -exponent<W>(p, r)));
    return theta;
  }

  template <class W>
  static W exponent(std::size_t pair, int r) {
    return static_cast<W>(2 * pair) / static_cast<W>(r);
  }
};

struct Reciprocal {
  template <class W>
  static std::vector<W> unscaled(W base, int r, std::size_t count) {
    std::vector<W> theta;
    for (std::size_t p = 0; p < count; ++p) theta.push_back(1 / std::pow(base, Power::exponent<W>(p, r)));
    return theta;
  }
};

struct Exponential {
  template <class W>
  static std::vector<W> unscaled(W base, int r, std::size_t count) {
    std::vector<W> theta;
    for (std::size_t p = 0; p < count; ++p) theta.push_back(std::exp(-Power::exponent<W>(p, r) * std::log(base)));
    return theta;
  }
};

struct Recurrence {
  template <class W>
  static std::vector<W> unscaled(W base, int r, std::size_t count) {
    const W step = std::pow(base, W(-2) / static_cast<W>(r));
    std::vector<W> theta(count, W(1));
    for (std::size_t p = 1; p < count; ++p) theta[p] = theta[p - 1] * step;
    return theta;
  }
};

template <class W, class By>
class Theta {
 public:
  explicit Theta(const rope_call& call)
      : rule_(call.scaling),
        r_(call.rotary_dim),
        pairs_(static_cast<std::size_t>(r_ / 2)),
        base_(static_cast<W>(call.base)),
        factor_(static_cast<W>(rule_.factor)),
        original_(static_cast<W>(rule_.original_max_position)),
        length_(call.sequence_length) {}

  std::vector<W> all() const {
    switch (rule_.kind) {
      case ROPE_SCALING_LINEAR: return divided(plain(base_), [&](std::size_t) { return factor_; });
      case ROPE_SCALING_NTK: return plain(stretched(factor_));
      case ROPE_SCALING_DYNAMIC: return dynamic();
      case ROPE_SCALING_YARN: return yarn();
      case ROPE_SCALING_LONGROPE: return longrope();
      case ROPE_SCALING_LLAMA3: return llama3();
      case ROPE_SCALING_PROPORTIONAL: return proportional();
      case ROPE_SCALING_PIXEL: return pixel();
      case ROPE_SCALING_CONSTANT: return std::vector<W>(pairs_, W(1));
      default: return plain(base_);
    }
  }

 private:
  std::vector<W> plain(W base) const { return By::template unscaled<W>(base, r_, pairs_); }

  template <class Divisor>
  static std::vector<W> divided(std::vector<W> theta, Divisor&& divisor) {
    for (std::size_t p = 0; p < theta.size(); ++p) theta[p] /= divisor(p);
    return theta;
  }

  W stretched(W factor) const { return base_ * std::pow(factor, static_cast<W>(r_) / static_cast<W>(r_ - 2)); }

  std::vector<W> dynamic() const {
    const W length = static_cast<W>(length_);
    return plain(length > original_ ? stretched(factor_ * length / original_ - (factor_ - 1)) : base_);
  }

  // The pair (a real number) that makes this many turns over the original length.
  W pair_that_turns(double turns) const {
    const W two_pi = 2 * std::numbers::pi_v<W>;
    return static_cast<W>(r_) * std::log(original_ / (static_cast<W>(turns) * two_pi)) / (2 * std::log(base_));
  }

  std::vector<W> yarn() const {
    W low = pair_that_turns(rule_.beta_fast);
    W high = pair_that_turns(rule_.beta_slow);
    if (rule_.yarn_truncate != 0) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, W(0));
    high = std::min(high, static_cast<W>(rule_.yarn_clamp_pairs != 0 ? r_ / 2 - 1 : r_ - 1));
    if (low == high) high += W(0.001);
    std::vector<W> theta = plain(base_);
    for (std::size_t p = 0; p < pairs_; ++p) {
      const W ramp = std::clamp((static_cast<W>(p) - low) / (high - low), W(0), W(1));
      const W kept = 1 - ramp;
      theta[p] = theta[p] / factor_ * ramp + theta[p] * kept;
    }
    return theta;
  }

  std::vector<W> longrope() const {
    const bool is_long = static_cast<double>(length_) > rule_.original_max_position;
    const double* factors = is_long ? rule_.long_factor : rule_.short_factor;
    return divided(plain(base_), [&](std::size_t p) { return static_cast<W>(factors[p]); });
  }

  std::vector<W> llama3() const {
    const W low = static_cast<W>(rule_.low_freq_factor);
    const W high = static_cast<W>(rule_.high_freq_factor);
    std::vector<W> theta = plain(base_);
    for (W& value : theta) {
      const W wavelength = 2 * std::numbers::pi_v<W> / value;
      if (wavelength > original_ / low) {
        value /= factor_;
      } else if (wavelength >= original_ / high) {
        const W smooth = (original_ / wavelength - low) / (high - low);
        value = (1 - smooth) * (value / factor_) + smooth * value;
      }
    }
    return theta;
  }

  std::vector<W> proportional() const {
    const auto turning = static_cast<std::size_t>(std::floor(rule_.proportion * r_ / 2));
    std::vector<W> theta = divided(plain(base_), [&](std::size_t) { return factor_; });
    std::fill(theta.begin() + static_cast<std::ptrdiff_t>(turning), theta.end(), W(0));
    return theta;
  }

  std::vector<W> pixel() const {
    const W last = static_cast<W>(rule_.max_frequency) / 2;
    const W step = pairs_ == 1 ? W(0) : (last - 1) / static_cast<W>(pairs_ - 1);
    std::vector<W> theta;
    for (std::size_t p = 0; p < pairs_; ++p) theta.push_back((1 + step * static_cast<W>(p)) * std::numbers::pi_v<W>);
    return theta;
  }

  const rope_scaling& rule_;
  int r_;
  std::size_t pairs_;
  W base_;
  W factor_;
  W original_;
  std::int64_t length_;
};

}  // namespace rope::legal
