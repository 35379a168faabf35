// Llama 3.1 compares the wavelength w = 2 pi/theta with the original length L. w < L/high_freq_factor keeps theta.
// w > L/low_freq_factor gets theta / factor. In between, the two are mixed in proportion to L/w.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Llama3 : UnitLambda {
  static constexpr std::string_view kind = "llama3";
  static constexpr std::string_view aliases[] = {"llama3"};
  static constexpr bool follows_length = false;
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  double original_max_position_embeddings = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required, above(0));
    visit("low_freq_factor", self.low_freq_factor, Presence::required, above(0));
    visit("high_freq_factor", self.high_freq_factor, Presence::required, above(0));
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required, above(0));
  }
  void check(const Setting&) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(original_max_position_embeddings > 0, "scaling.original_max_position_embeddings must be above 0",
            original_max_position_embeddings);
    require(low_freq_factor > 0 && high_freq_factor > low_freq_factor,
            "scaling.high_freq_factor must be above low_freq_factor, and both above 0");
  }

  static std::vector<Example<Llama3>> examples(int, double length) {
    // The first differs from every model's, so a kernel with built-in parameters fails.
    return {
        {{{}, 6, 2, 16, length}, usual_base}, {{{}, 8, 1, 4, length}, other_base}, {{{}, 8, 1, 4, 8192}, usual_base}};
  }
  static Llama3 fourfold(int, double length) { return {{}, 4, 1, 4, length}; }
  template <class Draw>
  static Llama3 drawn(Draw& draw, const Setting&) {
    Llama3 rule;
    rule.original_max_position_embeddings = draw.one_of({drawn_length, 8192.0});
    rule.factor = draw.one_of({8.0, 32.0, 6.5});
    rule.low_freq_factor = draw.one_of({1.0, 1.5});
    rule.high_freq_factor = draw.one_of({4.0, 10.5});
    return rule;
  }
  std::string words(double base) const {
    return fmt::format(
        "{}, factor {:.10g}, original length {:.10g} with low_freq_factor {:.6g}, high_freq_factor {:.6g}, base "
        "{:.10g}",
        kind, factor, original_max_position_embeddings, low_freq_factor, high_freq_factor, base);
  }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    const T original = T(original_max_position_embeddings);
    std::vector<T> result = unscaled(T(s.base), s.rotary_dim);
    for (T& value : result) {
      const T turns = original * value / (T(2) * pi<T>());
      if (turns > T(high_freq_factor)) continue;
      if (turns < T(low_freq_factor)) {
        value = value / T(factor);
      } else {
        const T mix = (turns - T(low_freq_factor)) / (T(high_freq_factor) - T(low_freq_factor));
        value = (T(1) - mix) * value / T(factor) + mix * value;
      }
    }
    return result;
  }

  friend bool operator==(const Llama3&, const Llama3&) = default;
};

}  // namespace rope::scaling
