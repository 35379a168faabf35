#include "tools/identify/rule_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/identify/phase.hpp"

namespace rope {

// Two bases, one below and one beyond an original length, or two lists of factors.
void RuleSearch::length_dependent() {
  if (question_.other_lengths.empty()) return;
  std::vector<Stretch> stretch;
  const double r = told_.rotary_dim;
  const auto add = [&](std::int64_t length, const std::vector<MeasuredTheta>& theta) {
    std::vector<GeometricPoint> all;
    for (std::size_t p = 0; p < slots_.size(); ++p) {
      if (slots_[p].first_axis) all.push_back({slots_[p].exponent, theta[p].value, theta[p].error});
    }
    const auto fit = fit_geometric(all, relative_);
    if (!fit || std::fabs(std::log(fit->start)) > 2 * fit->start_error) return;
    const GeometricFit line = fit_through_one(all, *fit, relative_);
    const double of_base = std::pow(line.base / told_.base, (r - 2) / r);
    stretch.push_back({static_cast<double>(length), of_base, of_base * line.base_error});
  };
  if (r > 2) {
    add(question_.sequence_length, question_.theta);
    for (const auto& other : question_.other_lengths) add(other.sequence_length, other.theta);
    dynamic(std::move(stretch));
  }
  longrope();
}

void RuleSearch::dynamic(std::vector<Stretch> stretch) {
  std::sort(stretch.begin(), stretch.end(), [](const Stretch& a, const Stretch& b) { return a.length < b.length; });
  if (stretch.size() < 3) return;
  // x(n) = factor n / L - (factor - 1) beyond L: the two longest give a line.
  const auto [n1, x1, error1] = stretch[stretch.size() - 2];
  const auto [n2, x2, error2] = stretch.back();
  const double slope = (x2 - x1) / (n2 - n1), slope_error = (error1 + error2) / (n2 - n1);
  const double factor = 1 - (x2 - slope * n2), factor_error = error2 + slope_error * n2;
  if (!(slope > slope_error) || !(factor > 0)) return;
  const auto* told = std::get_if<scaling::Dynamic>(&told_.scaling);
  const double original = factor / slope;
  const double original_error = original * (factor_error / factor + slope_error / slope);
  scaling::Dynamic rule;
  rule.factor = likely(factor, factor_error, told != nullptr ? told->factor : NAN);
  rule.original_max_position_embeddings =
      likely(original, original_error, told != nullptr ? told->original_max_position_embeddings : NAN);
  take(with(told_.base, rule), Taken{2});
}

std::vector<double> RuleSearch::factors(const std::vector<MeasuredTheta>& theta,
                                        const std::vector<double>& told) const {
  std::vector<double> list;
  for (std::size_t p = 0; p < slots_.size(); ++p) {
    const double plain = std::pow(told_.base, slots_[p].exponent);
    // Up to whole turns. Kernels divide by factors near 1 or above, so the angle is the one below a turn.
    const double below_a_turn = theta[p].value + (theta[p].value < 0 ? 2 * std::numbers::pi : 0);
    const double factor = plain / below_a_turn;
    const double error = factor * (relative_ + theta[p].error / below_a_turn);
    list.push_back(likely(factor, error, p < told.size() ? told[p] : NAN));
  }
  return list;
}

void RuleSearch::longrope() {
  const auto* told = std::get_if<scaling::LongRope>(&told_.scaling);
  const auto at = [&](bool longest) {
    const std::vector<MeasuredTheta>* theta = &question_.theta;
    std::int64_t length = question_.sequence_length;
    for (const auto& other : question_.other_lengths) {
      if (longest ? other.sequence_length <= length : other.sequence_length >= length) continue;
      theta = &other.theta;
      length = other.sequence_length;
    }
    return *theta;
  };
  const std::vector<MeasuredTheta> of_short = at(false), of_long = at(true);
  const bool differ = !std::equal(of_short.begin(), of_short.end(), of_long.begin(), [&](const auto& a, const auto& b) {
    return std::fabs(wrapped(a.value - b.value)) <= a.error + b.error + 2 * relative_ * std::fabs(a.value);
  });
  if (!differ && told == nullptr) return;
  scaling::LongRope rule;
  rule.short_factor = factors(of_short, told != nullptr ? told->short_factor : std::vector<double>());
  rule.long_factor = factors(of_long, told != nullptr ? told->long_factor : std::vector<double>());
  rule.factor = told != nullptr ? told->factor : 1;
  rule.original_max_position_embeddings = told != nullptr ? told->original_max_position_embeddings : switch_length();
  take(with(told_.base, rule), {});
}

// A length between the longest of the lengths that share the short list and the next one.
double RuleSearch::switch_length() const {
  std::vector<std::int64_t> lengths{question_.sequence_length};
  for (const auto& other : question_.other_lengths) lengths.push_back(other.sequence_length);
  return static_cast<double>(*std::min_element(lengths.begin(), lengths.end()));
}

// If nothing is regular: every pair has its own factor.
void RuleSearch::factor_a_pair() {
  scaling::LongRope rule;
  rule.original_max_position_embeddings = 2;
  const auto still = [](const MeasuredTheta& t) { return std::fabs(t.value) <= t.error; };
  if (std::any_of(question_.theta.begin(), question_.theta.end(), still)) return;
  rule.short_factor = rule.long_factor = factors(question_.theta, {});
  for (const double factor : rule.short_factor) {
    if (!(factor > 0)) return;
  }
  if (!take(with(told_.base, rule), {})) return;
  rules_.back().is_rule = false;
  rules_.back().words =
      fmt::format("no rule that is known: base {:.10g} with a divisor of its own for each pair, {:.5g} .. {:.5g}",
                  told_.base, rule.short_factor.front(), rule.short_factor.back());
}

}  // namespace rope
