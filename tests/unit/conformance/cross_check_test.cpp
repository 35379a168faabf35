// Implementations against each other, the naive matrix and the oracle, on random specs; and what holds of every
// rotation whoever computes it. Bounds come from the error model through Expectation, or are derived beside where they
// are used.
#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <numbers>

#include "impls/builtin.hpp"
#include "reference/naive_matrix.hpp"
#include "tests/conformance/coverage.hpp"
#include "tests/conformance/examiner.hpp"
#include "tests/unit/conformance/any_case.hpp"
#include "tests/unit/property.hpp"
#include "tools/worker/library_subject.hpp"

namespace rope {
namespace {

constexpr double u = 0x1p-53;

// A case that makes sense as a call: every spec, pairing, dtype and angle source, positions of every size.
Case any_call(std::optional<DType> dtype = {}, std::optional<AngleSource> source = {}) {
  Case c = test::any_case();
  c.dtype = dtype.value_or(c.dtype);
  c.source = source.value_or(c.source);
  if (c.out_dtype != c.dtype) c.out_dtype = c.dtype == DType::f64 ? DType::f64 : DType::f32;
  c.in_place = c.in_place && c.out_dtype == c.dtype;
  if (c.form == PositionForm::offset) c.pattern = PositionPattern::consecutive;
  c.input = InputKind::spread;
  // Tables hold a row for every position.
  c.start = static_cast<std::int64_t>(test::between(1, c.source == AngleSource::tables ? 500 : 1 << 20)) - 1;
  if (c.source != AngleSource::tables) {
    c.full_tables = false;
    if (c.given != DType::f32) c.given = DType::f64;
  }
  c.unequal_halves = c.unequal_halves && c.full_tables;
  c.sequence_length = test::coin() ? 0 : largest_position(c) + 1 + *rc::gen::inRange(0, 5000);
  return c;
}

// One pair of one output row: what came out, how far it may be off, and the norm of the input times |lambda|.
struct PairResult {
  DoubleDouble first, second;
  double bound = 0;
  double norm = 0;
};

struct Place {
  bool key;
  RowIndex row;
  std::size_t pair;
};

// Every pair of q, then of k, in one order for all.
template <class Visitor>
void for_each_pair(const Trial& trial, Expectation& expectation, Visitor&& visit) {
  for (const bool key : {false, true}) {
    if (key && !trial.k) continue;
    const Tensor& input = key ? *trial.k : trial.q;
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const std::vector<PairAngle> angles = expectation.angles(row.batch, row.seq);
      for (std::size_t p = 0; p < angles.size(); ++p) {
        const double a = value_at(input, row, expectation.first(p));
        const double b = value_at(input, row, expectation.second(p));
        visit(Place{key, row, p}, a, b, angles[p]);
      }
    });
  }
}

// The built-ins compute their angles in f64 at least: grade A1. For f64 there is no wider type to do so, so B1.
AngleGrade promised(const Case& c) { return c.dtype == DType::f64 ? AngleGrade::B : AngleGrade::A; }

std::vector<PairResult> results_of(const Case& c, const Trial& trial, Oracles& oracles) {
  Expectation expectation(trial.call, c.spec, oracles);
  const auto grade = static_cast<std::size_t>(promised(c));
  std::vector<PairResult> results;
  for_each_pair(trial, expectation, [&](const Place& at, double a, double b, const PairAngle& angle) {
    const Tensor& y = at.key ? trial.call.k_result() : trial.call.q_result();
    const double reach = expectation.reach(a, b, angle);
    results.push_back({{value_at(y, at.row, expectation.first(at.pair)), 0},
                       {value_at(y, at.row, expectation.second(at.pair)), 0},
                       expectation.bounds(at.pair, angle.phi, reach)[grade][0],
                       std::fabs(expectation.lambda()) * reach});
  });
  return results;
}

std::vector<PairResult> oracle_results(const Case& c, const Trial& trial, Oracles& oracles) {
  Expectation expectation(trial.call, c.spec, oracles);
  std::vector<PairResult> results;
  for_each_pair(trial, expectation, [&](const Place&, double a, double b, const PairAngle& angle) {
    const ExactPair y = rotate_exact(a, b, angle, expectation.lambda(), expectation.backward());
    const double norm = std::fabs(expectation.lambda()) * expectation.reach(a, b, angle);
    results.push_back({y.first, y.second, norm * 0x1p-97, norm});  // oracle_test.cpp derives 2^-97
  });
  return results;
}

