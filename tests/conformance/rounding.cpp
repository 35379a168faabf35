// ROT: results are rounded, not truncated.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

// The mean is taken over this many angles, each of another token or pair; reference/error_model.md derives the bound.
constexpr int enough_angles = 1 << 14;

// Rotary dims with fewer pairs than a kernel takes at once: only its code for the pairs that are left over runs. The
// larger ones are for kernels whose positions do not suffice.
constexpr int few_features[] = {6, 14, 30};

int tokens_for(int rotary_dim) { return (2 * enough_angles + rotary_dim - 1) / rotary_dim; }

void many_element_cases(CaseList& list) {
  const auto add = [&](Case c, int heads) {
    const bool narrow = c.out_dtype == DType::f16 || c.out_dtype == DType::bf16;
    if (!narrow || !list.representative().is_width_of(c) || !list.representative().is_given_type_of(c)) return;
    const int rotary_dim = list.spec() ? list.spec()->rotary_dim : c.spec.rotary_dim;
    c.batch = 1;
    c.seq = tokens_for(rotary_dim);
    c.heads = heads;
    const std::int64_t spare = list.claims().capabilities.max_position - (c.seq - 1);
    c.start = std::clamp<std::int64_t>(spare, 0, 300);
    list.add(c);
  };
  list.for_each_variant(128, [&](const Case& c) { add(c, list.level() == Level::quick ? 1 : 2); });
  if (list.spec()) return;
  const auto* few = std::find_if(std::begin(few_features), std::end(few_features), [&](int rotary_dim) {
    return tokens_for(rotary_dim) - 1 <= list.claims().capabilities.max_position;
  });
  if (few == std::end(few_features)) return;
  list.for_each_variant(*few, [&](Case c) {
    c.spec.rotary_dim = std::min(*few, c.spec.head_dim);
    add(c, 1);
  });
}

// Distance between neighbours in a 16-bit type around a value.
double spacing(DType dtype, double value) {
  constexpr std::uint64_t exponent = 0x7ffULL << 52;
  const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & exponent);  // 0 for what is below all
  return std::max(2 * unit_roundoff(dtype) * power, smallest_subnormal(dtype));
}

constexpr double largest_bias = 0.25;  // reference/error_model.md

// No rounding is off by more than a unit.
const char* cause_of(double mean) {
  if (!(std::fabs(mean) <= 1)) return ": results are wrong by more than rounding";
  return mean < 0 ? ": results are cut off" : ": results are rounded away from zero";
}

// The mean error of all elements in units of the mean spacing; away from zero is positive. Rounding to nearest gives 0,
// truncation -1/2, rounding away from zero 1/2.
Finding unbiased(const Case& c, Examiner& examiner) {
  // The mean of fewer, as shrinking tries them, says nothing.
  if (std::int64_t{c.batch} * c.seq * (c.spec.rotary_dim / 2) < enough_angles) return {};
  const Trial trial = examiner.run(c);
  if (!trial.ok()) return trial.problem;
  Expectation expected = examiner.expectation(c, trial.call);
  const Tensor& output = trial.call.q_result();
  const std::size_t pairs = expected.pairs(), features = static_cast<std::size_t>(c.spec.head_dim);
  std::vector<double> x(features), y(features), a(pairs), b(pairs);
  std::vector<ExactPair> exact(pairs);
  double error = 0;
  double spacings = 0;
  std::int64_t results = 0;
  const auto add = [&](std::size_t p, double actual, const DoubleDouble& value) {
    // Beyond the largest number there are no neighbours to round to.
    const bool is_lost = !std::isfinite(actual) && expected.may_overflow(expected.reach(a[p], b[p], p), 0);
    if (value.hi == 0 || is_lost || !(std::fabs(value.hi) <= largest_finite(output.dtype))) return;
    error += ((actual - value.hi) - value.lo) * (value.hi < 0 ? -1 : 1);
    spacings += spacing(output.dtype, value.hi);
    ++results;
  };
  for_each_row(output, [&](const RowIndex& row, const std::byte* data) {
    load(output.dtype, data, output.strides[3], features, y.data());
    load(trial.q.dtype, row_data(trial.q, row), trial.q.strides[3], features, x.data());
    for (std::size_t p = 0; p < pairs; ++p) {
      a[p] = x[static_cast<std::size_t>(expected.first(p))];
      b[p] = x[static_cast<std::size_t>(expected.second(p))];
    }
    rotate_exact(a, b, expected.angles(row.batch, row.seq), expected.lambda(), expected.backward(), exact);
    for (std::size_t p = 0; p < pairs; ++p) {
      add(p, y[static_cast<std::size_t>(expected.first(p))], exact[p].first);
      add(p, y[static_cast<std::size_t>(expected.second(p))], exact[p].second);
    }
  });
  Finding finding;
  if (spacings == 0) return finding;
  const double mean = error / spacings;
  relate(finding, "q", {0, 0, 0}, 0, std::nullopt, 0, mean, largest_bias, Compared::mean);
  finding.message = fmt::format("the mean error of {} results is {:.3g} ulp; a right kernel's is within {:g}{}",
                                results, mean, largest_bias, finding.passed() ? "" : cause_of(mean));
  return finding;
}

}  // namespace

std::span<const Requirement> rounding_requirements() {
  static constexpr Requirement requirements[] = {
      {"ROT-13", "Results of a 16-bit type MUST NOT be biased: on average, rounding MUST favour neither direction.",
       "PREC (truncated, not rounded to nearest)",
       "f32 and f64 results; a bias below a quarter of a unit in the last place", many_element_cases, unbiased},
  };
  return requirements;
}

}  // namespace rope
