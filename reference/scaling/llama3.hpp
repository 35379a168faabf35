// Llama 3.1 compares the wavelength w = 2 pi/theta with the original length L. w < L/high_freq_factor keeps theta.
// w > L/low_freq_factor gets theta / factor. In between, the two are mixed in proportion to L/w.
//
// Llama 4 has low_freq_factor = high_freq_factor. Then nothing is in between: the limit of the formula is a step at
// w = L/high_freq_factor. Meta's and Hugging Face's code compute that step, and 0/0 for a pair that lies on it. No pair
// does, because pi is transcendental. One that lies too near, where rounding decides, is refused.
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
  void check(const Setting& s) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(original_max_position_embeddings > 0, "scaling.original_max_position_embeddings must be above 0",
            original_max_position_embeddings);
    require(low_freq_factor > 0 && high_freq_factor >= low_freq_factor,
            "scaling.high_freq_factor must be at least low_freq_factor, and both above 0");
    if (high_freq_factor > low_freq_factor) return;
    constexpr double too_near = 0x1p-14;  // more than theta in f32 can be off
    for (const double value : unscaled<double>(s.base, s.rotary_dim)) {
      const double turns = original_max_position_embeddings * value / (2 * pi<double>());
      require(std::abs(turns / high_freq_factor - 1) > too_near,
              "scaling.high_freq_factor equals low_freq_factor, so one pair lies on the step between them, where "
              "rounding decides; give another original_max_position_embeddings");
    }
  }

  static std::vector<Example<Llama3>> examples(int, double length) {
    // The first differs from every model's, so a kernel with built-in parameters fails.
    // The last has no band between its limits, so a formula that divides by its width must not be used.
    return {{{{}, 6, 2, 16, length}, usual_base},
            {{{}, 8, 1, 4, length}, other_base},
            {{{}, 8, 1, 4, 8192}, usual_base},
            {{{}, 8, 4, 4, length}, usual_base}};
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
      if (turns >= T(high_freq_factor)) continue;  // and at the step, so that nothing is divided by 0
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
