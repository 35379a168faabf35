// LongRoPE, Ding et al., arXiv 2402.13753, as Phi-3 uses it: a factor of its own for each pair, one list up to and
// including the original length, another beyond. lambda = sqrt(1 + ln(factor)/ln(original length)) at every length.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct LongRope {
  static constexpr std::string_view kind = "longrope";
  static constexpr std::string_view aliases[] = {"su"};
  double factor = 1;  // maximum length / original length
  double original_max_position_embeddings = 0;
  std::vector<double> short_factor;  // rotary_dim/2 each
  std::vector<double> long_factor;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required);
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required);
    visit("short_factor", self.short_factor, Presence::required);
    visit("long_factor", self.long_factor, Presence::required);
  }
  void check(const Setting& s) const {
    const auto pairs = static_cast<std::size_t>(s.rotary_dim / 2);
    require(factor > 0, "scaling.factor must be above 0", factor);
    require(original_max_position_embeddings > 1, "scaling.original_max_position_embeddings must be above 1",
            original_max_position_embeddings);
    require(short_factor.size() == pairs, "scaling.short_factor must hold rotary_dim/2 values");
    require(long_factor.size() == pairs, "scaling.long_factor must hold rotary_dim/2 values");
    for (const auto* list : {&short_factor, &long_factor}) {
      for (double value : *list) require(value > 0, "scaling.short_factor and long_factor must be above 0", value);
    }
  }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    const bool is_long = static_cast<double>(s.sequence_length) > original_max_position_embeddings;
    const std::vector<double>& divisor = is_long ? long_factor : short_factor;
    std::vector<T> result = unscaled(T(s.base), s.rotary_dim);
    for (std::size_t p = 0; p < result.size(); ++p) result[p] = result[p] / T(divisor[p]);
    return result;
  }

  template <class T>
  T lambda(const Setting&) const {
    using std::log;
    using std::sqrt;
    if (factor <= 1) return T(1);
    return sqrt(T(1) + log(T(factor)) / log(T(original_max_position_embeddings)));
  }

  friend bool operator==(const LongRope&, const LongRope&) = default;
};

}  // namespace rope::scaling
