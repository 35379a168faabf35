#include "tools/identify/rule_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/identify/phase.hpp"

namespace rope {

// The rule that the kernel was given, if that predicts the measurement: no other rule is likelier.
void RuleSearch::as_told() {
  if (!take(told_, {})) return;
  if (const auto* ntk = std::get_if<scaling::Ntk>(&told_.scaling)) {
    const double r = told_.rotary_dim;
    rules_.back().also.push_back(rule_words(scaling::None{}, told_.base * std::pow(ntk->factor, r / (r - 2))));
  }
}

void RuleSearch::constant() { take(with(told_.base, scaling::Constant{}), Taken{0}); }

// theta[0] is 1. Taking that for granted, the base is known better.
void RuleSearch::geometric() {
  if (!geometric_ || std::fabs(std::log(geometric_->start)) > 2 * geometric_->start_error) return;
  const GeometricFit fit = fit_through_one(points(), *geometric_, relative_);
  for (const double base : {likely(fit.base, fit.base * fit.base_error, told_.base), fit.base}) {
    if (!take(with(base, scaling::None{}), Taken{1, fit.base_error})) continue;
    other_readings(base);
    return;
  }
}

void RuleSearch::scaled() {
  if (!geometric_) return;
  const GeometricFit& fit = *geometric_;
  // Prefers few digits if that fits as well.
  for (const double factor : {written(1 / fit.start, 2 * fit.start_error / fit.start), 1 / fit.start}) {
    for (const double base : {likely(fit.base, fit.base * fit.base_error, told_.base), fit.base}) {
      if (!take(with(base, scaling::Linear{{}, factor}), Taken{2, fit.base_error, 2 * fit.start_error})) continue;
      other_readings_of_factor(base, factor);
      return;
    }
  }
}

bool RuleSearch::predicts(double base, Scaling scaling) const {
  return misfit(with(base, std::move(scaling)), question_.sequence_length, question_.theta, relative_) <= 1;
}

void RuleSearch::other_readings_of_factor(double base, double factor) {
  std::vector<std::string>& also = rules_.back().also;
  if (predicts(base, scaling::Linear{{}, 0.5})) {
    also.push_back(fmt::format("every angle twice what base {:.10g} makes it, as where rope is applied twice", base));
  }
  const double pairs = std::round(std::log(factor) / std::log(base) * told_.rotary_dim / 2);
  if (predicts(base, scaling::Linear{{}, std::pow(base, 2 * pairs / told_.rotary_dim)})) {
    also.push_back(fmt::format("base {:.10g} with the exponent of pair p {:+.0f}", base, pairs));
  }
}

// Other readings of a base, if the kernel was given another one.
void RuleSearch::other_readings(double base) {
  const double r = told_.rotary_dim;
  const double told = told_.base;
  if (base == told) return;
  const FrequencyRule found = rules_.back();
  std::vector<std::string>& also = rules_.back().also;
  const auto exponent_times = [&](double factor) { return predicts(std::pow(told, factor), scaling::None{}); };
  if (told_.head_dim != told_.rotary_dim && exponent_times(r / told_.head_dim)) {
    also.push_back(fmt::format("base {:.10g} with exponents over head_dim {}, not rotary_dim {}", told, told_.head_dim,
                               told_.rotary_dim));
  }
  if (exponent_times(0.5)) also.push_back(fmt::format("base {:.10g} with exponent -p/r, the 2 lost", told));
  if (exponent_times(2)) also.push_back(fmt::format("base {:.10g} with exponent -4p/r, the 2 twice", told));
  if (exponent_times(-1)) also.push_back(fmt::format("base {:.10g} with exponent +2p/r, its sign lost", told));
  const double factor = std::pow(base / told, (r - 2) / r);
  if (r == 2 || !(factor >= 1)) return;
  const double in_few_digits = written(factor, factor * found.base_error);
  for (const double f : {in_few_digits, factor}) {
    if (!predicts(told, scaling::Ntk{{}, f})) continue;
    also.push_back(rule_words(scaling::Ntk{{}, f}, told));
    return;
  }
}

void RuleSearch::proportional() {
  if (told_.rotary_dim != told_.head_dim) return;
  const auto turns = [](const MeasuredTheta& t) { return std::fabs(t.value) > t.error; };
  const auto& theta = question_.theta;
  const auto first_still = std::find_if_not(theta.begin(), theta.end(), turns);
  if (first_still == theta.end() || std::any_of(first_still, theta.end(), turns)) return;
  const auto turning = static_cast<double>(first_still - theta.begin());
  scaling::Proportional rule;
  // Any proportion from this number of pairs up to the next gives the same; take the one with the fewest digits.
  const double least = 2 * turning / told_.head_dim, wide = 2.0 / told_.head_dim;
  rule.proportion = least + wide / 2;
  for (double unit = 0.1; unit > 1e-6; unit /= 10) {
    const double up = std::ceil(least / unit) * unit;
    if (std::floor(up * told_.head_dim / 2) != turning) continue;
    rule.proportion = up;
    break;
  }
  if (turning == 0) {
    take(with(told_.base, rule), Taken{0});
    return;
  }
  if (!geometric_) {  // one pair fits any base
    for (const double factor :
         {written(1 / theta[0].value, theta[0].error / (theta[0].value * theta[0].value)), 1 / theta[0].value}) {
      rule.factor = factor;
      if (turning == 1 && take(with(told_.base, rule), Taken{1})) return;
    }
    return;
  }
  const GeometricFit& fit = *geometric_;
  for (const double factor : {written(1 / fit.start, 2 * fit.start_error / fit.start), 1 / fit.start}) {
    for (const double base : {likely(fit.base, fit.base * fit.base_error, told_.base), fit.base}) {
      rule.factor = factor;
      if (take(with(base, rule), Taken{2, fit.base_error, 2 * fit.start_error})) return;
    }
  }
}

// Evenly spaced from pi. Steps are known only up to whole turns; the ones with the least max_frequency are taken.
void RuleSearch::pixel() {
  const auto& theta = question_.theta;
  const std::size_t last = theta.size() - 1;
  if (last == 0) {  // any max_frequency
    take(with(told_.base, scaling::Pixel{}), Taken{0});
    return;
  }
  // Each further pair gives the step more precisely.
  double step = 0;
  for (std::size_t p = 1; p <= last; ++p) {
    const double even = std::numbers::pi + static_cast<double>(p) * step;
    step += wrapped(theta[p].value - even) / static_cast<double>(p);
  }
  for (const double whole : {step, step + 2 * std::numbers::pi}) {
    const double max = 2 + 2 * whole / std::numbers::pi * static_cast<double>(last);
    if (!(max > 0)) continue;
    const double error = 2 / std::numbers::pi * (theta[last].error + relative_ * max);
    for (const double max_frequency : {written(max, error), max}) {
      if (!take(with(told_.base, scaling::Pixel{{}, max_frequency}), Taken{1})) continue;
      rules_.back().also.push_back(fmt::format("pixel, max_frequency more by any multiple of {}", 4 * last));
      return;
    }
    return;
  }
}

}  // namespace rope
