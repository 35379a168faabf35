// No scaling: theta = base^(-2p/r).
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct None : UnitLambda {
  static constexpr std::string_view kind = "none";
  static constexpr std::string_view aliases[] = {"default"};
  static constexpr bool follows_length = false;

  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
  void check(const Setting&) const {}

  static std::vector<Example<None>> examples(int, double) { return {}; }
  template <class Draw>
  static None drawn(Draw&, const Setting&) {
    return {};
  }
  std::string words(double base) const { return fmt::format("base {:.10g}", base); }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    return unscaled(T(s.base), s.rotary_dim);
  }

  friend bool operator==(const None&, const None&) = default;
};

}  // namespace rope::scaling
