// lucidrains' freqs_for="constant": theta = 1 for every pair; base is not used.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Constant : UnitLambda {
  static constexpr std::string_view kind = "constant";
  static constexpr std::string_view aliases[] = {"constant"};
  static constexpr bool follows_length = false;

  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
  void check(const Setting&) const {}

  static std::vector<Example<Constant>> examples(int, double) { return {{{}, usual_base}}; }
  template <class Draw>
  static Constant drawn(Draw&, const Setting&) {
    return {};
  }
  std::string words(double) const { return "constant: every pair turns one radian a position"; }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    return std::vector<T>(static_cast<std::size_t>(s.rotary_dim / 2), T(1));
  }

  friend bool operator==(const Constant&, const Constant&) = default;
};

}  // namespace rope::scaling
