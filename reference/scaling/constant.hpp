// lucidrains' freqs_for="constant": theta = 1 for every pair; base is not used.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Constant : UnitLambda {
  static constexpr std::string_view kind = "constant";
  static constexpr std::string_view aliases[] = {"constant"};

  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
  void check(const Setting&) const {}

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    return std::vector<T>(static_cast<std::size_t>(s.rotary_dim / 2), T(1));
  }

  friend bool operator==(const Constant&, const Constant&) = default;
};

}  // namespace rope::scaling
