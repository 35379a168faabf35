#include "tools/identify/frequency_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reference/input_error.hpp"
#include "reference/rotation_plan.hpp"
#include "tools/identify/phase.hpp"
#include "tools/identify/rule_search.hpp"

namespace rope {
namespace {

// Some thousands of candidates are tried (an estimate), so about one in some thousand kernels fits one by accident.
constexpr double accident = 0x1p-24;

std::vector<Slot> slots_of(const RopeSpec& spec) {
  std::vector<Slot> slots;
  const int pairs = spec.rotary_dim / 2;
  if (!spec.axes.restart || spec.axes.sections.empty()) {
    for (int p = 0; p < pairs; ++p) slots.push_back({-2.0 * p / spec.rotary_dim, true});
    return slots;
  }
  for (std::size_t a = 0; a < spec.axes.sections.size(); ++a) {
    const int section = spec.axes.sections[a];
    for (int p = 0; p < section; ++p) slots.push_back({-1.0 * p / section, a == 0});
  }
  return slots;
}

}  // namespace

RuleSearch::RuleSearch(const FrequencyQuestion& question, double relative)
    : question_(question), told_(question.spec), slots_(slots_of(question.spec)), relative_(relative) {
  geometric_ = fit_geometric(points(), relative);
}

std::vector<FrequencyRule> RuleSearch::rules() {
  if (question_.theta.empty()) return {};
  // Rules with fewer parameters first: if one fits, a rule with more parameters tells nothing new.
  const auto tried = {&RuleSearch::as_told,      &RuleSearch::constant, &RuleSearch::length_dependent,
                      &RuleSearch::geometric,    &RuleSearch::pixel,    &RuleSearch::scaled,
                      &RuleSearch::proportional, &RuleSearch::bent,     &RuleSearch::factor_a_pair};
  for (const auto propose : tried) {
    (this->*propose)();
    if (!rules_.empty()) break;
  }
  return std::move(rules_);
}

std::vector<GeometricPoint> RuleSearch::points() const {
  std::vector<GeometricPoint> all;
  for (std::size_t p = 0; p < slots_.size(); ++p) {
    if (slots_[p].first_axis) all.push_back({slots_[p].exponent, question_.theta[p].value, question_.theta[p].error});
  }
  return all;
}

bool RuleSearch::take(RopeSpec spec, std::optional<Taken> taken) {
  spec.attention_factor.reset();
  FrequencyRule rule;
  rule.spec = std::move(spec);
  rule.words = rule_words(rule.spec.scaling, rule.spec.base);
  rule.base_error = taken ? taken->base_error : 0;
  rule.factor_error = taken ? taken->factor_error : 0;
  rule.theta_roundoff = relative_;
  rule.misfit = misfit(rule.spec, question_.sequence_length, question_.theta, relative_);
  for (const auto& other : question_.other_lengths) {
    rule.misfit = std::max(rule.misfit, misfit(rule.spec, other.sequence_length, other.theta, relative_));
  }
  if (!(rule.misfit <= 1)) return false;
  if (taken && chance(rule.spec, taken->numbers) > accident) return false;
  rules_.push_back(std::move(rule));
  return true;
}

// The probability that angles of any size fit the spec: each pair's tolerance divided by half a turn. As many pairs as
// the rule took numbers from fit in any case; those with the least tolerance count as these.
double RuleSearch::chance(const RopeSpec& spec, int numbers) const {
  std::vector<double> allowed;
  const auto add = [&](std::int64_t length, const std::vector<MeasuredTheta>& theta) {
    const RotationPlan plan = compile(spec, length);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const double error = theta[p].error + relative_ * std::fabs(plan.pairs[p].theta.to_double());
      allowed.push_back(std::min(1.0, error / std::numbers::pi));
    }
  };
  add(question_.sequence_length, question_.theta);
  // Other lengths tell more, but only about rules that follow the length.
  if (follows_length(spec.scaling) && lists_of(spec.scaling).empty()) {
    for (const auto& other : question_.other_lengths) add(other.sequence_length, other.theta);
  }
  std::sort(allowed.begin(), allowed.end());
  double product = 1;
  for (std::size_t p = static_cast<std::size_t>(numbers); p < allowed.size(); ++p) product *= allowed[p];
  return product;
}

RopeSpec RuleSearch::with(double base, Scaling scaling) const {
  RopeSpec spec = told_;
  spec.base = base;
  spec.scaling = std::move(scaling);
  return spec;
}

double RuleSearch::written(double value, double error) {
  for (int digits = 1; digits <= 15; ++digits) {
    const double rounded = std::stod(fmt::format("{:.{}g}", value, digits));
    if (std::fabs(rounded - value) <= error) return rounded;
  }
  return value;
}

double RuleSearch::likely(double value, double error, double told) const {
  return std::fabs(value - told) <= error ? told : written(value, error);
}

double misfit(const RopeSpec& spec, std::int64_t sequence_length, const std::vector<MeasuredTheta>& theta,
              double relative) {
  try {
    validate(spec);
    const RotationPlan plan = compile(spec, sequence_length);
    if (plan.pairs.size() != theta.size()) return INFINITY;
    double worst = 0;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      if (std::isinf(theta[p].error)) continue;
      const double exact = plan.pairs[p].theta.to_double();
      const double allowed = theta[p].error + relative * std::fabs(exact);
      const double off = std::fabs(wrapped(theta[p].value - exact));
      worst = std::max(worst, off == 0 ? 0 : off / allowed);
    }
    return worst;
  } catch (const InputError&) {
    return INFINITY;
  }
}

std::vector<FrequencyRule> frequency_rules(const FrequencyQuestion& question, double relative) {
  return RuleSearch(question, relative).rules();
}

}  // namespace rope
