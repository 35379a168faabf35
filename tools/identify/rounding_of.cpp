#include "tools/identify/rounding_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/rotation_plan.hpp"
#include "tools/identify/phase.hpp"

namespace rope {
namespace {

double rounded(DType dtype, double value) {
  std::uint64_t bits = 0;
  store(dtype, &bits, value);
  return load(dtype, &bits);
}

// This many values in a narrower type cannot be an accident: one f32 number in 2^13 is also a bf16 or f16 number.
constexpr int enough = 8;

}  // namespace

std::vector<std::string> rounded_factors(const std::vector<std::vector<Block>>& blocks, DType dtype, double lambda) {
  if (lambda != 1) return {};
  for (const DType narrow : {DType::bf16, DType::f16, DType::f32}) {
    if (unit_roundoff(narrow) <= unit_roundoff(dtype)) continue;
    int seen = 0;
    bool all = true;
    for (const std::vector<Block>& pair : blocks) {
      for (const Block& b : pair) {
        for (const double value : {b.aa, b.ab, b.ba, b.bb}) {
          if (value == 0 || std::fabs(value) == 1) continue;
          ++seen;
          all = all && rounded(narrow, value) == value;
        }
      }
    }
    if (all && seen >= enough) return {fmt::format("cos and sin, or results, are rounded to {}", name(narrow))};
  }
  return {};
}

std::string rounded_theta(const std::vector<MeasuredTheta>& theta, const FrequencyRule& rule,
                          std::int64_t sequence_length) {
  const RotationPlan plan = compile(rule.spec, sequence_length);
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    int told_apart = 0;
    bool all = true;
    for (std::size_t p = 0; p < std::min(theta.size(), plan.pairs.size()); ++p) {
      const double exact = plan.pairs[p].theta.to_double();
      // Only where the two can be told apart: within the error of the one is not within the error of the other.
      if (std::fabs(rounded(dtype, exact) - exact) <= 2 * theta[p].error) continue;
      ++told_apart;
      // The exact value was rounded at once, or after f32 arithmetic; near a tie the latter gives the neighbour.
      const double before = dtype == DType::f32 ? 0 : of_float;
      const auto is = [&](double made) {
        return std::fabs(wrapped(theta[p].value - rounded(dtype, made))) <= theta[p].error;
      };
      all = all && (is(exact) || is(exact * (1 - before)) || is(exact * (1 + before)));
    }
    if (all && told_apart >= 3) return fmt::format("theta is rounded to {}", name(dtype));
  }
  return "";
}

}  // namespace rope
