// Which axis's position a pair follows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

bool several_axes(const Call& call) { return call.axes > 1; }

void add_axis(Hypotheses& all, std::string sentence, std::function<void(const Call&, std::vector<int>&)> change) {
  Hypothesis h{.bug_class = BugClass::multi_axis, .sentence = std::move(sentence), .applies = several_axes};
  h.change.params = [=](const Call& call, Params& p) { change(call, p.axis); };
  all.push_back(std::move(h));
}

void add_exchanged_axes(Hypotheses& all) {
  add_axis(all, "the last two axes are exchanged", [](const Call& call, std::vector<int>& axis) {
    for (int& a : axis) a = a == call.axes - 1 ? call.axes - 2 : a == call.axes - 2 ? call.axes - 1 : a;
  });
  add_axis(all, "the first two axes are exchanged", [](const Call&, std::vector<int>& axis) {
    for (int& a : axis) a = a == 0 ? 1 : a == 1 ? 0 : a;
  });
  add_axis(all, "the axes are used in reverse order", [](const Call& call, std::vector<int>& axis) {
    for (int& a : axis) a = call.axes - 1 - a;
  });
  add_axis(all, "every pair follows the axis after its own", [](const Call& call, std::vector<int>& axis) {
    for (int& a : axis) a = (a + 1) % call.axes;
  });
  for (int fixed : {0, 1, 2}) {
    add_axis(all, fmt::format("every pair follows axis {}", fixed), [=](const Call& call, std::vector<int>& axis) {
      std::fill(axis.begin(), axis.end(), std::min(fixed, call.axes - 1));
    });
  }
  add_axis(all, "pairs of the third and later axes follow the first axis", [](const Call&, std::vector<int>& axis) {
    for (int& a : axis) a = a < 2 ? a : 0;
  });
  add_axis(all, "pairs of the third and later axes follow the second axis", [](const Call&, std::vector<int>& axis) {
    for (int& a : axis) a = std::min(a, 1);
  });
}

void add_axis_orders(Hypotheses& all) {
  add_axis(all, "each axis has one block of pairs, but the axes should alternate",
           [](const Call&, std::vector<int>& axis) { std::sort(axis.begin(), axis.end()); });
  add_axis(all, "the axes alternate, but each should have one block of pairs",
           [](const Call& call, std::vector<int>& axis) {
             std::vector<int> left(static_cast<std::size_t>(call.axes), 0);
             for (int a : axis) ++left[static_cast<std::size_t>(a)];
             for (std::size_t p = 0; p < axis.size(); ++p) {
               const int turn = static_cast<int>(p) % call.axes;
               const bool some = static_cast<int>(p) < call.axes * left[static_cast<std::size_t>(turn)];
               axis[p] = some ? turn : 0;
             }
           });
  add_axis(all, "pair p follows axis p modulo the number of axes", [](const Call& call, std::vector<int>& axis) {
    for (std::size_t p = 0; p < axis.size(); ++p) axis[p] = static_cast<int>(p) % call.axes;
  });
  add_axis(all, "the sections of the axes are twice as wide as they should be",
           [](const Call&, std::vector<int>& axis) {
             const std::vector<int> right = axis;
             for (std::size_t p = 0; p < axis.size(); ++p) axis[p] = right[p / 2];
           });
  add_axis(all, "the sections of the axes are half as wide as they should be", [](const Call&, std::vector<int>& axis) {
    const std::vector<int> right = axis;
    for (std::size_t p = 0; p < axis.size(); ++p) axis[p] = right[std::min(2 * p, axis.size() - 1)];
  });
  add_axis(all, "each axis begins one pair too early", [](const Call&, std::vector<int>& axis) {
    for (std::size_t p = 0; p + 1 < axis.size(); ++p) axis[p] = axis[p + 1];
  });
  add_axis(all, "each axis begins one pair too late", [](const Call&, std::vector<int>& axis) {
    for (std::size_t p = axis.size(); p-- > 1;) axis[p] = axis[p - 1];
  });
}

// The features of one pair may follow two axes then.
void add_axes_of_features(Hypotheses& all) {
  Hypothesis h{
      .bug_class = BugClass::multi_axis,
      .sentence =
          "each feature follows the axis of the pair that it would belong to in the other pairing, half_split or "
          "interleaved",
      .applies = several_axes};
  h.change.axis_of = [](const Params& p, int feature, int axis) {
    const int half = p.rotary_dim / 2;
    if (half == 0) return axis;
    const auto pair = static_cast<std::size_t>(p.pairing == Pairing::interleaved ? feature % half : feature / 2);
    return pair < p.axis.size() ? p.axis[pair] : axis;
  };
  all.push_back(std::move(h));
}

