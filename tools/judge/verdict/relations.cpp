#include "tools/judge/verdict/relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "reference/norm.hpp"

namespace rope {
namespace {

// The compared values are computed here, in double. Each side takes at most two operations of half a unit, or one and a
// norm_of() of a whole unit.
constexpr double own_rounding = 5 * 0x1p-53;

}  // namespace

RelatedRow related_row(const Trial& trial, const Tensor& input, const Tensor& output, const RowIndex& row,
                       Expectation& expectation) {
  RelatedRow result;
  const auto read = [&](const Tensor& t) {
    std::vector<double> values(static_cast<std::size_t>(t.shape[3]));
    load(t.dtype, row_data(t, row), t.strides[3], values.size(), values.data());
    return values;
  };
  result.value = read(output);
  const std::vector<double> x = read(input);
  const std::vector<PairAngle>& angles = expectation.angles(row.batch, row.seq);
  const double table = trial.call.cos ? unit_roundoff(trial.call.cos->dtype) : 0;
  const double lambda = std::fabs(expectation.lambda());
  result.pair_norm.reserve(expectation.pairs());
  result.pair_bound.reserve(expectation.pairs());
  result.norm_bound.reserve(expectation.pairs());
  for (std::size_t p = 0; p < expectation.pairs(); ++p) {
    const double a = x[static_cast<std::size_t>(expectation.first(p))];
    const double b = x[static_cast<std::size_t>(expectation.second(p))];
    const double r = expectation.reach(a, b, p);
    result.pair_norm.push_back(norm_of(a, b) * lambda);  // also a compared value: see own_rounding
    const double of_tables = r * lambda * table;
    result.pair_bound.push_back(expectation.bound(p, angles[p].phi, r) + of_tables);
    // Two elements, each within the bound, move the norm by at most sqrt(2) times the bound.
    result.norm_bound.push_back(std::numbers::sqrt2 * (expectation.bound_by_any_angle(p, r) + of_tables));
    const bool is_lost = expectation.may_overflow(r, result.pair_bound.back()) &&
                         !(std::isfinite(result.value[static_cast<std::size_t>(expectation.first(p))]) &&
                           std::isfinite(result.value[static_cast<std::size_t>(expectation.second(p))]));
    result.lost.push_back(is_lost);
    result.has_lost = result.has_lost || is_lost;
  }
  return result;
}

void relate(Finding& finding, const char* tensor, const RowIndex& row, std::int64_t feature,
            std::optional<std::size_t> pair, double expected, double actual, double bound, Compared what) {
  ++finding.compared;
  const double smaller = std::min(std::fabs(expected), std::fabs(actual));
  if (bound > 0 && std::isfinite(smaller)) bound += own_rounding * smaller;
  if (std::isnan(bound) && std::isfinite(expected) && std::isfinite(actual)) {
    throw std::logic_error(fmt::format("the bound of a relation is NaN, at feature {} of {}", feature, tensor));
  }
  const double error = actual == expected ? 0 : std::fabs(actual - expected);
  const double ratio = error == 0 ? 0 : error / bound;
  const double use = error <= bound || ratio > 1 ? ratio : std::numeric_limits<double>::infinity();  // NaN
  if (use > 1) {
    ++finding.wrong;
    finding.kind = FailureKind::relation;
  }
  if (finding.element && use <= finding.use) return;
  finding.use = use;
  Element e;
  e.what = what;
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

void relate_pairs(Finding& finding, const char* tensor, const RowIndex& row, const Expectation& expectation,
                  const RelatedRow& expected, const RelatedRow& actual) {
  for (std::size_t p = 0; p < expectation.pairs(); ++p) {
    if (expected.lost[p] || actual.lost[p]) continue;
    for (int feature : {expectation.first(p), expectation.second(p)}) {
      const auto j = static_cast<std::size_t>(feature);
      relate(finding, tensor, row, feature, p, expected.value[j], actual.value[j],
             expected.pair_bound[p] + actual.pair_bound[p]);
    }
  }
}

void same_row(Finding& finding, const char* tensor, const Tensor& first, const RowIndex& row, const Tensor& again,
              const RowIndex& other) {
  const std::size_t size = size_of(first.dtype);
  const std::byte* before = row_data(first, row);
  const std::byte* after = row_data(again, other);
  const auto features = static_cast<std::size_t>(first.shape[3]);
  if (first.strides[3] == 1 && again.strides[3] == 1 && std::memcmp(before, after, features * size) == 0) {
    finding.compared += first.shape[3];
    return;
  }
  for (std::int64_t j = 0; j < first.shape[3]; ++j) {
    ++finding.compared;
    const std::byte* one = before + j * feature_step(first);
    const std::byte* two = after + j * feature_step(again);
    if (std::memcmp(one, two, size) == 0 || finding.wrong++ > 0) continue;
    finding.kind = FailureKind::repetition;
    finding.use = std::numeric_limits<double>::infinity();
    Element e;
    e.tensor = tensor;
    e.row = row;
    e.feature = j;
    e.expected = load(first.dtype, one);
    e.actual = load(first.dtype, two);
    e.dtype = first.dtype;
    store(e.dtype, &e.actual_bits, e.actual);
    e.error = std::fabs(e.actual - e.expected);
    finding.element = e;
  }
}

Finding same_bits(const Trial& first, const Trial& again) {
  Finding finding;
  const auto compare = [&](const char* name, const Tensor& before, const Tensor& after) {
    for_each_row(before,
                 [&](const RowIndex& row, const std::byte*) { same_row(finding, name, before, row, after, row); });
  };
  compare("q", first.call.q_result(), again.call.q_result());
  if (first.k) compare("k", first.call.k_result(), again.call.k_result());
  return finding;
}

}  // namespace rope
