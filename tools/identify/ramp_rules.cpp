#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/identify/ramp_fit.hpp"
#include "tools/identify/rule_search.hpp"

namespace rope {

// If few pairs are on the ramp, both kinds can make the same frequencies. Then the requested rule goes first.
void RuleSearch::bent() {
  if (told_.axes.restart) return;
  if (std::holds_alternative<scaling::Llama3>(told_.scaling)) {
    llama3();
    yarn();
  } else {
    yarn();
    llama3();
  }
}

void RuleSearch::yarn() {
  const auto fit = fit_ramp(points(), RampOver::index, told_.base, relative_);
  if (!fit) return;
  // Prefers few digits if these fit as well.
  const double base = likely(fit->base, fit->base * fit->base_error, told_.base);
  const double factor = likely(fit->factor, fit->factor * fit->factor_error, NAN);
  for (const auto& [b, f] :
       {std::pair(base, factor), std::pair(fit->base, factor), std::pair(fit->base, fit->factor)}) {
    if (yarn(*fit, b, f)) return;
  }
}

// The ramp's ends as pairs that turn beta times over the length, with the usual betas if those fit.
bool RuleSearch::yarn(const RampFit& fit, double base, double factor) {
  const auto turns = [&](double pair) { return std::pow(base, -2 * pair / told_.rotary_dim) / (2 * std::numbers::pi); };
  const Taken taken{2 + std::min(fit.on_ramp, 2), fit.base_error, fit.factor_error};
  scaling::Yarn rule;
  rule.factor = factor;
  rule.truncate = false;
  rule.original_max_position_embeddings = std::max(1.0, std::round(1 / turns(fit.slow_end)));
  rule.beta_slow = rule.original_max_position_embeddings * turns(fit.slow_end);
  rule.beta_fast = rule.original_max_position_embeddings * turns(fit.fast_end);
  if (!take(with(base, rule), taken)) return false;
  for (const bool truncate : {true, false}) {
    scaling::Yarn usual = rule;
    usual.beta_slow = 1;
    usual.beta_fast = 32;
    usual.truncate = truncate;
    for (int bits = 10; bits <= 20; ++bits) {
      usual.original_max_position_embeddings = std::exp2(bits);
      if (!take(with(base, usual), taken)) continue;
      rules_.erase(rules_.end() - 2);
      return true;
    }
  }
  return true;
}

void RuleSearch::llama3() {
  const auto fit = fit_ramp(points(), RampOver::frequency, told_.base, relative_);
  if (!fit) return;
  const double base = likely(fit->base, fit->base * fit->base_error, told_.base);
  const double factor = likely(fit->factor, fit->factor * fit->factor_error, NAN);
  const Taken taken{2 + std::min(fit->on_ramp, 2), fit->base_error, fit->factor_error};
  scaling::Llama3 rule;
  rule.low_freq_factor = 1;
  const double original = 2 * std::numbers::pi / fit->slow_end, high = fit->fast_end / fit->slow_end;
  // Prefers few digits if these fit as well: tries more and more of them.
  for (const auto& [b, f] :
       {std::pair(base, factor), std::pair(fit->base, factor), std::pair(fit->base, fit->factor)}) {
    rule.factor = f;
    for (const double error : {1e-4, 1e-6, 1e-8, 1e-10, 0.0}) {
      rule.original_max_position_embeddings = written(original, error * original);
      rule.high_freq_factor = written(high, error * high);
      if (take(with(b, rule), taken)) return;
    }
  }
}

}  // namespace rope
