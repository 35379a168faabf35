// REL: attention sees only the distance between two tokens.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

// Rotated queries and keys of one case. They are independent: a kernel that uses one for the other must show. If the
// kernel takes no k, the keys are the queries of a second call with another seed.
struct Rotated {
  Trial query;
  Trial key;
  bool joint = false;  // both from `query`

  const Finding& problem() const { return query.ok() ? key.problem : query.problem; }
  bool ok() const { return query.ok() && key.ok(); }
  const Trial& key_trial() const { return joint ? query : key; }
  const Tensor& key_input() const { return joint ? *query.k : key.q; }
  const Tensor& key_output() const { return joint ? query.call.k_result() : key.call.q_result(); }
  // Of several query heads that share a key head, each is scored with it.
  RowIndex key_row(RowIndex row) const {
    row.head = row.head * key_input().shape[2] / query.q.shape[2];
    return row;
  }
};

Rotated rotate(const Case& c, Examiner& examiner) {
  Rotated r;
  r.query = examiner.run(c);
  r.joint = c.key_heads > 0;
  if (r.joint) return r;
  Case keys = c;
  keys.seed = c.seed ^ 0x5A5A5A;
  r.key = examiner.run(keys);
  return r;
}

struct Score {
  double value = 0;
  double bound = 0;
};

// <q, k> over the pairs that rotate, and its bound. An error of b in each element of a pair costs at most sqrt(2) b
// times the norm of the other pair. Two errors multiply.
Score score(const RelatedRow& q, const RelatedRow& k, const Expectation& expectation) {
  long double sum = 0;
  double bound = 0;
  double magnitude = 0;
  for (std::size_t p = 0; p < expectation.pairs(); ++p) {
    for (int feature : {expectation.first(p), expectation.second(p)}) {
      const auto j = static_cast<std::size_t>(feature);
      sum += static_cast<long double>(q.value[j]) * static_cast<long double>(k.value[j]);
    }
    bound += std::numbers::sqrt2 * (q.pair_bound[p] * k.pair_norm[p] + k.pair_bound[p] * q.pair_norm[p]) +
             2 * q.pair_bound[p] * k.pair_bound[p];
    magnitude += q.pair_norm[p] * k.pair_norm[p];
  }
  return {static_cast<double>(sum), bound + magnitude * 0x1p-52};
}

Case shifted_by_seed(const Case& c) {
  Case shifted = c;
  shifted.start = c.start + 1 + static_cast<std::int64_t>(c.seed % 97);
  return shifted;
}

void shift_cases(CaseList& list) {
  const auto wanted = [&](const Case& c) { return uncovered(shifted_by_seed(c), list.claims()).empty(); };
  const auto shape = [&](Case& c) {
    if (!list.claims().has(ROPE_FEATURE_OFFSET)) c.form = PositionForm::shared;
    c.sequences = is_packed(c.form) ? c.sequences : 1;
    c.pattern = PositionPattern::consecutive;
    c.unequal_halves = false;
    c.seq = 4;
    c.sequence_length = 4000;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
  };
  for (std::int64_t start : {0, 100, 1000}) {
    list.for_each_variant(64, [&](Case c) {
      shape(c);
      c.start = start;
      if (wanted(c)) list.add(c);
    });
  }
  list.add_random(
      60,
      [&](Case& c) {
        shape(c);
        c.start %= 2000;
      },
      wanted);
}