void add_axes_of_tiles(Hypotheses& all) {
  for (const std::size_t n : {2u, 4u, 8u, 16u, 32u}) {
    add_axis(all, fmt::format("the pairs of a tile of {} all follow the axis of its first pair", n),
             [n](const Call&, std::vector<int>& axis) {
               for (std::size_t p = 0; p < axis.size(); ++p) axis[p] = axis[p / n * n];
             });
  }
}

void add_axis_frequencies(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::multi_axis, .sentence = "the frequencies start again with each axis",
               .applies = several_axes};
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
    const std::vector<long double> all_of_them = theta;
    std::vector<std::size_t> seen(8, 0);
    for (std::size_t p = 0; p < theta.size(); ++p)
      theta[p] = all_of_them[seen[static_cast<std::size_t>(s.params.axis[p])]++];
  };
  all.push_back(std::move(h));
}

// Two-dimensional models turn each section as a rope of its own.
void add_axes_as_ropes(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::multi_axis,
               .sentence =
                   "each axis has the frequencies of a rope of its own: base^(-i/n) for the i-th of its n pairs",
               .applies = [](const Call& call) {
                 return several_axes(call) && call.source == AngleSource::computed &&
                        std::holds_alternative<scaling::None>(call.scaling);
               }};
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
    std::map<int, int> pairs, seen;
    for (const int axis : s.params.axis) ++pairs[axis];
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const int axis = s.params.axis[p];
      theta[p] = std::pow(static_cast<long double>(s.params.base),
                          -static_cast<long double>(seen[axis]++) / static_cast<long double>(pairs[axis]));
    }
  };
  all.push_back(std::move(h));
}

void add_angles_in_blocks(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::pairing_layout,
               .sentence = "the angles are in blocks, one for each axis, but the axes should alternate",
               .applies = several_axes};
  h.change.pair_of = [](const Params& p, int, int pair) {
    std::vector<int> order(p.axis.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return p.axis[static_cast<std::size_t>(a)] < p.axis[static_cast<std::size_t>(b)];
    });
    return order[static_cast<std::size_t>(pair)];
  };
  all.push_back(std::move(h));
}

// A token whose positions are alike on some axes is taken for text: all of its pairs follow axis 0. The test looks at
// the token itself, or once at one token for all.
void add_text_tests(Hypotheses& all) {
  using Token = std::vector<std::int64_t> (*)(const RowContext&);
  const struct {
    const char* words;
    Token of;
    bool is_own;
  } tokens[] = {
      {"a token", [](const RowContext& s) { return token_position(s.call, s.batch, s.seq); }, true},
      {"a batch whose first token", [](const RowContext& s) { return token_position(s.call, s.batch, 0); }, false},
      {"a call whose first token", [](const RowContext& s) { return token_position(s.call, 0, 0); }, false},
      {"a batch whose last token",
       [](const RowContext& s) { return token_position(s.call, s.batch, s.call.q.shape[1] - 1); }, false},
  };
  const struct {
    const char* words;
    std::array<std::size_t, 2> first_and_last;
  } compared[] = {{"axes 0 and 1", {0, 1}}, {"axes 0 and 2", {0, 2}}, {"axes 1 and 2", {1, 2}}, {"all axes", {0, 0}}};
  for (const auto& token : tokens) {
    for (const auto& axes : compared) {
      const auto [first, last] = axes.first_and_last;
      if (token.is_own && first == last) continue;  // no mistake
      Hypothesis h{.bug_class = BugClass::multi_axis,
                   .sentence = fmt::format("{}{} the same position on {} is taken for text: all pairs follow axis 0",
                                           token.words, token.is_own ? " with" : " has", axes.words),
                   .applies = [last](const Call& call) {
                     return call.positions && call.axes > std::max(static_cast<std::int64_t>(last), std::int64_t{1});
                   }};
      h.change.position = [of = token.of, first, last](const RowContext& s, int, long double p) {
        const std::vector<std::int64_t> seen = of(s);
        const bool alike = first == last ? std::ranges::all_of(seen, [&](std::int64_t m) { return m == seen[0]; })
                                         : last < seen.size() && seen[first] == seen[last];
        return alike ? static_cast<long double>(token_position(s.call, s.batch, s.seq)[0]) : p;
      };
      all.push_back(std::move(h));
    }
  }
}

}  // namespace

void add_axis_hypotheses(Hypotheses& all) {
  add_exchanged_axes(all);
  add_axis_orders(all);
  add_axes_of_tiles(all);
  add_axes_of_features(all);
  add_axis_frequencies(all);
  add_axes_as_ropes(all);
  add_angles_in_blocks(all);
  add_text_tests(all);
}

}  // namespace rope::diagnosis