// The plan that a call describes, its theta those that it hands over where it does.
RotationPlan plan_of(const Case& c, const Call& call) {
  RotationPlan plan = compile(c.spec, sequence_length(c));
  if (!call.theta) return plan;
  for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
    plan.pairs[p].theta = Real(load(call.theta->dtype, call.theta->data() + p * size_of(call.theta->dtype)));
  }
  return plan;
}

// The blocks of a token's matrix from the tables of a call: row m for position m, a column for each pair or feature.
std::vector<MatrixBlock> table_blocks(const RotationPlan& plan, const Call& call,
                                      std::span<const std::int64_t> position) {
  const bool full = call.cos->shape[1] == call.rotary_dim;
  std::vector<MatrixBlock> blocks;
  for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
    const RotatedPair& pair = plan.pairs[p];
    const auto entry = [&](const Tensor& table, int feature) {
      const std::int64_t at = position[static_cast<std::size_t>(pair.axis)] * table.strides[0] +
                              (full ? feature : static_cast<std::int64_t>(p));
      return plan.lambda * load(table.dtype, table.data() + at * static_cast<std::int64_t>(size_of(table.dtype)));
    };
    blocks.push_back({pair.first,
                      pair.second,
                      {entry(*call.cos, pair.first), entry(*call.sin, pair.second)},
                      {-entry(*call.sin, pair.first), entry(*call.cos, pair.second)}});
  }
  return blocks;
}

// The same by the naive matrix, which shares no code with the oracle; positions straight from the case.
std::vector<PairResult> matrix_results(const Case& c, const Trial& trial) {
  const Call& call = trial.call;
  const RotationPlan plan = plan_of(c, call);
  const std::vector<std::int64_t> all = positions(c);
  const auto at_token = [&](std::int64_t batch, std::int64_t seq) {
    std::vector<std::int64_t> position;
    for (std::int64_t a = 0; a < c.spec.axes.count(); ++a) {
      position.push_back(all[static_cast<std::size_t>((a * c.batch + batch) * c.seq + seq)]);
    }
    return position;
  };
  std::vector<PairResult> results;
  for (const bool key : {false, true}) {
    if (key && !trial.k) continue;
    const Tensor& input = key ? *trial.k : trial.q;
    for_each_row(input, [&](const RowIndex& row, const std::byte*) {
      const std::vector<std::int64_t> position = at_token(row.batch, row.seq);
      std::vector<MatrixBlock> blocks =
          call.source == AngleSource::tables ? table_blocks(plan, call, position) : blocks_at(plan, position);
      if (c.direction == Direction::backward) blocks = transposed(std::move(blocks));
      const DenseRotation rotation = dense_rotation(std::move(blocks));
      std::vector<double> x;
      for (int j = 0; j < c.spec.head_dim; ++j) x.push_back(value_at(input, row, j));
      const std::vector<double> y = multiply(rotation, x, c.spec.head_dim);
      for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
        const auto first = static_cast<std::size_t>(plan.pairs[p].first);
        const auto second = static_cast<std::size_t>(plan.pairs[p].second);
        const MatrixBlock& b = rotation.blocks[p];
        const double gain =
            std::max(std::hypot(b.from_first[0], b.from_second[0]), std::hypot(b.from_first[1], b.from_second[1]));
        const double norm = gain * std::hypot(x[first], x[second]);
        const double m = static_cast<double>(position[static_cast<std::size_t>(plan.pairs[p].axis)]);
        const double phi = call.source == AngleSource::tables ? 0 : m * plan.pairs[p].theta.to_double();
        // As in oracle_test.cpp; `norm` is computed from rounded entries itself, hence the 1 + 4u.
        const double bound = norm * ((std::sqrt(2.0) + 2) * u + (std::fabs(phi) + 8) * 0x1p-63) * (1 + 4 * u);
        results.push_back({{y[first], 0}, {y[second], 0}, bound, norm});
      }
    });
  }
  return results;
}

// error/bound, at most 1 where it holds; infinite for a NaN and where nothing is allowed.
double share(double error, double bound) {
  if (error <= bound) return error == 0 ? 0 : error / bound;
  return error / bound > 1 ? error / bound : std::numeric_limits<double>::infinity();
}

