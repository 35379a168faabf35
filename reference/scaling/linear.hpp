// Position interpolation, Chen et al., arXiv 2306.15595: theta / factor. The same as dividing positions by the factor.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Linear : UnitLambda {
  static constexpr std::string_view kind = "linear";
  static constexpr std::string_view aliases[] = {"interpolate"};  // lucidrains
  static constexpr bool follows_length = false;
  double factor = 1;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required, above(0));
  }
  void check(const Setting&) const { require(factor > 0, "scaling.factor must be above 0", factor); }

  static std::vector<Example<Linear>> examples(int, double) { return {{{{}, 8}, other_base}, {{{}, 2.5}, usual_base}}; }
  static Linear fourfold(int, double) { return {{}, 4}; }
  template <class Draw>
  static Linear drawn(Draw& draw, const Setting&) {
    return {{}, draw.one_of({2.0, 4.0, 8.0, 2.5})};
  }
  std::string words(double base) const { return fmt::format("{}, factor {:.10g}, base {:.10g}", kind, factor, base); }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    std::vector<T> result = unscaled(T(s.base), s.rotary_dim);
    for (T& value : result) value = value / T(factor);
    return result;
  }

  friend bool operator==(const Linear&, const Linear&) = default;
};

}  // namespace rope::scaling
