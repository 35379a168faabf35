// ROT: a rotation is linear.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/conformance/requirements.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/verdict/relations.hpp"

namespace rope {
namespace {

void linear_cases(CaseList& list) {
  list.for_each_variant(64, [&](Case c) {
    c.start = 300;
    list.add(c);
  });
  list.add_random(60, [](Case& c) { c.unequal_halves = false; });
}

// Two calls on inputs that differ by `change`; each row of the second is related to the first by `expected_of`.
Trial run_changed(const Case& c, Examiner& examiner, const std::function<double(int feature, double x)>& change) {
  Call call = examiner.build(c);
  for_each_row(call.q, [&](const RowIndex&, std::byte* data) {
    for (int j = 0; j < c.spec.head_dim; ++j) {
      std::byte* element = data + j * feature_step(call.q);
      store(c.dtype, element, change(j, load(c.dtype, element)));
    }
  });
  return examiner.run(std::move(call));
}

enum class Exactness { within_bound, bit_for_bit };

// Twice the larger of the two types' smallest normal numbers. Above it every rounding to either of the call's two types
// is relative, so a factor that is a power of two changes no rounding.
double smallest_relative(const Trial& trial) {
  const auto of_type = [](DType dtype) { return smallest_subnormal(dtype) / unit_roundoff(dtype); };
  return std::max(of_type(trial.q.dtype), of_type(trial.call.q_result().dtype));
}

// Whether the products of the pair's features with cos and sin exceed smallest_relative(), before and after scaling.
bool far_from_underflow(const Trial& trial, const RowIndex& row, std::size_t pair, Expectation& expected,
                        double factor) {
  const PairAngle& angle = expected.angles(row.batch, row.seq)[pair];
  const double a = std::fabs(value_at(trial.q, row, expected.first(pair)));
  const double b = std::fabs(value_at(trial.q, row, expected.second(pair)));
  const double smallest = std::min({std::fabs(angle.cos_first.hi), std::fabs(angle.sin_first.hi),
                                    std::fabs(angle.cos_second.hi), std::fabs(angle.sin_second.hi)}) *
                          std::min(a, b) * std::min(std::fabs(factor), 1.0);
  return smallest > smallest_relative(trial);
}

std::string times(double factor) { return factor == -1 ? "minus" : fmt::format("{:g} times", factor); }

// y(factor x) = factor y(x), factor a power of two or -1.
Finding scaled_by(double factor, Exactness exactness, const Case& c, Examiner& examiner) {
  const Trial one = examiner.run(c);
  if (!one.ok()) return one.problem;
  const Trial other = run_changed(c, examiner, [&](int, double x) { return factor * x; });
  if (!other.ok()) return other.problem;
  Expectation expected = examiner.expectation(c, one.call);
  Finding finding;
  for_each_row(one.q, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow y = related_row(one, one.q, one.call.q_result(), row, expected);
    const RelatedRow z = related_row(other, other.q, other.call.q_result(), row, expected);
    for (std::size_t p = 0; p < expected.pairs(); ++p) {
      const bool exact = exactness == Exactness::bit_for_bit;
      if (y.lost[p] || z.lost[p]) continue;
      if (exact && !far_from_underflow(one, row, p, expected, factor)) continue;
      for (int feature : {expected.first(p), expected.second(p)}) {
        const auto j = static_cast<std::size_t>(feature);
        const double smaller = std::fabs(y.value[j]) * std::min(std::fabs(factor), 1.0);
        if (exact && smaller < smallest_relative(one)) continue;  // rounded to a subnormal
        const double bound = exact ? 0 : std::fabs(factor) * y.pair_bound[p] + z.pair_bound[p];
        relate(finding, "q", row, feature, p, factor * y.value[j], z.value[j], bound);
      }
    }
  });
  return told(finding, "results", fmt::format("the result of {} the input", times(factor)),
              fmt::format("{} the result", times(factor)));
}

double power_of_two(const Case& c) { return c.seed % 2 == 0 ? 8 : 0.25; }

Finding homogeneity(const Case& c, Examiner& examiner) {
  return scaled_by(power_of_two(c), Exactness::within_bound, c, examiner);
}
Finding exact_homogeneity(const Case& c, Examiner& examiner) {
  return scaled_by(power_of_two(c), Exactness::bit_for_bit, c, examiner);
}
Finding oddness(const Case& c, Examiner& examiner) { return scaled_by(-1, Exactness::within_bound, c, examiner); }
Finding exact_oddness(const Case& c, Examiner& examiner) { return scaled_by(-1, Exactness::bit_for_bit, c, examiner); }

// y(a, 0) + y(0, b) = y(a, b): the parts add up without rounding, so only the kernel's own errors count.
Finding additivity(const Case& c, Examiner& examiner) {
  const Trial whole = examiner.run(c);
  if (!whole.ok()) return whole.problem;
  Expectation expected = examiner.expectation(c, whole.call);
  std::vector<bool> is_first(static_cast<std::size_t>(c.spec.head_dim), false);
  for (std::size_t p = 0; p < expected.pairs(); ++p) is_first[static_cast<std::size_t>(expected.first(p))] = true;
  const auto part = [&](bool firsts) {
    return run_changed(c, examiner,
                       [&](int j, double x) { return is_first[static_cast<std::size_t>(j)] == firsts ? x : 0; });
  };
  const Trial first = part(true);
  const Trial second = part(false);
  if (!first.ok()) return first.problem;
  if (!second.ok()) return second.problem;
  Finding finding;
  for_each_row(whole.q, [&](const RowIndex& row, const std::byte*) {
    const RelatedRow y = related_row(whole, whole.q, whole.call.q_result(), row, expected);
    const RelatedRow a = related_row(first, first.q, first.call.q_result(), row, expected);
    const RelatedRow b = related_row(second, second.q, second.call.q_result(), row, expected);
    for (std::size_t p = 0; p < expected.pairs(); ++p) {
      if (y.lost[p] || a.lost[p] || b.lost[p]) continue;
      for (int feature : {expected.first(p), expected.second(p)}) {
        const auto j = static_cast<std::size_t>(feature);
        const double bound = y.pair_bound[p] + a.pair_bound[p] + b.pair_bound[p];
        relate(finding, "q", row, feature, p, a.value[j] + b.value[j], y.value[j], bound);
      }
    }
  });
  return told(finding, "results", "the result of x + y", "the sum of the results of x and of y");
}

}  // namespace

std::span<const Requirement> linearity_requirements() {
  static constexpr Requirement requirements[] = {
      {"ROT-05", "Multiplying the input by a power of two MUST multiply the output by it, within the bound.", "PREC",
       "differences within the bound: see ROT-11", linear_cases, homogeneity, 0, nullptr, with_calls(2)},
      {"ROT-06", "Negating the input MUST negate the output, within the bound.", "PREC",
       "differences within the bound: see ROT-12", linear_cases, oddness, 0, nullptr, with_calls(2)},
      {"ROT-07", "The output of x + y MUST equal the output of x plus the output of y, within the bound.",
       "PAIR, MEM-03", "wrong maps that are linear: they add up too", linear_cases, additivity, 0, nullptr,
       with_calls(3)},
      {"ROT-11", "Multiplying the input by a power of two SHOULD multiply the output by it, bit for bit.", "PREC",
       "elements close to underflow", linear_cases, exact_homogeneity, mask(Demand::bitwise), nullptr, with_calls(2)},
      {"ROT-12", "Negating the input SHOULD negate the output, bit for bit.", "PREC", "elements close to underflow",
       linear_cases, exact_oddness, mask(Demand::bitwise), nullptr, with_calls(2)},
  };
  return requirements;
}

}  // namespace rope
