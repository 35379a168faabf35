// Implementations against each other, the naive matrix and the oracle, on random specs. Bounds come from the error
// model through Expectation, or are derived where they are used.
#include "tests/unit/impls/cross_check.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/naive_matrix.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::cross_check {
namespace {

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

// The plan that a call describes; theta from the call if it gives frequencies.
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
                      {{entry(*call.cos, pair.first), -entry(*call.sin, pair.first)},
                       {entry(*call.sin, pair.second), entry(*call.cos, pair.second)}}});
  }
  return blocks;
}

// The same by the naive matrix, which shares no code with the oracle; positions come directly from the case.
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
      const RotationMatrix rotation = rotation_matrix(std::move(blocks));
      std::vector<double> x;
      for (int j = 0; j < c.spec.head_dim; ++j) x.push_back(value_at(input, row, j));
      const std::vector<double> y = multiply(rotation, x, c.spec.head_dim);
      for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
        const auto first = static_cast<std::size_t>(plan.pairs[p].first);
        const auto second = static_cast<std::size_t>(plan.pairs[p].second);
        const MatrixBlock& b = rotation.blocks[p];
        const double gain =
            std::max(std::hypot(b.entries[0][0], b.entries[0][1]), std::hypot(b.entries[1][0], b.entries[1][1]));
        const double norm = gain * std::hypot(x[first], x[second]);
        const double m = static_cast<double>(position[static_cast<std::size_t>(plan.pairs[p].axis)]);
        const double phi = call.source == AngleSource::tables ? 0 : m * plan.pairs[p].theta.to_double();
        // As in oracle_test.cpp. `norm` is itself computed from rounded entries, hence the 1 + 4u.
        const double bound = norm * ((std::sqrt(2.0) + 2) * u + (std::fabs(phi) + 8) * 0x1p-63) * (1 + 4 * u);
        results.push_back({{y[first], 0}, {y[second], 0}, bound, norm});
      }
    });
  }
  return results;
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

// The property: every two subjects that claim the case agree with each other, and each agrees with the naive matrix and
// with the oracle.
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
      // Three or four take part: half_split or interleaved, naive_matrix, cuda-on-cpu, and complex if both halves are
      // equal. With matrix and oracle that makes ten comparisons or more. (Catch runs this line once for each
      // property.)
      CHECK((compared == 0 || compared >= 100 * 10));
    }
  }
}

TEST_CASE("the cross-check accepts a right kernel and refutes wrong ones", "[cross_check]") {
  const auto refuted = [](const std::string& id, int calls) {
    Subjects subjects = builtins();
    subjects.push_back(mutant(id));
    int compared = 0;
    return test::counterexample([&] { all_agree(subjects, any_call(), compared); }, calls);
  };
  const auto right = refuted("none", 100);
  INFO(right.value_or(""));
  CHECK_FALSE(right.has_value());
  for (const char* id : {"PAIR-01", "SIGN-01", "FREQ-01", "PREC-01", "PREC-05", "PREC-F64-AS-F32", "POS-01", "VAR-01",
                         "AXIS-03", "PART-05", "TAB-HALVES", "BWD-AS-FORWARD", "SCALE-YARN-TRUNCATE", "MEM-03"}) {
    INFO(id);
    const auto found = refuted(id, 1000);  // some rules are drawn rarely
    CHECK(found.has_value());
    CHECK_THAT(found.value_or(""), Catch::Contains(id));
  }
}

}  // namespace
}  // namespace rope::cross_check
