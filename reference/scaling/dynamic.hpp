// Dynamic NTK (emozilla): the base grows with the length n beyond the original one L:
// base * (factor * n/L - (factor - 1))^(r/(r-2)). Up to and including L nothing changes.
#pragma once

#include <algorithm>

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Dynamic : UnitLambda {
  static constexpr std::string_view kind = "dynamic";
  static constexpr std::string_view aliases[] = {"dynamic_ntk"};
  static constexpr bool follows_length = true;
  double factor = 1;
  double original_max_position_embeddings = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required, at_least(1));
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required, above(0));
  }
  void check(const Setting& s) const {
    require(factor >= 1, "scaling.factor must be at least 1", factor);
    require(original_max_position_embeddings > 0, "scaling.original_max_position_embeddings must be above 0",
            original_max_position_embeddings);
    require(s.rotary_dim > 2, "dynamic scaling needs rotary_dim above 2: its exponent is r/(r-2)", s.rotary_dim);
  }

  static std::vector<Example<Dynamic>> examples(int, double length) { return {{{{}, 4, length}, usual_base}}; }
  static Dynamic fourfold(int, double length) { return {{}, 4, length}; }
  template <class Draw>
  static Dynamic drawn(Draw& draw, const Setting&) {
    return {{}, draw.one_of({2.0, 3.5}), drawn_length};
  }
  std::string words(double base) const {
    return fmt::format("{}, factor {:.10g}, original length {:.10g}, base {:.10g}", kind, factor,
                       original_max_position_embeddings, base);
  }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    const T original = T(original_max_position_embeddings);
    const T length = std::max(T(s.sequence_length), original);
    const T stretch = T(factor) * length / original - (T(factor) - T(1));
    return unscaled(stretched_base(s.base, stretch, s.rotary_dim), s.rotary_dim);
  }

  friend bool operator==(const Dynamic&, const Dynamic&) = default;
};

}  // namespace rope::scaling
