// YaRN, Peng et al., arXiv 2309.00071, section 3.2. Fast pairs keep theta, slow pairs get theta / factor. A linear ramp
// over the pair index joins them: between the pairs that turn beta_fast and beta_slow times over the original length.
// Implementations disagree on three points. Each is a named mode here:
//   `truncate`     the ramp's ends are rounded outwards to whole pairs (Hugging Face's default), or not.
//   `clamp`        its upper end is at most rotary_dim - 1 (Hugging Face, the paper's code) or pairs - 1.
//   `mscale`, `mscale_all_dim` lambda = f(mscale)/f(mscale_all_dim), f(m) = 0.1 m ln(factor) + 1 (DeepSeek), if both
//                  are given and not 0; else f(1). `attention_factor` of the spec replaces either.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Yarn {
  static constexpr std::string_view kind = "yarn";
  static constexpr std::string_view aliases[] = {"yarn"};
  static constexpr bool follows_length = false;
  enum class Clamp { rotary_dim, pairs };
  friend constexpr std::array<std::pair<std::string_view, Clamp>, 2> words(Clamp) {
    return {{{"rotary_dim", Clamp::rotary_dim}, {"pairs", Clamp::pairs}}};
  }
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
    visit("factor", self.factor, Presence::required, above(0));
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required, above(0));
    visit("beta_fast", self.beta_fast, Presence::optional, above(0));
    visit("beta_slow", self.beta_slow, Presence::optional, above(0));
    visit("mscale", self.mscale, Presence::optional, anything);
    visit("mscale_all_dim", self.mscale_all_dim, Presence::optional, anything);
    visit("truncate", self.truncate, Presence::optional, anything);
    visit("clamp", self.clamp, Presence::optional, anything);
  }
  void check(const Setting& s) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(original_max_position_embeddings > 0, "scaling.original_max_position_embeddings must be above 0",
            original_max_position_embeddings);
    require(beta_fast > 0, "scaling.beta_fast must be above 0", beta_fast);
    require(beta_slow > 0, "scaling.beta_slow must be above 0", beta_slow);
    require(s.base > 1, "yarn needs a base above 1: it divides by ln(base)", s.base);
  }

  static std::vector<Example<Yarn>> examples(int, double length) {
    Yarn plain;
    plain.factor = 16;
    plain.original_max_position_embeddings = length;
    Yarn turning = plain;  // differs from every model's, so a kernel with built-in parameters fails
    turning.beta_fast = 20;
    turning.beta_slow = 2.5;
    Yarn exact = plain;
    exact.truncate = false;
    exact.mscale = 1;
    exact.mscale_all_dim = 0.5;
    // The ramp's upper end lies past the last pair, where the two ways to clamp it differ.
    Yarn wide = plain;
    wide.original_max_position_embeddings = 262144;
    Yarn clamped = wide;
    clamped.clamp = Clamp::pairs;
    Yarn both = exact;
    both.clamp = Clamp::pairs;
    // No pair turns beta_fast times over so short a length: the ramp would begin before pair 0.
    Yarn brief = plain;
    brief.original_max_position_embeddings = 100;
    // With the other base wide heads do not reach the clamp. The usual base shows whether a kernel reads it at all.
    return {{turning, other_base}, {plain, usual_base},   {exact, other_base}, {wide, usual_base},
            {clamped, other_base}, {clamped, usual_base}, {both, usual_base},  {brief, usual_base}};
  }
  static Yarn fourfold(int, double length) {
    Yarn rule;
    rule.factor = 4;
    rule.original_max_position_embeddings = length;
    return rule;
  }
  template <class Draw>
  static Yarn drawn(Draw& draw, const Setting&) {
    Yarn rule;
    rule.factor = draw.one_of({4.0, 16.0, 40.0});
    rule.original_max_position_embeddings = draw.one_of({drawn_length, 4096.0, 32768.0, 163840.0});
    rule.truncate = !draw.one_in(3);
    rule.beta_fast = draw.one_of({32.0, 24.5});
    rule.beta_slow = draw.one_of({1.0, 1.75});
    rule.clamp = draw.one_in(3) ? Clamp::pairs : Clamp::rotary_dim;
    if (draw.one_in(3)) {
      rule.mscale = draw.one_of({1.0, 0.8});
      rule.mscale_all_dim = 0.707;
    }
    return rule;
  }
  std::string words(double base) const {
    return fmt::format(
        "{}, factor {:.10g}, original length {:.10g} with beta_fast {:.5g}, beta_slow {:.5g}, {}, base {:.10g}", kind,
        factor, original_max_position_embeddings, beta_fast, beta_slow, truncate ? "truncated" : "not truncated", base);
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
    if (low == high) high = high + T(0.001);  // as in every implementation: avoids a division by zero
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
