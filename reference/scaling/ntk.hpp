// NTK-aware scaling (bloc97): base * factor^(r/(r-2)) at every length. lucidrains calls it theta_rescale_factor.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Ntk : UnitLambda {
  static constexpr std::string_view kind = "ntk";
  static constexpr std::string_view aliases[] = {"theta_rescale"};
  static constexpr bool follows_length = false;
  double factor = 1;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required, above(0));
  }
  void check(const Setting& s) const {
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(s.rotary_dim > 2, "ntk scaling needs rotary_dim above 2: its exponent is r/(r-2)", s.rotary_dim);
  }

  static std::vector<Example<Ntk>> examples(int, double) { return {{{{}, 4}, other_base}}; }
  static Ntk fourfold(int, double) { return {{}, 4}; }
  template <class Draw>
  static Ntk drawn(Draw& draw, const Setting&) {
    return {{}, draw.one_of({2.0, 4.0, 2.5})};
  }
  std::string words(double base) const { return fmt::format("{}, factor {:.10g}, base {:.10g}", kind, factor, base); }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    return unscaled(stretched_base(s.base, T(factor), s.rotary_dim), s.rotary_dim);
  }

  friend bool operator==(const Ntk&, const Ntk&) = default;
};

}  // namespace rope::scaling
