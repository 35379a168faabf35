// Which features turn together, in which direction, and by whose angle.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

bool several_pairs(const Call& call) { return call.rotary_dim > 2; }
bool several_axes(const Call& call) { return call.axes > 1; }
bool partial_halves(const Call& call) {
  return call.pairing == Pairing::half_split && call.rotary_dim < call.q.shape[3];
}

void add_pairs(Hypotheses& all, std::string sentence, std::function<void(const Params&, PairList&)> change) {
  Hypothesis h{BugClass::pairing_layout, std::move(sentence), {}, 0, several_pairs, false};
  h.change.pairs = std::move(change);
  all.push_back(std::move(h));
}

void add_angles(Hypotheses& all, std::string sentence, std::function<int(const Params&, int feature, int pair)> whose) {
  Hypothesis h{BugClass::pairing_layout, std::move(sentence), {}, 0, several_pairs, false};
  h.change.pair_of = std::move(whose);
  all.push_back(std::move(h));
}

using Signs = std::function<Values(Values x, Values c, Values s)>;

void add_sign(Hypotheses& all, std::string sentence, Signs signs) {
  Hypothesis h{BugClass::sign_direction, std::move(sentence), {}, 0, {}, false};
  h.change.rotate = [=](const Spot& s, Values x, Values cosine, Values sine, Values) {
    const Values y = signs(x, cosine, sine);
    return Values{s.params.lambda * y.first, s.params.lambda * y.second};
  };
  all.push_back(std::move(h));
}

// cos and sin of the pairs are stored in one array and read from it in another order.
void add_unpacked(Hypotheses& all, std::string sentence, bool sine_first) {
  Hypothesis h{BugClass::pairing_layout, std::move(sentence), {}, 0, {}, false};
  h.change.row = [=](const Spot&, const PairList& pairs, Row& row) {
    std::vector<double> packed;
    for (const auto& pair : pairs) {
      const auto f = static_cast<std::size_t>(pair.first);
      packed.push_back(sine_first ? row.sin[f] : row.cos[f]);
      packed.push_back(sine_first ? row.cos[f] : row.sin[f]);
    }
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      for (const int feature : {pairs[p].first, pairs[p].second}) {
        const auto f = static_cast<std::size_t>(feature);
        row.cos[f] = packed[p];
        row.sin[f] = packed[p + pairs.size()];
      }
    }
  };
  all.push_back(std::move(h));
}

void add_signs(Hypotheses& all) {
  add_sign(all, "the inverse rotation: sin is negated", [](Values x, Values c, Values s) {
    return Values{x.first * c.first + x.second * s.first, x.second * c.second - x.first * s.second};
  });
  add_sign(all, "cos and sin are exchanged", [](Values x, Values c, Values s) {
    return Values{x.first * s.first - x.second * c.first, x.second * s.second + x.first * c.second};
  });
  add_sign(all, "cos and sin are exchanged, and the rotation is inverse", [](Values x, Values c, Values s) {
    return Values{x.first * s.first + x.second * c.first, x.second * s.second - x.first * c.second};
  });
  add_sign(all, "the minus is missing: (a, b) becomes (a cos + b sin, b cos + a sin)",
           [](Values x, Values c, Values s) {
             return Values{x.first * c.first + x.second * s.first, x.second * c.second + x.first * s.second};
           });
  add_sign(all, "one minus too many: (a, b) becomes (a cos - b sin, b cos - a sin)", [](Values x, Values c, Values s) {
    return Values{x.first * c.first - x.second * s.first, x.second * c.second - x.first * s.second};
  });
  add_sign(all, "a reflection: (a, b) becomes (a cos + b sin, a sin - b cos)", [](Values x, Values c, Values s) {
    return Values{x.first * c.first + x.second * s.first, x.first * s.second - x.second * c.second};
  });
  add_sign(all, "cos is negated", [](Values x, Values c, Values s) {
    return Values{-x.first * c.first - x.second * s.first, -x.second * c.second + x.first * s.second};
  });
  for (const bool sine : {true, false}) {
    Hypothesis h{BugClass::sign_direction,
                 fmt::format("{} is never negative: it is computed as sqrt(1 - {}^2)", sine ? "sin" : "cos",
                             sine ? "cos" : "sin"),
                 {},
                 0,
                 {},
                 false};
    h.change.turn = [sine](const Params&, double& c, double& s) { (sine ? s : c) = std::fabs(sine ? s : c); };
    all.push_back(std::move(h));
  }
  add_sign(all, "the result is negated", [](Values x, Values c, Values s) {
    return Values{-x.first * c.first + x.second * s.first, -x.second * c.second - x.first * s.second};
  });
  add_sign(all, "the two results of a pair are exchanged", [](Values x, Values c, Values s) {
    return Values{x.second * c.second + x.first * s.second, x.first * c.first - x.second * s.first};
  });
  add_sign(all, "the two features of a pair are exchanged before they turn", [](Values x, Values c, Values s) {
    return Values{x.second * c.first - x.first * s.first, x.first * c.second + x.second * s.second};
  });
  add_sign(all, "only the products with cos are written", [](Values x, Values c, Values) {
    return Values{x.first * c.first, x.second * c.second};
  });
  add_sign(all, "only the products with sin are written", [](Values x, Values, Values s) {
    return Values{-x.second * s.first, x.first * s.second};
  });
}

