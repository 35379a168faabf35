#include "tests/conformance/relations.hpp"

#include <cmath>
#include <cstring>
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

Finding same_bits(const Trial& first, const Trial& again) {
  Finding finding;
  const auto compare = [&](const char* name, const Tensor& before, const Tensor& after) {
    const std::size_t size = size_of(before.dtype);
    for_each_row(before, [&](const RowIndex& row, const std::byte* data) {
      const std::byte* other = row_data(after, row);
      for (std::int64_t j = 0; j < before.shape[3]; ++j) {
        ++finding.compared;
        const std::size_t at = static_cast<std::size_t>(j * before.strides[3]) * size;
        if (std::memcmp(data + at, other + at, size) == 0 || finding.wrong++ > 0) continue;
        finding.kind = FailureKind::repetition;
        finding.use = std::numeric_limits<double>::infinity();
        Element e;
        e.tensor = name;
        e.row = row;
        e.feature = j;
        e.expected = load(before.dtype, data + at);
        e.actual = load(before.dtype, other + at);
        e.dtype = before.dtype;
        store(e.dtype, &e.actual_bits, e.actual);
        e.error = std::fabs(e.actual - e.expected);
        finding.element = e;
      }
    });
  };
  compare("q", first.call.q_result(), again.call.q_result());
  if (first.k) compare("k", first.call.k_result(), again.call.k_result());
  return finding;
}

}  // namespace rope
