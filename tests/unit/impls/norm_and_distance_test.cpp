// Properties of every rotation, whoever computes it: each pair keeps its norm, and scores depend only on distances.
// Bounds come from the error model through Expectation, or are derived where they are used.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <numbers>

#include "tests/unit/impls/cross_check.hpp"
#include "tests/unit/impls/planted_error.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::cross_check {
namespace {

// Like any_call(), with exact rotations: equal halves, and a pairing that the subject claims. `dtype` sets the type of
// inputs and outputs, so that its roundoff bounds what can be seen.
Case any_rotation(const Subject& subject, std::optional<DType> dtype) {
  Case c = any_call(dtype);
  if (dtype) c.out_dtype = *dtype;
  c.unequal_halves = false;
  if ((subject.claims().capabilities.pairings >> static_cast<int>(c.spec.pairing) & 1u) == 0) {
    c.spec.pairing = c.spec.pairing == Pairing::half_split ? Pairing::interleaved : Pairing::half_split;
  }
  return c;
}

// The error that rounded tables add to a rotation. Each entry is off by u(given) of itself, or by half a subnormal. For
// a unit pair that is u(given) in norm, and sqrt(2) half subnormals.
double table_error(const Call& call) {
  if (!call.cos) return 0;
  const DType given = call.cos->dtype;
  return unit_roundoff(given) + smallest_subnormal(given) * std::numbers::sqrt2 / 2;
}

// The rows of an output, with bounds against the exact rotation even if the tables are rounded.
std::vector<PairResult> against_rotation(const Case& c, const Trial& trial, Oracles& oracles) {
  std::vector<PairResult> results = results_of(c, trial, oracles);
  const double rounded = table_error(trial.call);
  for (PairResult& r : results) {
    r.norm /= 1 - rounded;  // it holds the norm of the rounded cosine and sine
    r.bound += r.norm * rounded;
  }
  return results;
}

// Several heads of q share one of k.
bool are_grouped(const Case& c) { return c.key_heads > 0 && c.key_heads < c.heads; }

// |R(m) x| = lambda |x|. An error of at most b in each element of a pair changes its norm by at most sqrt(2) b. The
// two calls of hypot are within an ulp each.
void norm_is_kept(Subject& subject, std::optional<DType> dtype = {}, int* grouped = nullptr) {
  const Case c = any_rotation(subject, dtype);
  if (grouped != nullptr) *grouped += are_grouped(c);
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

// <y_q, y_k> of one head of q at a token and one of k at another. The errors are at most b in each element. By
// Cauchy-Schwarz, |<y~, z~> - <y, z>| <= sqrt(2) (b_y |z| + |y| b_z) + 2 b_y b_z for each pair. Each operation in long
// double adds 2^-64 of the magnitude.
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

// <R(m) q, R(n) k> = <R(m + s) q, R(n + s) k>, for all tokens m, n and heads of a batch. Each head of q goes with the
// head of k that its group shares.
void distance_decides(Subject& subject, std::optional<DType> dtype = {}, int* grouped = nullptr) {
  Case c = any_rotation(subject, dtype);
  c.pattern = PositionPattern::consecutive;  // so that a later start moves all positions alike
  c.key_heads = *rc::gen::inRange(1, 4);
  c.heads = c.key_heads * *rc::gen::inRange(1, 4);
  if (grouped != nullptr) *grouped += are_grouped(c);
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
    const int rows_of_q = c.batch * c.seq * c.heads;
    const int token = batch * c.seq + seq;
    const int rows = key ? rows_of_q + token * c.key_heads + head : token * c.heads + head;
    return static_cast<std::size_t>(rows) * pairs;
  };
  double worst = 0;
  for (int batch = 0; batch < c.batch; ++batch) {
    for (int m = 0; m < c.seq; ++m) {
      for (int n = 0; n < c.seq; ++n) {
        for (int head = 0; head < c.heads; ++head) {
          const int shared = head / (c.heads / c.key_heads);
          const std::size_t q = row(false, batch, m, head), k = row(true, batch, n, shared);
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
  for (const auto& subject : builtins()) {
    int grouped = 0;
    rc::prop(subject->name(), [&] { norm_is_kept(*subject, {}, &grouped); });
    CHECK((grouped == 0 || grouped >= 20));  // Catch runs this line once for each property
  }
}

TEST_CASE("in every implementation a score depends only on the distance of its tokens", "[cross_check]") {
  for (const auto& subject : builtins()) {
    int grouped = 0;
    rc::prop(subject->name(), [&] { distance_decides(*subject, {}, &grouped); });
    CHECK((grouped == 0 || grouped >= 20));
  }
}

TEST_CASE("kernels that break the norm or the distance are refuted", "[cross_check]") {
  CHECK_FALSE(test::counterexample([subject = mutant("none")] { norm_is_kept(*subject); }).has_value());
  CHECK_FALSE(test::counterexample([subject = mutant("none")] { distance_decides(*subject); }).has_value());
  for (const char* id : {"PIPE-05", "SCALE-FACTOR-IGNORED", "HEAD-01", "SIGN-REFLECTION", "PREC-05"}) {
    INFO(id);
    const std::shared_ptr<Subject> subject = mutant(id);
    CHECK(test::counterexample([&] { norm_is_kept(*subject); }).has_value());
  }
  for (const char* id : {"PAIR-03", "PREC-BF16-POSITIONS", "PREC-03", "PREC-07", "HEAD-01", "PREC-05", "HEAD-03",
                         "HEAD-ONCE-PER-QUERY"}) {
    INFO(id);
    const std::shared_ptr<Subject> subject = mutant(id);
    CHECK(test::counterexample([&] { distance_decides(*subject); }).has_value());
  }
}

using test::PlantedError;

// Whether the largest effect of an error exceeds what the property that looks for it allows. Both are over lambda and
// the norms, where one pair turns by theta = 1. The error model's bound of an element at a small angle is b. For `norm`
// the effect is 1e-3, and sqrt(2) b is allowed (norm_is_kept). For distance_decides, take two scores of one distance
// alpha. One has q at an odd position and k at an even one, the other vice versa. They are cos(alpha + e) and
// cos(alpha - e), at most 2 sin(e) apart. Each may be off by sqrt(2) 2 b + 2 b^2 (score).
bool exceeds_the_bound(PlantedError error, DType dtype) {
  const double b = bound_terms({AngleKnowledge::computed, dtype, dtype, dtype, 1}).arithmetic[0];
  const double scores = 2 * (2 * std::numbers::sqrt2 * b + 2 * b * b);
  switch (error) {
    case PlantedError::norm: return test::planted_size > std::numbers::sqrt2 * b;
    case PlantedError::angle: return 2 * std::sin(test::planted_size) > scores;
    case PlantedError::position: return 2 * std::sin(1.0) > scores;
    case PlantedError::none: break;
  }
  return false;
}

std::optional<std::string> refuted(const rope_kernel& kernel, PlantedError error, bool by_norm, DType dtype) {
  test::WithPlantedError subject(kernel, error);
  return test::counterexample(
      [&] {
        if (by_norm) {
          norm_is_kept(subject, dtype);
        } else {
          distance_decides(subject, dtype);
        }
      },
      200);
}

TEST_CASE("a planted error is refuted in every dtype whose bound it exceeds", "[cross_check]") {
  constexpr DType dtypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
  struct Row {
    PlantedError error;
    bool seen[4];  // one a dtype
  };
  // f16 allows a score 2.8e-3 where 1e-3 rad change it by 2e-3; bf16 allows a norm 5.5e-3.
  constexpr Row table[] = {{PlantedError::angle, {true, true, false, false}},
                           {PlantedError::norm, {true, true, true, false}},
                           {PlantedError::position, {true, true, true, true}}};
  for (const auto& [error, seen] : table) {
    for (std::size_t i = 0; i < 4; ++i) {
      INFO(name(error) << " in " << name(dtypes[i]));
      REQUIRE(exceeds_the_bound(error, dtypes[i]) == seen[i]);
      for (const rope_kernel* kernel : builtin_kernels()) {
        if (!seen[i]) continue;
        INFO(kernel->name);
        CHECK(refuted(*kernel, error, error == PlantedError::norm, dtypes[i]).has_value());
      }
    }
  }
}

TEST_CASE("without a planted error no property is refuted", "[cross_check]") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const rope_kernel* kernel : builtin_kernels()) {
      for (const bool by_norm : {true, false}) {
        INFO(kernel->name << " in " << name(dtype));
        const auto wrong = refuted(*kernel, PlantedError::none, by_norm, dtype);
        INFO(wrong.value_or(""));
        CHECK_FALSE(wrong.has_value());
      }
    }
  }
}

}  // namespace
}  // namespace rope::cross_check
