// Random RopeSpecs for properties, every scaling rule equally likely, and the equality of two specs.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "reference/axis_orders.hpp"
#include "reference/rope_spec.hpp"

namespace rope::test {

// Every order of magnitude equally likely, all 53 bits in use.
inline double between(double low, double high) {
  const auto draw = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{1} << 53);
  return low * std::pow(high / low, static_cast<double>(draw) * 0x1p-53);
}
inline bool coin() { return *rc::gen::inRange(0, 2) == 1; }

// The numbers from which a rule draws its parameters.
struct Draw {
  std::int64_t below(std::int64_t n) { return *rc::gen::inRange<std::int64_t>(0, n); }
  bool one_in(int n) { return below(n) == 0; }
  double one_of(const std::vector<double>& values) { return *rc::gen::elementOf(values); }
};

// A rule with parameters as in models, valid for a spec of that many pairs. A wider range than the rule's own draw.
inline Scaling any_rule(std::size_t kind, int pairs) {
  const double length = between(16, 1 << 20);
  switch (kind) {
    case 1: return scaling::Linear{{}, between(0.25, 64)};
    case 2: return scaling::Ntk{{}, between(0.5, 64)};
    case 3: return scaling::Dynamic{{}, between(1, 16), length};
    case 4: {
      scaling::Yarn rule;
      rule.factor = between(0.5, 64);
      rule.original_max_position_embeddings = length;
      rule.beta_fast = between(4, 64);
      rule.beta_slow = between(0.25, 4);
      if (coin()) rule.mscale = between(0.25, 2), rule.mscale_all_dim = between(0.25, 2);
      rule.truncate = coin();
      rule.clamp = coin() ? scaling::Yarn::Clamp::pairs : scaling::Yarn::Clamp::rotary_dim;
      return rule;
    }
    case 5: {
      scaling::LongRope rule;
      rule.factor = between(0.5, 64);
      rule.original_max_position_embeddings = length;
      for (int p = 0; p < pairs; ++p) {
        rule.short_factor.push_back(between(0.5, 4));
        rule.long_factor.push_back(between(0.5, 64));
      }
      return rule;
    }
    case 6: {
      const double low = between(0.25, 4);
      return scaling::Llama3{{}, between(0.5, 64), low, low * between(1.5, 8), length};
    }
    case 7: return scaling::Proportional{{}, between(0.5, 16), between(0.125, 1)};
    case 8: return scaling::Pixel{{}, between(0.5, 512)};
    default: {
      Draw draw;
      Scaling rule = rule_of_kind(static_cast<std::int64_t>(kind));
      std::visit([&](auto& r) { r = r.drawn(draw, {2 * pairs, 2 * pairs, 10000, 0}); }, rule);
      return rule;
    }
  }
}

inline AxisLayout any_axes(int pairs) {
  AxisLayout axes;
  const int count = *rc::gen::inRange(0, 4);
  int left = pairs;
  for (int a = 0; a < count; ++a) {
    axes.sections.push_back(a + 1 == count ? left : *rc::gen::inRange(0, left + 1));
    left -= axes.sections.back();
  }
  if (count > 0) axes.order = axis_orders()[*rc::gen::inRange<std::size_t>(0, axis_orders().size())].order;
  return axes;
}

// Any spec of a scaling rule that validate() accepts; without xPos, which only JSON can express, and without a restart.
inline RopeSpec any_spec_of(std::size_t kind) {
  RopeSpec spec;
  const bool two_pairs = kind == 2 || kind == 3;  // their exponent is r/(r-2)
  const int pairs = *rc::gen::inRange(two_pairs ? 2 : 1, 41);
  spec.rotary_dim = 2 * pairs;
  spec.head_dim = spec.rotary_dim + (kind == 7 ? 0 : *rc::gen::inRange(0, 33));
  spec.pairing = coin() ? Pairing::half_split : Pairing::interleaved;
  spec.base = between(2, 1e7);
  spec.scaling = any_rule(kind, pairs);
  spec.axes = any_axes(pairs);
  if (coin()) spec.attention_factor = between(0.25, 4);
  return spec;
}

inline RopeSpec any_spec() { return any_spec_of(*rc::gen::inRange<std::size_t>(0, std::variant_size_v<Scaling>)); }

inline bool same(const RopeSpec& a, const RopeSpec& b) {
  const auto plain = [](const RopeSpec& s) {
    return std::tuple(s.head_dim, s.rotary_dim, s.pairing, s.base, s.axes.sections, s.axes.order, s.axes.restart,
                      s.attention_factor);
  };
  const auto xpos = [](const RopeSpec& s) {
    const XPos x = s.xpos.value_or(XPos{});
    return std::tuple(s.xpos.has_value(), x.gamma, x.scale_base, x.center);
  };
  return plain(a) == plain(b) && a.scaling == b.scaling && xpos(a) == xpos(b);
}

}  // namespace rope::test
