// LongRoPE, Ding et al., arXiv 2402.13753, as Phi-3 uses it: each pair has its own factor. One list applies up to and
// including the original length, another beyond. lambda = sqrt(1 + ln(factor)/ln(original length)) at every length.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct LongRope {
  static constexpr std::string_view kind = "longrope";
  static constexpr std::string_view aliases[] = {"su"};
  static constexpr bool follows_length = true;
  double factor = 1;  // maximum length / original length
  double original_max_position_embeddings = 0;
  std::vector<double> short_factor;  // rotary_dim/2 each
  std::vector<double> long_factor;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("factor", self.factor, Presence::required, above(0));
    visit("original_max_position_embeddings", self.original_max_position_embeddings, Presence::required, above(1));
    visit("short_factor", self.short_factor, Presence::required, above(0));
    visit("long_factor", self.long_factor, Presence::required, above(0));
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

  static std::vector<Example<LongRope>> examples(int pairs, double length) {
    LongRope rule{32, length, {}, {}};
    for (int p = 0; p < pairs; ++p) {
      rule.short_factor.push_back(1 + 0.015625 * p);
      rule.long_factor.push_back(1.5 + 0.25 * p);
    }
    return {{rule, usual_base}};
  }
  static LongRope fourfold(int pairs, double length) {
    const auto count = static_cast<std::size_t>(pairs);
    return {4, length, std::vector<double>(count, 1.25), std::vector<double>(count, 3.5)};
  }
  template <class Draw>
  static LongRope drawn(Draw& draw, const Setting& s) {
    LongRope rule{draw.one_of({32.0, 6.5}), drawn_length, {}, {}};
    for (int p = 0; p < s.rotary_dim / 2; ++p) {
      rule.short_factor.push_back(1 + 0.015625 * p);
      rule.long_factor.push_back(1.5 + 0.5 * p);
    }
    return rule;
  }
  std::string words(double base) const {
    return fmt::format(
        "{}: a factor of its own for each pair, {:.5g} .. {:.5g} at short lengths, {:.5g} .. {:.5g} at long ones, base "
        "{:.10g}",
        kind, short_factor.front(), short_factor.back(), long_factor.front(), long_factor.back(), base);
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
