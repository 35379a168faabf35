// lucidrains' freqs_for="pixel": theta runs evenly from pi to pi * max_frequency/2; base is not used. Positions are
// then coordinates in -1 .. 1, here integers.
#pragma once

#include "reference/scaling/setting.hpp"

namespace rope::scaling {

struct Pixel : UnitLambda {
  static constexpr std::string_view kind = "pixel";
  static constexpr std::string_view aliases[] = {"pixel"};
  static constexpr bool follows_length = false;
  double max_frequency = 10;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("max_frequency", self.max_frequency, Presence::optional, above(0));
  }
  void check(const Setting&) const {
    require(max_frequency > 0, "scaling.max_frequency must be above 0", max_frequency);
  }

  static std::vector<Example<Pixel>> examples(int, double) { return {{{{}, 20}, other_base}, {{{}, 10}, other_base}}; }
  template <class Draw>
  static Pixel drawn(Draw& draw, const Setting&) {
    return {{}, draw.one_of({10.0, 256.0, 20.5})};
  }
  std::string words(double) const { return fmt::format("{}, max_frequency {:.10g}", kind, max_frequency); }

  template <class T>
  std::vector<T> theta(const Setting& s) const {
    const int pairs = s.rotary_dim / 2;
    std::vector<T> result;
    for (int p = 0; p < pairs; ++p) {
      const T fraction = pairs == 1 ? T(0) : T(p) / T(pairs - 1);
      result.push_back((T(1) + (T(max_frequency) / T(2) - T(1)) * fraction) * pi<T>());
    }
    return result;
  }

  friend bool operator==(const Pixel&, const Pixel&) = default;
};

}  // namespace rope::scaling
