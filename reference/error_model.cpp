#include "reference/error_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/running_error.hpp"

namespace rope {

std::string name(Grade grade) {
  return {static_cast<char>('A' + static_cast<int>(grade.angle)),
          static_cast<char>('1' + static_cast<int>(grade.arithmetic))};
}

std::optional<Grade> grade_from_name(std::string_view text) {
  if (text.size() != 2 || text[0] < 'A' || text[0] > 'C' || text[1] < '1' || text[1] > '3') return std::nullopt;
  return Grade{static_cast<AngleGrade>(text[0] - 'A'), static_cast<ArithmeticGrade>(text[1] - '1')};
}

DType working_type(DType input) { return input == DType::f64 ? DType::f64 : DType::f32; }

namespace {

template <ThetaBy way>
std::vector<RunningErrorBy<way>> tracked_theta(const RopeSpec& spec, std::int64_t sequence_length) {
  using Number = RunningErrorBy<way>;
  scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, sequence_length};
  if (!spec.axes.restart || spec.axes.sections.empty()) return frequencies<Number>(spec.scaling, setting);
  std::vector<Number> theta;
  for (int pairs : spec.axes.sections) {
    if (pairs == 0) continue;
    setting.head_dim = setting.rotary_dim = 2 * pairs;
    const auto section = frequencies<Number>(spec.scaling, setting);
    theta.insert(theta.end(), section.begin(), section.end());
  }
  return theta;
}

template <ThetaBy way>
std::vector<double> constants_by(const RopeSpec& spec, std::int64_t sequence_length) {
  std::vector<double> constants;
  for (const RunningErrorBy<way>& theta : tracked_theta<way>(spec, sequence_length)) {
    constants.push_back(theta.value == 0 ? 0 : theta.error / std::fabs(theta.value));
  }
  return constants;
}

}  // namespace

std::vector<double> direct_constants(const RopeSpec& spec, std::int64_t sequence_length) {
  return constants_by<ThetaBy::power>(spec, sequence_length);
}

std::vector<double> loosest_constants(const RopeSpec& spec, std::int64_t sequence_length) {
  std::vector<double> constants = direct_constants(spec, sequence_length);
  const std::vector<double> recurrence = constants_by<ThetaBy::recurrence>(spec, sequence_length);
  const std::vector<double> exponential = constants_by<ThetaBy::exponential>(spec, sequence_length);
  for (std::size_t p = 0; p < constants.size(); ++p) {
    constants[p] = std::max({constants[p], recurrence[p], exponential[p]});
  }
  return constants;
}

// The error of cos and sin, in ulp of a value below 1, which is u. error_model.md has the sources.
constexpr double good_libm = 0.61;
constexpr double loosest_libm = 4;

BoundTerms bound_terms(const BoundSetting& setting) {
  const DType working = working_type(setting.input);
  const double u = unit_roundoff(working);
  const bool scaled = setting.lambda != 1;

  BoundTerms terms;
  terms.angle_unit = setting.knowledge == AngleKnowledge::tables ? 0 : u;
  terms.angle_exact_unit = terms.angle_unit == 0 || working == DType::f64 ? 0 : unit_roundoff(DType::f64);

  const bool own = setting.knowledge != AngleKnowledge::tables;
  const double libm = own ? std::numbers::sqrt2 * good_libm * u : 0;
  terms.functions_at_any_angle = own ? std::numbers::sqrt2 * (loosest_libm - good_libm) * u : 0;
  terms.loose_functions = working == DType::f64 ? terms.functions_at_any_angle : 0;
  const bool narrowed = setting.knowledge == AngleKnowledge::tables && unit_roundoff(setting.given) < u;
  const double base = libm + (narrowed ? u : 0) + 2 * u + (scaled ? 2 * u : 0);

  // What a storage type narrower than the working type costs. If a call may name two such types, the narrower one
  // counts, because a kernel may keep its tables in it.
  // From f64 a kernel may reach a 16-bit type through f32: two roundings.
  const double u_f32 = unit_roundoff(DType::f32);
  const auto of_storage = [&](DType storage) {
    const double once = unit_roundoff(storage);
    return once <= u ? 0 : once + (working == DType::f64 && once > u_f32 ? u_f32 * (1 + once) : 0);
  };
  const double u_in = of_storage(setting.input);
  const double u_out = of_storage(setting.output);
  const double u_store = std::max(u_in, u_out);
  terms.arithmetic[0] = base + u_out;
  terms.arithmetic[1] = base + (u_out + u_store) * (1 + 2 * u_store);
  terms.arithmetic[2] = base + (3 + (scaled ? 2 : 0)) * u_store * (1 + 3 * u_store);

  // Halved last: no double holds half of f64's smallest subnormal.
  // A kernel may multiply by lambda last, and with it what it has lost before.
  const double inside = 3 * smallest_subnormal(working) * std::max(1.0, std::fabs(setting.lambda));
  const double last = smallest_subnormal(setting.output);
  const double coarser = u_in == 0 ? last : std::max(last, smallest_subnormal(setting.input));
  terms.tiny = {(inside + last) / 2, (inside + 2 * last) / 2, (inside + 3 * coarser) / 2};

  if (unit_roundoff(setting.output) > unit_roundoff(setting.input)) {
    terms.copy = std::max(u_out, unit_roundoff(setting.output));
  }
  if (last > smallest_subnormal(setting.input)) terms.copy_tiny = last / 2;
  return terms;
}

}  // namespace rope