// <R(m)q, R(n)k> = <R(m+shift)q, R(n+shift)k> for every pair of tokens.
Finding shift_invariance(const Case& c, Examiner& examiner) {
  const Case shifted = shifted_by_seed(c);
  const Rotated here = rotate(c, examiner);
  if (!here.ok()) return here.problem();
  const Rotated there = rotate(shifted, examiner);
  if (!there.ok()) return there.problem();
  Expectation at_here = examiner.expectation(c, here.query.call);
  Expectation at_there = examiner.expectation(shifted, there.query.call);
  Finding finding;
  const auto queries = [](const Rotated& r, const RowIndex& row, Expectation& at) {
    return related_row(r.query, r.query.q, r.query.call.q_result(), row, at);
  };
  const auto keys = [](const Rotated& r, const RowIndex& row, Expectation& at) {
    return related_row(r.key_trial(), r.key_input(), r.key_output(), r.key_row(row), at);
  };
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t h = 0; h < c.heads; ++h) {
      std::vector<RelatedRow> q0, q1, k0, k1;
      for (std::int64_t s = 0; s < c.seq; ++s) {
        const RowIndex row{b, s, h};
        q0.push_back(queries(here, row, at_here));
        q1.push_back(queries(there, row, at_there));
        k0.push_back(keys(here, row, at_here));
        k1.push_back(keys(there, row, at_there));
      }
      for (std::size_t m = 0; m < q0.size(); ++m) {
        for (std::size_t n = 0; n < k0.size(); ++n) {
          if (q0[m].has_lost || k0[n].has_lost || q1[m].has_lost || k1[n].has_lost) continue;
          const Score before = score(q0[m], k0[n], at_here);
          const Score after = score(q1[m], k1[n], at_there);
          relate(finding, "q.k", {b, static_cast<std::int64_t>(m), h}, static_cast<std::int64_t>(n), std::nullopt,
                 before.value, after.value, before.bound + after.bound, Compared::score);
        }
      }
    }
  }
  return told(finding, "scores", fmt::format("the score when both positions have moved by {}", shifted.start - c.start),
              "the score before");
}

void grid_cases(CaseList& list) {
  const auto shape = [&](Case& c) {
    c.pattern = PositionPattern::consecutive;
    c.spec.axes = {};
    c.input = InputKind::constant;
    c.unequal_halves = false;
    c.seq = 9;
    c.batch = 1;
    // Tokens of one sequence. A selected spec may have several axes. A score depends on one distance only if all axes
    // walk in step.
    const bool in_step = list.spec() && list.spec()->axes.count() > 1;
    if (is_packed(c.form) || in_step) c.form = PositionForm::offset;
    c.sequences = 1;
    c.key_heads = list.claims().has(ROPE_FEATURE_KEY) ? c.heads : 0;
  };
  list.for_each_variant(64, [&](Case c) {
    shape(c);
    list.add(c);
  });
  list.add_random(30, shape);
}

// The same q and k at every token: the scores of (m, n) and (m-1, n-1) are equal.
Finding toeplitz(const Case& c, Examiner& examiner) {
  const Rotated rotated = rotate(c, examiner);
  if (!rotated.ok()) return rotated.problem();
  Expectation expected = examiner.expectation(c, rotated.query.call);
  Finding finding;
  for (std::int64_t h = 0; h < c.heads; ++h) {
    std::vector<RelatedRow> q, k;
    for (std::int64_t s = 0; s < c.seq; ++s) {
      const RowIndex row{0, s, h};
      q.push_back(related_row(rotated.query, rotated.query.q, rotated.query.call.q_result(), row, expected));
      k.push_back(related_row(rotated.key_trial(), rotated.key_input(), rotated.key_output(), rotated.key_row(row),
                              expected));
    }
    for (std::size_t m = 1; m < q.size(); ++m) {
      for (std::size_t n = 1; n < k.size(); ++n) {
        if (q[m].has_lost || k[n].has_lost || q[m - 1].has_lost || k[n - 1].has_lost) continue;
        const Score here = score(q[m], k[n], expected);
        const Score before = score(q[m - 1], k[n - 1], expected);
        relate(finding, "q.k", {0, static_cast<std::int64_t>(m), h}, static_cast<std::int64_t>(n), std::nullopt,
               before.value, here.value, here.bound + before.bound, Compared::score);
      }
    }
  }
  return told(finding, "scores", "the score", "the score of both tokens before, at the same distance,");
}

}  // namespace

std::span<const Requirement> relative_requirements() {
  static constexpr Requirement requirements[] = {
      {"REL-01",
       "The score of a query and a key MUST NOT change, within the bound, if both positions move by the same distance.",
       "PAIR-03, PREC, POS-09, HEAD-01, XPOS",
       "wrong frequencies: angles stay linear in the position",
       shift_cases,
       shift_invariance,
       0,
       nullptr,
       {.with_horizon = true, .calls = 3}},
      {"REL-02",
       "If all queries are equal and all keys are equal, scores at equal distances MUST be equal, within the bound.",
       "PAIR-03, POS-07, PREC", "wrong frequencies", grid_cases, toeplitz},
  };
  return requirements;
}

}  // namespace rope
