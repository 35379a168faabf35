#include "tests/conformance/relations.hpp"

#include <cmath>
#include <limits>

namespace rope {

RelatedRow related_row(const Trial& trial, const Tensor& input, const Tensor& output, const RowIndex& row,
                       Expectation& expectation) {
  const auto read = [&](const Tensor& t, std::int64_t feature) { return value_at(t, row, feature); };
  RelatedRow result;
  for (std::int64_t j = 0; j < input.shape[3]; ++j) result.value.push_back(read(output, j));
  const std::vector<PairAngle>& angles = expectation.angles(row.batch, row.seq);
  const double table = trial.call.cos ? unit_roundoff(trial.call.cos->dtype) : 0;
  for (std::size_t p = 0; p < expectation.pairs(); ++p) {
    const double a = read(input, expectation.first(p));
    const double b = read(input, expectation.second(p));
    const double r = expectation.reach(a, b, angles[p]);
    result.pair_norm.push_back(std::hypot(a, b) * std::fabs(expectation.lambda()));
    result.pair_bound.push_back(expectation.bound(p, angles[p].phi, r) + r * std::fabs(expectation.lambda()) * table);
  }
  return result;
}

void relate(Finding& finding, const char* tensor, const RowIndex& row, std::int64_t feature,
            std::optional<std::size_t> pair, double expected, double actual, double bound) {
  ++finding.compared;
  const double error = std::fabs(actual - expected);
  const double ratio = error == 0 ? 0 : error / bound;
  const double use = error <= bound || ratio > 1 ? ratio : std::numeric_limits<double>::infinity();  // NaN
  if (use > 1) {
    ++finding.wrong;
    finding.kind = FailureKind::relation;
  }
  if (finding.element && use <= finding.use) return;
  finding.use = use;
  Element e;
  e.tensor = tensor;
  e.row = row;
  e.feature = feature;
  e.pair = pair;
  e.expected = expected;
  e.actual = actual;
  e.dtype = DType::f64;
  store(DType::f64, &e.actual_bits, actual);
  e.error = error;
  e.bound = bound;
  finding.element = e;
}

}  // namespace rope