// |y1 - y2| <= bound1 + bound2 at every element.
double disagreement(const std::vector<PairResult>& one, const std::vector<PairResult>& two) {
  if (one.size() != two.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const double bound = one[i].bound + two[i].bound;
    worst = std::max(worst, share(abs(one[i].first - two[i].first).hi, bound));
    worst = std::max(worst, share(abs(one[i].second - two[i].second).hi, bound));
  }
  return worst;
}

bool passes_through(const Case& c, const Trial& trial) {
  bool same = true;
  for (const bool key : {false, true}) {
    if (key && !trial.k) continue;
    const Tensor& x = key ? *trial.k : trial.q;
    const Tensor& y = key ? trial.call.k_result() : trial.call.q_result();
    for_each_row(x, [&](const RowIndex& row, const std::byte*) {
      for (int j = c.spec.rotary_dim; j < c.spec.head_dim; ++j) {
        same = same && value_at(x, row, j) == value_at(y, row, j);
      }
    });
  }
  return same;
}

using Subjects = std::vector<std::shared_ptr<Subject>>;

Subjects builtins() {
  Subjects subjects;
  for (const rope_kernel* kernel : builtin_kernels()) subjects.push_back(std::make_shared<KernelSubject>(*kernel));
  return subjects;
}

std::shared_ptr<Subject> mutant(const std::string& id) {
  return open_library(std::filesystem::path(ROPECHECK_BINARY_DIR) / "mutants.so", id);
}

// The property of the subjects: every two of them that claim the case agree, and each with the naive matrix and with
// the oracle.
void all_agree(const Subjects& subjects, const Case& c, int& compared) {
  RC_LOG() << to_text(c) << "\n";
  Oracles oracles;
  std::vector<std::pair<std::string, std::vector<PairResult>>> results;
  for (const auto& subject : subjects) {
    if (!uncovered(c, subject->claims()).empty()) continue;
    Examiner examiner(*subject, oracles, nullptr);
    const Trial trial = examiner.run(c);
    RC_LOG() << subject->name() << ": " << trial.problem.message << "\n";
    RC_ASSERT(trial.ok());
    RC_ASSERT(passes_through(c, trial));
    if (results.empty()) {
      results.emplace_back("oracle", oracle_results(c, trial, oracles));
      results.emplace_back("naive matrix", matrix_results(c, trial));
    }
    results.emplace_back(subject->name(), results_of(c, trial, oracles));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double worst = disagreement(results[i].second, results[j].second);
      RC_LOG() << results[i].first << " and " << results[j].first << ": " << worst << " of their bounds\n";
      RC_ASSERT(worst <= 1);
      ++compared;
    }
  }
}

TEST_CASE("every two implementations agree with each other, the naive matrix and the oracle", "[cross_check]") {
  const Subjects subjects = builtins();
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
      int compared = 0;
      const std::string way = std::string(name(dtype)) + " from " + std::string(name(source));
      rc::prop(way, [&] { all_agree(subjects, any_call(dtype, source), compared); });
      // Three or four take part: half_split or interleaved, naive_matrix, and complex where both halves are equal. With
      // matrix and oracle that makes six comparisons or more. (Catch comes here once for each property.)
      CHECK((compared == 0 || compared >= 100 * 6));
    }
  }
}

TEST_CASE("the cross-check accepts a right kernel and refutes wrong ones", "[cross_check]") {
  const auto refuted = [](const std::string& id) {
    Subjects subjects = builtins();
    subjects.push_back(mutant(id));
    int compared = 0;
    return test::counterexample([&] { all_agree(subjects, any_call(), compared); });
  };
  const auto right = refuted("none");
  INFO(right.value_or(""));
  CHECK_FALSE(right.has_value());
  for (const char* id : {"PAIR-01", "SIGN-01", "FREQ-01", "PREC-01", "PREC-05", "PREC-F64-AS-F32", "POS-01", "VAR-01",
                         "AXIS-03", "PART-05", "TAB-HALVES", "BWD-AS-FORWARD", "SCALE-YARN-TRUNCATE", "MEM-03"}) {
    INFO(id);
    const auto found = refuted(id);
    CHECK(found.has_value());
    CHECK_THAT(found.value_or(""), Catch::Contains(id));
  }
}

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
}  // namespace rope
