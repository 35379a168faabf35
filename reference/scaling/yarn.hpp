// YaRN, Peng et al., arXiv 2309.00071, section 3.2: fast pairs keep theta, slow pairs get theta / factor, and a linear
// ramp over the pair index joins them between the pairs that turn beta_fast and beta_slow times over the original
// length. Implementations disagree on three points; each is a named mode here:
//   truncate       the ramp's ends are rounded outwards to whole pairs (Hugging Face's default) or not
//   clamp          its upper end is at most rotary_dim - 1 (Hugging Face, the paper's code) or pairs - 1
//   mscale, mscale_all_dim   lambda = f(mscale)/f(mscale_all_dim), f(m) = 0.1 m ln(factor) + 1 (DeepSeek), where both
//                  are given and not 0; else f(1). `attention_factor` of the spec replaces either.
#pragma once

#include <algorithm>

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Yarn {
  static constexpr std::string_view kind = "yarn";
  static constexpr std::string_view aliases[] = {"yarn"};
  enum class Clamp { rotary_dim, pairs };
  double factor = 1;
  double original_max_position_embeddings = 0;
  double beta_fast = 32;
  double beta_slow = 1;
  double mscale = 0;
  double mscale_all_dim = 0;
  bool truncate = true;
  Clamp clamp = Clamp::rotary_dim;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required);
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required);
    visit("beta_fast", self.beta_fast, Presence::optional);
    visit("beta_slow", self.beta_slow, Presence::optional);
    visit("mscale", self.mscale, Presence::optional);
    visit("mscale_all_dim", self.mscale_all_dim, Presence::optional);
    visit("truncate", self.truncate, Presence::optional);
    visit("clamp", self.clamp, Presence::optional);
  }
  void check(const Setting& s) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(original_max_position_embeddings > 0, "scaling.original_max_position_embeddings must be above 0",
            original_max_position_embeddings);
    require(beta_fast > 0, "scaling.beta_fast must be above 0", beta_fast);
    require(beta_slow > 0, "scaling.beta_slow must be above 0", beta_slow);
    require(s.base > 1, "yarn needs a base above 1: it divides by ln(base)", s.base);
  }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    using std::ceil;
    using std::floor;
    std::vector<T> result = unscaled(T(s.base), s.rotary_dim);
    T low = pair_that_turns<T>(beta_fast, s);
    T high = pair_that_turns<T>(beta_slow, s);
    if (truncate) {
      low = floor(low);
      high = ceil(high);
    }
    low = std::max(low, T(0));
    high = std::min(high, T(clamp == Clamp::pairs ? s.rotary_dim / 2 - 1 : s.rotary_dim - 1));
    if (low == high) high = high + T(0.001);  // as in every implementation: no division by zero
    for (std::size_t p = 0; p < result.size(); ++p) {
      const T ramp = std::clamp((T(static_cast<int>(p)) - low) / (high - low), T(0), T(1));
      result[p] = result[p] / T(factor) * ramp + result[p] * (T(1) - ramp);
    }
    return result;
  }

  template <class T>
  T lambda(const Setting&) const {
    if (mscale != 0 && mscale_all_dim != 0) return temperature<T>(mscale) / temperature<T>(mscale_all_dim);
    return temperature<T>(1);
  }

 private:
  // The (real) pair index whose wavelength goes `turns` times into the original length.
  template <class T>
  T pair_that_turns(double turns, const Setting& s) const {
    using std::log;
    const T ratio = T(original_max_position_embeddings) / (T(turns) * T(2) * pi<T>());
    return T(s.rotary_dim) * log(ratio) / (T(2) * log(T(s.base)));
  }

  template <class T>
  T temperature(double m) const {
    using std::log;
    if (factor <= 1) return T(1);
    return T(m) * log(T(factor)) / T(10) + T(1);
  }

  friend bool operator==(const Yarn&, const Yarn&) = default;
};

}  // namespace rope::scaling
