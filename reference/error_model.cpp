#include "reference/error_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/running_error.hpp"

namespace rope {

std::string grade_name(AngleGrade angle, ArithmeticGrade arithmetic) {
  return {static_cast<char>('A' + static_cast<int>(angle)), static_cast<char>('1' + static_cast<int>(arithmetic))};
}

DType working_type(DType input) { return input == DType::f64 ? DType::f64 : DType::f32; }

namespace {

std::vector<RunningError> tracked_theta(const RopeSpec& spec, std::int64_t sequence_length) {
  scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, sequence_length};
  if (!spec.axes.restart || spec.axes.sections.empty()) return frequencies<RunningError>(spec.scaling, setting);
  std::vector<RunningError> theta;
  for (int pairs : spec.axes.sections) {
    if (pairs == 0) continue;
    setting.head_dim = setting.rotary_dim = 2 * pairs;
    const auto section = frequencies<RunningError>(spec.scaling, setting);
    theta.insert(theta.end(), section.begin(), section.end());
  }
  return theta;
}

}  // namespace

std::vector<double> direct_constants(const RopeSpec& spec, std::int64_t sequence_length) {
  std::vector<double> constants;
  for (const RunningError& theta : tracked_theta(spec, sequence_length)) {
    constants.push_back(theta.value == 0 ? 0 : theta.error / std::fabs(theta.value));
  }
  return constants;
}

std::vector<double> recurrence_constants(const RopeSpec& spec, const std::vector<double>& direct) {
  const double step = 3 + 2 * std::fabs(std::log(spec.base)) / spec.rotary_dim;
  std::vector<double> constants = direct;
  for (std::size_t p = 0; p < constants.size(); ++p) constants[p] += static_cast<double>(p) * step;
  return constants;
}

BoundTerms bound_terms(const BoundSetting& setting) {
  const DType working = working_type(setting.input);
  const double u = unit_roundoff(working);
  const bool scaled = setting.lambda != 1;

  BoundTerms terms;
  terms.angle_unit = setting.knowledge == AngleKnowledge::tables ? 0 : u;
  terms.angle_exact_unit = terms.angle_unit == 0 || working == DType::f64 ? 0 : unit_roundoff(DType::f64);

  const double libm = setting.knowledge == AngleKnowledge::tables ? 0 : std::numbers::sqrt2 * 0.61 * u;
  const bool narrowed = setting.knowledge == AngleKnowledge::tables && unit_roundoff(setting.given) < u;
  const double base = libm + (narrowed ? u : 0) + 2 * u + (scaled ? 2 * u : 0);

  // Of the two 16-bit types that a call may name, the narrower one is what a kernel may keep its tables in.
  const double u_in = setting.input == DType::f64 || setting.input == DType::f32 ? 0 : unit_roundoff(setting.input);
  const double u_out = setting.output == DType::f64 || setting.output == DType::f32 ? 0 : unit_roundoff(setting.output);
  const double u_store = std::max(u_in, u_out);
  terms.arithmetic[0] = base + u_out;
  terms.arithmetic[1] = base + (u_out + u_store) * (1 + 2 * u_store);
  terms.arithmetic[2] = base + (3 + (scaled ? 2 : 0)) * u_store * (1 + 3 * u_store);

  // Halved last: half of f64's smallest subnormal is no double.
  const double inside = 3 * smallest_subnormal(working);
  const double last = smallest_subnormal(setting.output);
  const double every = 3 * std::max(last, smallest_subnormal(u_in > u_out ? setting.input : setting.output));
  terms.tiny = {(inside + last) / 2, (inside + last) / 2, (inside + every) / 2};
  return terms;
}

}  // namespace rope
