// Position interpolation, Chen et al., arXiv 2306.15595: theta / factor. The same as dividing positions by the factor.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Linear : UnitLambda {
  static constexpr std::string_view kind = "linear";
  static constexpr std::string_view aliases[] = {"interpolate"};  // lucidrains
  double factor = 1;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required);
  }
  void check(const Setting&) const { require(factor > 0, "scaling.factor must be above 0", factor); }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    std::vector<T> result = unscaled(T(s.base), s.rotary_dim);
    for (T& value : result) value = value / T(factor);
    return result;
  }

  friend bool operator==(const Linear&, const Linear&) = default;
};

}  // namespace rope::scaling
