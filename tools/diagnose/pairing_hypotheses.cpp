// Which features turn together, in which direction, and by whose angle.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

bool several_pairs(const Call& call) { return call.rotary_dim > 2; }
bool partial_halves(const Call& call) {
  return call.pairing == Pairing::half_split && call.rotary_dim < call.q.shape[3];
}

void add_pairs(Hypotheses& all, std::string sentence, std::function<void(const Params&, PairList&)> change) {
  Hypothesis h{.bug_class = BugClass::pairing_layout, .sentence = std::move(sentence), .applies = several_pairs};
  h.change.pairs = std::move(change);
  all.push_back(std::move(h));
}

void add_angles(Hypotheses& all, std::string sentence, std::function<int(const Params&, int feature, int pair)> whose) {
  Hypothesis h{.bug_class = BugClass::pairing_layout, .sentence = std::move(sentence), .applies = several_pairs};
  h.change.pair_of = std::move(whose);
  all.push_back(std::move(h));
}

using Signs = std::function<Values(Values x, Values c, Values s)>;

void add_sign(Hypotheses& all, std::string sentence, Signs signs) {
  Hypothesis h{.bug_class = BugClass::sign_direction, .sentence = std::move(sentence)};
  h.change.rotate = [=](const RowContext& s, Values x, Values cosine, Values sine, Values) {
    const Values y = signs(x, cosine, sine);
    return Values{s.params.lambda * y.first, s.params.lambda * y.second};
  };
  all.push_back(std::move(h));
}

