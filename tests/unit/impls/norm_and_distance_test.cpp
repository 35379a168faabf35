// What holds of every rotation, whoever computes it: each pair keeps its norm, and scores depend on distances alone.
// Bounds come from the error model through Expectation, or are derived beside where they are used.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <numbers>

#include "tests/conformance/coverage.hpp"
#include "tests/unit/conformance/cross_check.hpp"

namespace rope::cross_check {
namespace {

constexpr double u = 0x1p-53;

// As any_call(), with exact rotations: equal halves, and a pairing that the subject claims.
Case any_rotation(const Subject& subject) {
  Case c = any_call();
  c.unequal_halves = false;
  if ((subject.claims().capabilities.pairings >> static_cast<int>(c.spec.pairing) & 1u) == 0) {
    c.spec.pairing = c.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
  }
  return c;
}

// What rounding the tables costs a rotation. Each entry is off by u(given) of itself, or by half a subnormal; for a
// unit pair that is u(given) in norm, and sqrt(2) half subnormals.
double table_error(const Call& call) {
  if (!call.cos) return 0;
  const DType given = call.cos->dtype;
  return unit_roundoff(given) + smallest_subnormal(given) * std::numbers::sqrt2 / 2;
}

// The rows of an output with bounds against the exact rotation, also where the tables are rounded.
std::vector<PairResult> against_rotation(const Case& c, const Trial& trial, Oracles& oracles) {
  std::vector<PairResult> results = results_of(c, trial, oracles);
  const double rounded = table_error(trial.call);
  for (PairResult& r : results) {
    r.norm /= 1 - rounded;  // it holds the norm of the rounded cosine and sine
    r.bound += r.norm * rounded;
  }
  return results;
}

// |R(m) x| = lambda |x|: an error of at most b in each element of a pair changes its norm by at most sqrt(2) b. hypot
// is within an ulp, twice.
void norm_is_kept(Subject& subject) {
  const Case c = any_rotation(subject);
  RC_ASSERT(uncovered(c, subject.claims()) == "");
  RC_LOG() << to_text(c) << " by " << subject.name() << "\n";
  Oracles oracles;
  const Trial trial = Examiner(subject, oracles, nullptr).run(c);
  RC_ASSERT(trial.ok());
  const std::vector<PairResult> results = against_rotation(c, trial, oracles);
  Expectation expectation(trial.call, c.spec, oracles);
  const double lambda = std::fabs(compile(c.spec, sequence_length(c)).lambda);
  double worst = 0;
  std::size_t i = 0;
  for_each_pair(trial, expectation, [&](const Place&, double a, double b, const PairAngle&) {
    const PairResult& y = results[i++];
    const double wanted = lambda * std::hypot(a, b);
    const double error = std::fabs(std::hypot(y.first.hi, y.second.hi) - wanted);
    worst = std::max(worst, share(error, std::numbers::sqrt2 * y.bound + 5 * u * wanted));
  });
  RC_ASSERT(worst <= 1);
}

struct Score {
  long double value = 0;
  double bound = 0;
};

// <y_q, y_k> of one head of q at a token and one of k at another. By Cauchy-Schwarz, with errors of at most b in each
// element: |<y~, z~> - <y, z>| <= sqrt(2) (b_y |z| + |y| b_z) + 2 b_y b_z for each pair; long double adds 2^-64 of the
// magnitude for each of its operations.
Score score(const std::vector<PairResult>& results, std::size_t q, std::size_t k, std::size_t pairs) {
  Score s;
  double magnitude = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const PairResult& y = results[q + p];
    const PairResult& z = results[k + p];
    s.value += static_cast<long double>(y.first.hi) * static_cast<long double>(z.first.hi) +
               static_cast<long double>(y.second.hi) * static_cast<long double>(z.second.hi);
    s.bound += std::numbers::sqrt2 * (y.bound * z.norm + y.norm * z.bound) + 2 * y.bound * z.bound;
    magnitude += (y.norm + y.bound) * (z.norm + z.bound);
  }
  s.bound += magnitude * 0x1p-64 * static_cast<double>(pairs + 2);
  return s;
}

// <R(m) q, R(n) k> = <R(m + s) q, R(n + s) k>, for all tokens m, n and heads of a batch.
void distance_decides(Subject& subject) {
  Case c = any_rotation(subject);
  c.pattern = PositionPattern::consecutive;  // so that a later start moves all positions alike
  c.key_heads = c.heads;
  Case later = c;
  later.start = c.start + static_cast<std::int64_t>(test::between(1, 300));
  c.sequence_length = later.sequence_length = largest_position(later) + 1;  // for rules that follow the length
  RC_ASSERT(uncovered(c, subject.claims()) == "");
  RC_ASSERT(uncovered(later, subject.claims()) == "");
  RC_LOG() << to_text(c) << "\n" << to_text(later) << " by " << subject.name() << "\n";

  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Trial here = examiner.run(c);
  const Trial there = examiner.run(later);
  RC_ASSERT(here.ok());
  RC_ASSERT(there.ok());
  const std::vector<PairResult> before = against_rotation(c, here, oracles);
  const std::vector<PairResult> after = against_rotation(later, there, oracles);
  const auto pairs = static_cast<std::size_t>(c.spec.rotary_dim / 2);
  const auto row = [&](bool key, int batch, int seq, int head) {
    const int rows = ((key ? c.batch + batch : batch) * c.seq + seq) * c.heads + head;
    return static_cast<std::size_t>(rows) * pairs;
  };
  double worst = 0;
  for (int batch = 0; batch < c.batch; ++batch) {
    for (int m = 0; m < c.seq; ++m) {
      for (int n = 0; n < c.seq; ++n) {
        for (int head = 0; head < c.heads; ++head) {
          const std::size_t q = row(false, batch, m, head), k = row(true, batch, n, head);
          const Score one = score(before, q, k, pairs);
          const Score two = score(after, q, k, pairs);
          worst = std::max(worst, share(static_cast<double>(std::fabs(one.value - two.value)), one.bound + two.bound));
        }
      }
    }
  }
  RC_ASSERT(worst <= 1);
}

TEST_CASE("every implementation keeps the norm of each pair, times lambda", "[cross_check]") {
  for (const auto& subject : builtins()) rc::prop(subject->name(), [&] { norm_is_kept(*subject); });
}

TEST_CASE("in every implementation a score depends on the distance of its tokens alone", "[cross_check]") {
  for (const auto& subject : builtins()) rc::prop(subject->name(), [&] { distance_decides(*subject); });
}

TEST_CASE("kernels that break the norm or the distance are refuted", "[cross_check]") {
  CHECK_FALSE(test::counterexample([subject = mutant("none")] { norm_is_kept(*subject); }).has_value());
  CHECK_FALSE(test::counterexample([subject = mutant("none")] { distance_decides(*subject); }).has_value());
  for (const char* id : {"PIPE-05", "SCALE-FACTOR-IGNORED", "HEAD-01", "SIGN-REFLECTION", "PREC-05"}) {
    INFO(id);
    const std::shared_ptr<Subject> subject = mutant(id);
    CHECK(test::counterexample([&] { norm_is_kept(*subject); }).has_value());
  }
  for (const char* id : {"PAIR-03", "PREC-BF16-POSITIONS", "PREC-03", "PREC-07", "HEAD-01", "PREC-05"}) {
    INFO(id);
    const std::shared_ptr<Subject> subject = mutant(id);
    CHECK(test::counterexample([&] { distance_decides(*subject); }).has_value());
  }
}

}  // namespace
}  // namespace rope::cross_check
