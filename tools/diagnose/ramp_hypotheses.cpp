// llama3's ramp between the frequency and the divided one.
#include <cmath>
#include <numbers>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

// Theta and theta / factor are mixed in the middle by the wavelength, not by the turns.
void add_llama3_weights(Hypotheses& all) {
  Hypothesis h{BugClass::scaling_config,
               "llama3: between its limits, the weights of the two frequencies are exchanged",
               {},
               0,
               {},
               false};
  h.applies = [](const Call& call) { return std::holds_alternative<scaling::Llama3>(call.scaling); };
  h.change.theta = [](const Spot& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<scaling::Llama3>(&s.params.scaling);
    if (rule == nullptr || s.params.source != AngleSource::computed) return;
    const auto plain = scaling::unscaled<long double>(s.params.base, s.params.rotary_dim);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const long double divided = plain[p] / rule->factor, least = 1e-12L * plain[p];
      const bool is_between = std::fabs(theta[p] - plain[p]) > least && std::fabs(theta[p] - divided) > least;
      if (is_between) theta[p] = plain[p] + divided - theta[p];
    }
  };
  all.push_back(std::move(h));
}

void add_llama3_by_wavelength(Hypotheses& all) {
  Hypothesis h{
      BugClass::scaling_config, "llama3: the ramp goes by the wavelength, not by its reciprocal", {}, 0, {}, false};
  h.applies = [](const Call& call) { return std::holds_alternative<scaling::Llama3>(call.scaling); };
  h.change.theta = [](const Spot& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<scaling::Llama3>(&s.params.scaling);
    if (rule == nullptr || s.params.source != AngleSource::computed) return;
    const long double low = 1 / static_cast<long double>(rule->low_freq_factor);
    const long double high = 1 / static_cast<long double>(rule->high_freq_factor);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const long double exponent = -2.0L * static_cast<long double>(p) / s.params.rotary_dim;
      const long double plain = std::pow(static_cast<long double>(s.params.base), exponent);
      const long double wavelength = 2 * std::numbers::pi_v<long double> / plain;
      const long double at = wavelength / static_cast<long double>(rule->original_max_position_embeddings);
      if (at <= high || at >= low) continue;
      const long double kept = (low - at) / (low - high);
      theta[p] = plain * (kept + (1 - kept) / static_cast<long double>(rule->factor));
    }
  };
  all.push_back(std::move(h));
}

}  // namespace

void add_ramp_hypotheses(Hypotheses& all) {
  add_llama3_weights(all);
  add_llama3_by_wavelength(all);
}

}  // namespace rope::diagnosis