// cos and sin of the pairs are stored in one array and read from it in another order.
void add_unpacked(Hypotheses& all, std::string sentence, bool sine_first) {
  Hypothesis h{.bug_class = BugClass::pairing_layout, .sentence = std::move(sentence)};
  h.change.row = [=](const RowContext&, const PairList& pairs, Row& row) {
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

// A sign that is wrong only backward: there sin is negated, so the same formula has other signs for a reader.
void add_signs_backward(Hypotheses& all) {
  const auto add = [&](const char* becomes, Signs signs) {
    add_sign(all,
             fmt::format("backward (a, b) becomes ({}), but should become (a cos + b sin, b cos - a sin)", becomes),
             std::move(signs));
    all.back().bug_class = BugClass::backward;
    all.back().applies = [](const Call& call) { return call.direction == Direction::backward; };
  };
  add("a cos - b sin, b cos - a sin", [](Values x, Values c, Values s) {
    return Values{x.first * c.first + x.second * s.first, x.second * c.second + x.first * s.second};
  });
  add("a cos + b sin, b cos + a sin", [](Values x, Values c, Values s) {
    return Values{x.first * c.first - x.second * s.first, x.second * c.second - x.first * s.second};
  });
}

// As code for interleaved pairs has it, where the first feature of a pair is even.
void add_signs_by_parity(Hypotheses& all) {
  Hypothesis h{
      .bug_class = BugClass::sign_direction,
      .sentence =
          "half_split pairs: the sign of sin goes by the feature's number, minus for even and plus for odd ones"};
  h.applies = [](const Call& call) { return call.pairing == Pairing::half_split; };
  h.change.row = [](const RowContext&, const PairList& pairs, Row& row) {
    for (const auto& [first, second] : pairs) {
      if (first % 2 != 0) row.sin[static_cast<std::size_t>(first)] *= -1;
      if (second % 2 == 0) row.sin[static_cast<std::size_t>(second)] *= -1;
    }
  };
  h.change.direct = [](const Params&, const PairList&, Row& row) {
    for (double& sine : row.sin) sine = -sine;
  };
  all.push_back(std::move(h));
}

void add_signs(Hypotheses& all) {
  add_signs_by_parity(all);
  for (const bool sine : {true, false}) {
    Hypothesis h{.bug_class = BugClass::sign_direction,
                 .sentence = fmt::format("{} is never negative: it is computed as sqrt(1 - {}^2)", sine ? "sin" : "cos",
                                         sine ? "cos" : "sin")};
    h.change.turn = [sine](const Params&, double& c, double& s) { (sine ? s : c) = std::fabs(sine ? s : c); };
    all.push_back(std::move(h));
  }
}

// One factor is applied to what the other has made already.
void add_repeated_products(Hypotheses& all) {
  add_sign(all,
           "the products with sin are made from the products with cos: (a, b) becomes (a cos - b cos sin, b cos + a "
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

void add_partners(Hypotheses& all) {
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
    Hypothesis h{.bug_class = BugClass::pairing_layout,
                 .sentence = fmt::format("each feature pairs with the one head_dim/2 further on, not rotary_dim/2{}",
                                         others_pass ? "; the remaining features pass through" : ""),
                 .applies = partial_halves};
    h.change.index = [others_pass](const RowContext& s, bool, int feature, std::int64_t index) {
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
    Hypothesis h{
        .bug_class = BugClass::pairing_layout,
        .sentence = fmt::format("pairs left over from vectors of {} are formed by the other pairing: half_split for "
                                "interleaved, or interleaved for half_split",
                                block),
        .applies = [block](const Call& call) { return call.rotary_dim / 2 % block != 0; }};
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
    Hypothesis h{
        .bug_class = BugClass::pairing_layout,
        .sentence = of_output
                        ? "the results are written where they would be in the other pairing, half_split or interleaved"
                        : "the inputs are read from where they would be in the other pairing, half_split or "
                          "interleaved",
        .applies = several_pairs};
    h.change.index = [of_output](const RowContext& s, bool output, int feature, std::int64_t index) {
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
  for (const int n : {8, 16, 24, 32, 48, 64, 96, 128, 192, 256}) {
    Hypothesis h{.bug_class = BugClass::launch_limits,
                 .sentence = fmt::format("pairs from {} on get the angles of pairs 0, 1, .. again", n),
                 .applies = [n](const Call& call) { return call.rotary_dim / 2 > n; }};
    h.change.pair_of = [n](const Params&, int, int pair) { return pair % n; };
    all.push_back(std::move(h));
  }
  // The pairs share n slots, and the last one that was written stays.
  for (const int n : {32, 64, 128, 256}) {
    add_angles(all, fmt::format("of pairs that are {} apart, all get the angle of the last", n),
               [n](const Params& p, int, int pair) { return pair + (p.rotary_dim / 2 - 1 - pair) / n * n; });
    all.back().applies = [n](const Call& call) { return call.rotary_dim / 2 > n; };
  }
  for (const int n : {2, 4, 8, 16, 32}) {
    add_angles(all, fmt::format("pairs left over from vectors of {} get the angles of pairs 0, 1, .. again", n),
               [n](const Params& p, int, int pair) {
                 const int whole = p.rotary_dim / 2 / n * n;
                 return pair >= whole ? pair - whole : pair;
               });
  }
  // Vectors are taken apart within their 128-bit lanes, but the angles are loaded in order.
  add_angles(all, "in each 4 pairs, the second and the third are turned by each other's angle",
             [](const Params& p, int, int pair) {
               const bool whole = pair < p.rotary_dim / 2 / 4 * 4;
               return whole && (pair % 4 == 1 || pair % 4 == 2) ? pair ^ 3 : pair;
             });
  add_angles(all, "in each 8 pairs, the third and fourth are turned by the angles of the fifth and sixth, and back",
             [](const Params& p, int, int pair) {
               const bool whole = pair < p.rotary_dim / 2 / 8 * 8;
               return whole && pair % 8 >= 2 && pair % 8 < 6 ? pair ^ 6 : pair;
             });
  add_angles(all, "angles are assigned to features by the other pairing: each pair gets two different angles",
             [](const Params& p, int feature, int) {
               return p.pairing == Pairing::interleaved ? feature % (p.rotary_dim / 2) : feature / 2;
             });
  // A full-width table has a column for each feature, whose pair then decides its axis only.
  all.back().applies = [](const Call& call) {
    return several_pairs(call) && (call.source != AngleSource::tables || call.cos->shape[1] < call.rotary_dim);
  };
  add_angles(all, "the second feature of a pair gets the angle of the next pair",
             [](const Params& p, int feature, int pair) {
               const bool second = p.pairing == Pairing::interleaved ? feature % 2 == 1 : feature >= p.rotary_dim / 2;
               return second ? std::min(pair + 1, p.rotary_dim / 2 - 1) : pair;
             });
}

}  // namespace

void add_pairing_hypotheses(Hypotheses& all) {
  add_partners(all);
  add_mixed_layouts(all);
  add_tails_of_other_pairing(all);
  add_pair_angles(all);
  add_unpacked(all, "cos and sin are read as the halves of an array that holds sin, cos, sin, cos, ..", true);
  add_unpacked(all, "cos and sin are read as the halves of an array that holds cos, sin, cos, sin, ..", false);
  add_signs_backward(all);
  add_signs(all);
  add_repeated_products(all);
}

}  // namespace rope::diagnosis