// One factor is applied to what the other has made already.
void add_repeated_products(Hypotheses& all) {
  add_sign(all, "the products with sin are made from the products with cos: (a, b) becomes (a cos - b cos sin, b cos + a "
           "cos sin)",
           [](Values x, Values c, Values s) {
             const Values with_cos{x.first * c.first, x.second * c.second};
             return Values{with_cos.first - with_cos.second * s.first, with_cos.second + with_cos.first * s.second};
           });
  add_sign(all, "cos multiplies the whole sum: (a, b) becomes ((a - b sin) cos, (b + a sin) cos)",
           [](Values x, Values c, Values s) {
             return Values{(x.first - x.second * s.first) * c.first, (x.second + x.first * s.second) * c.second};
           });
}

void add_axis(Hypotheses& all, std::string sentence, std::function<void(const Call&, std::vector<int>&)> change) {
  Hypothesis h{BugClass::multi_axis, std::move(sentence), {}, 0, several_axes, false};
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
  Hypothesis h{BugClass::multi_axis,
               "each feature follows the axis of the pair that it would belong to in the other pairing, half_split or "
               "interleaved",
               {},
               0,
               several_axes,
               false};
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
  Hypothesis h{BugClass::multi_axis, "the frequencies start again with each axis", {}, 0, several_axes, false};
  h.change.theta = [](const Spot& s, std::vector<long double>& theta) {
    const std::vector<long double> all_of_them = theta;
    std::vector<std::size_t> seen(8, 0);
    for (std::size_t p = 0; p < theta.size(); ++p)
      theta[p] = all_of_them[seen[static_cast<std::size_t>(s.params.axis[p])]++];
  };
  all.push_back(std::move(h));
}

void add_axes(Hypotheses& all) {
  add_exchanged_axes(all);
  add_axis_orders(all);
  add_axes_of_tiles(all);
  add_axes_of_features(all);
  add_axis_frequencies(all);
}

void add_partners(Hypotheses& all) {
  {
    Hypothesis h{BugClass::pairing_layout,
                 "the other pairing is used: half_split for interleaved, or interleaved for half_split",
                 {},
                 0,
                 several_pairs,
                 false};
    h.change.params = [](const Call&, Params& p) {
      p.pairing = p.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
    };
    all.push_back(std::move(h));
  }
  for (int n : {1, 2, 4, 8, 16, 32, 64}) {
    add_pairs(all, fmt::format("each feature pairs with the one {} further on, in blocks of {}", n, 2 * n),
              [=](const Params& p, PairList& pairs) {
                if (p.rotary_dim % (2 * n) != 0 && p.rotary_dim <= 2 * n) return;
                for (std::size_t i = 0; i < pairs.size(); ++i) {
                  const int first = static_cast<int>(i) / n * 2 * n + static_cast<int>(i) % n;
                  if (first + n < p.rotary_dim) pairs[i] = {first, first + n};
                }
              });
  }
  add_pairs(all, "feature j pairs with feature rotary_dim - 1 - j", [](const Params& p, PairList& pairs) {
    for (std::size_t i = 0; i < pairs.size(); ++i)
      pairs[i] = {static_cast<int>(i), p.rotary_dim - 1 - static_cast<int>(i)};
  });
  for (const bool others_pass : {false, true}) {
    Hypothesis h{BugClass::pairing_layout,
                 fmt::format("each feature pairs with the one head_dim/2 further on, not rotary_dim/2{}",
                             others_pass ? "; the remaining features pass through" : ""),
                 {},
                 0,
                 partial_halves,
                 false};
    h.change.index = [others_pass](const Spot& s, bool, int feature, std::int64_t index) {
      const int half = s.params.rotary_dim / 2, gap = s.params.head_dim / 2 - half;
      int moved = feature;
      if (feature >= half && feature < s.params.rotary_dim) moved = feature + gap;
      if (others_pass && feature >= s.params.rotary_dim && feature < s.params.rotary_dim + gap) moved = feature - half;
      return index + (moved - feature) * s.in().strides[3];
    };
    all.push_back(std::move(h));
  }
}

