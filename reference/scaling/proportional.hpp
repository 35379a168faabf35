// "proportional" in Hugging Face (Gemma): frequencies are spaced over the whole head. Only the first
// floor(proportion * head_dim / 2) pairs turn; the others have theta 0, which leaves them as they are.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Proportional : UnitLambda {
  static constexpr std::string_view kind = "proportional";
  static constexpr std::string_view aliases[] = {"proportional"};
  static constexpr bool follows_length = false;
  double factor = 1;
  double proportion = 1;  // Hugging Face's partial_rotary_factor

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::optional, above(0));
    visit("proportion", self.proportion, Presence::required, from_to(0, 1));
  }
  void check(const Setting& s) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(proportion >= 0 && proportion <= 1, "scaling.proportion must be 0 to 1", proportion);
    require(s.rotary_dim == s.head_dim, "proportional scaling needs rotary_dim equal to head_dim", s.rotary_dim);
  }

  static std::vector<Example<Proportional>> examples(int, double) {
    return {{{{}, 1, 0.5}, other_base}, {{{}, 1, 0.3}, usual_base}};  // the second ends within a pair
  }
  template <class Draw>
  static Proportional drawn(Draw& draw, const Setting&) {
    Proportional rule;
    rule.proportion = draw.one_of({0.25, 0.5});
    rule.factor = draw.one_of({1.0, 8.0});
    return rule;
  }
  std::string words(double base) const {
    return fmt::format("{}, proportion {:.6g}, factor {:.10g}, base {:.10g}", kind, proportion, factor, base);
  }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    const auto turning = static_cast<std::size_t>(std::floor(proportion * s.head_dim / 2));
    std::vector<T> result = unscaled(T(s.base), s.head_dim);
    for (std::size_t p = 0; p < result.size(); ++p) result[p] = p < turning ? result[p] / T(factor) : T(0);
    return result;
  }

  friend bool operator==(const Proportional&, const Proportional&) = default;
};

}  // namespace rope::scaling