// A loop over vectors forms the pairs as asked for, the loop over the rest as in the other pairing.
void add_tails_of_other_pairing(Hypotheses& all) {
  for (const int block : {2, 4, 8, 16, 32, 64}) {
    const auto first_of_rest = [block](const Params& p) { return p.rotary_dim / 2 / block * block; };
    Hypothesis h{BugClass::pairing_layout,
                 fmt::format("pairs left over from vectors of {} are formed by the other pairing: half_split for "
                             "interleaved, or interleaved for half_split",
                             block),
                 {},
                 0,
                 [block](const Call& call) { return call.rotary_dim / 2 % block != 0; },
                 false};
    h.change.pairs = [=](const Params& p, PairList& pairs) {
      for (int i = first_of_rest(p); i < p.rotary_dim / 2; ++i) {
        const bool split = p.pairing == Pairing::interleaved;
        pairs[static_cast<std::size_t>(i)] = split ? std::pair(i, i + p.rotary_dim / 2) : std::pair(2 * i, 2 * i + 1);
      }
    };
    h.change.factors_of = [=](const Params& p, int pair, int feature) {
      if (pair < first_of_rest(p)) return feature;
      return p.pairing == Pairing::interleaved ? 2 * pair : pair;
    };
    all.push_back(std::move(h));
  }
}

// The pairs are those asked for on one side only: on the other side they lie as in the other pairing.
void add_mixed_layouts(Hypotheses& all) {
  for (const bool of_output : {true, false}) {
    Hypothesis h{BugClass::pairing_layout,
                 of_output ? "the results are written where they would be in the other pairing, half_split or interleaved"
                           : "the inputs are read from where they would be in the other pairing, half_split or "
                             "interleaved",
                 {},
                 0,
                 several_pairs,
                 false};
    h.change.index = [of_output](const Spot& s, bool output, int feature, std::int64_t index) {
      if (output != of_output || feature >= s.params.rotary_dim) return index;
      const int half = s.params.rotary_dim / 2;
      const int there = s.params.pairing == Pairing::interleaved ? feature / 2 + feature % 2 * half
                                                                 : feature % half * 2 + feature / half;
      return index + (there - feature) * (output ? s.out() : s.in()).strides[3];
    };
    all.push_back(std::move(h));
  }
}

void add_pair_angles(Hypotheses& all) {
  for (const int n : {16, 32, 64, 128, 256}) {
    Hypothesis h{BugClass::launch_limits,
                 fmt::format("pairs from {} on get the angles of pairs 0, 1, .. again", n),
                 {},
                 0,
                 [n](const Call& call) { return call.rotary_dim / 2 > n; },
                 false};
    h.change.pair_of = [n](const Params&, int, int pair) { return pair % n; };
    all.push_back(std::move(h));
  }
  for (const int n : {2, 4, 8, 16, 32}) {
    add_angles(all, fmt::format("pairs left over from vectors of {} get the angles of pairs 0, 1, .. again", n),
               [n](const Params& p, int, int pair) {
                 const int whole = p.rotary_dim / 2 / n * n;
                 return pair >= whole ? pair - whole : pair;
               });
  }
  add_angles(all, "angles are assigned to features by the other pairing: each pair gets two different angles",
             [](const Params& p, int feature, int) {
               return p.pairing == Pairing::interleaved ? feature % (p.rotary_dim / 2) : feature / 2;
             });
  add_angles(all, "the second feature of a pair gets the angle of the next pair",
             [](const Params& p, int feature, int pair) {
               const bool second = p.pairing == Pairing::interleaved ? feature % 2 == 1 : feature >= p.rotary_dim / 2;
               return second ? std::min(pair + 1, p.rotary_dim / 2 - 1) : pair;
             });
  {
    Hypothesis h{BugClass::pairing_layout,
                 "the angles are in blocks, one for each axis, but the axes should alternate",
                 {},
                 0,
                 several_axes,
                 false};
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
}

}  // namespace

void add_pairing_hypotheses(Hypotheses& all) {
  add_partners(all);
  add_mixed_layouts(all);
  add_tails_of_other_pairing(all);
  add_pair_angles(all);
  add_unpacked(all, "cos and sin are read as the halves of an array that holds sin, cos, sin, cos, ..", true);
  add_unpacked(all, "cos and sin are read as the halves of an array that holds cos, sin, cos, sin, ..", false);
  add_signs(all);
  add_repeated_products(all);
  add_axes(all);
}

}  // namespace rope::diagnosis
