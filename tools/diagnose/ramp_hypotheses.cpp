// The ramps between frequencies: llama3's, yarn's, and the one of pixel positions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

// Theta and theta / factor are mixed in the middle by the wavelength, not by the turns.
void add_llama3_weights(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = "llama3: between its limits, the weights of the two frequencies are exchanged"};
  h.applies = [](const Call& call) { return std::holds_alternative<scaling::Llama3>(call.scaling); };
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
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

// Between theta and theta / factor, their reciprocals are mixed.
template <class Rule>
void add_mixed_wavelengths(Hypotheses& all, const char* kind) {
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = std::string(kind) + ": between its limits, wavelengths are mixed, not frequencies"};
  h.applies = [](const Call& call) { return std::holds_alternative<Rule>(call.scaling); };
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<Rule>(&s.params.scaling);
    if (rule == nullptr || s.params.source != AngleSource::computed || rule->factor == 1) return;
    const auto plain = scaling::unscaled<long double>(s.params.base, s.params.rotary_dim);
    const auto factor = static_cast<long double>(rule->factor);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const long double kept = (theta[p] / plain[p] - 1 / factor) / (1 - 1 / factor);
      theta[p] = plain[p] / (kept + (1 - kept) * factor);
    }
  };
  all.push_back(std::move(h));
}

void add_llama3_by_wavelength(Hypotheses& all) {
  Hypothesis h{.bug_class = BugClass::scaling_config,
               .sentence = "llama3: the ramp goes by the wavelength, not by its reciprocal"};
  h.applies = [](const Call& call) { return std::holds_alternative<scaling::Llama3>(call.scaling); };
  h.change.theta = [](const RowContext& s, std::vector<long double>& theta) {
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

using Rounding = long double (*)(long double);
constexpr Rounding down = [](long double x) { return std::floor(x); }, up = [](long double x) { return std::ceil(x); };
constexpr Rounding nearest = [](long double x) { return std::nearbyint(x); };

// Another way to find the ends of yarn's ramp.
struct YarnEnds {
  Rounding low = down, high = up;
  bool truncated = true;  // only where ends are whole pairs
  long double base = 0;   // 0: the call's
  bool of_head = false;   // by head_dim, not rotary_dim
  bool limits_of_head = false;
  bool wide = false;      // from one to the other is a pair or more
  long double least = 0;  // of the lower end
  long double more = 0;   // the upper end may be so many pairs above its limit
};

// yarn's theta with other ends of the ramp.
void add_yarn_ends(Hypotheses& all, const char* what, YarnEnds ends) {
  Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = std::string("yarn: ") + what};
  h.applies = [=](const Call& call) {
    const auto* rule = std::get_if<scaling::Yarn>(&call.scaling);
    return rule != nullptr && (rule->truncate || !ends.truncated);
  };
  h.change.theta = [=](const RowContext& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<scaling::Yarn>(&s.params.scaling);
    if (rule == nullptr || (ends.truncated && !rule->truncate)) return;
    if (s.params.source != AngleSource::computed) return;
    const auto plain = scaling::unscaled<long double>(s.params.base, s.params.rotary_dim);
    const auto dims = static_cast<long double>(s.params.rotary_dim);
    const long double counted = ends.of_head ? s.params.head_dim : dims;
    const long double base = ends.base == 0 ? static_cast<long double>(s.params.base) : ends.base;
    const auto pair_that_turns = [&](long double times) {
      const long double length = rule->original_max_position_embeddings;
      return counted * std::log(length / (2 * std::numbers::pi_v<long double> * times)) /
             (2 * std::log(base));
    };
    const auto end = [&](Rounding rounding, long double pair) { return rule->truncate ? rounding(pair) : pair; };
    const long double limiting = ends.limits_of_head ? s.params.head_dim : dims;
    const long double most = rule->clamp == scaling::Yarn::Clamp::pairs ? limiting / 2 - 1 : limiting - 1;
    const long double low = std::max(end(ends.low, pair_that_turns(rule->beta_fast)), ends.least);
    long double high = std::min(end(ends.high, pair_that_turns(rule->beta_slow)), most + ends.more);
    if (low == high) high += 0.001L;
    if (ends.wide) high = std::max(high, low + 1);
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const long double ramp = std::clamp((static_cast<long double>(p) - low) / (high - low), 0.0L, 1.0L);
      theta[p] = plain[p] * (1 - ramp) + plain[p] / rule->factor * ramp;
    }
  };
  all.push_back(std::move(h));
}

void add_pixel(Hypotheses& all, const char* what,
               std::function<long double(const scaling::Pixel&, int pair, int dims)> of) {
  Hypothesis h{.bug_class = BugClass::scaling_config, .sentence = std::string("pixel: ") + what};
  h.applies = [](const Call& call) { return std::holds_alternative<scaling::Pixel>(call.scaling); };
  h.change.theta = [of = std::move(of)](const RowContext& s, std::vector<long double>& theta) {
    const auto* rule = std::get_if<scaling::Pixel>(&s.params.scaling);
    if (rule == nullptr || s.params.source != AngleSource::computed) return;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      theta[p] = std::numbers::pi_v<long double> * of(*rule, static_cast<int>(p), s.params.rotary_dim);
    }
  };
  all.push_back(std::move(h));
}

void add_pixels(Hypotheses& all) {
  // From 1 to `last`, the share of the way that pair p has gone.
  const auto between = [](long double last, long double share) { return 1 + (last - 1) * share; };
  add_pixel(
      all, "every second one of rotary_dim frequencies is used: the last pair falls short of the largest",
      [=](const scaling::Pixel& r, int p, int dims) { return between(r.max_frequency / 2, 2.0L * p / (dims - 1)); });
  add_pixel(all, "the frequencies are divided into rotary_dim/2 steps, not one less: the last pair falls short",
            [=](const scaling::Pixel& r, int p, int dims) { return between(r.max_frequency / 2, 2.0L * p / dims); });
  add_pixel(all, "the frequencies rise to max_frequency, not to its half",
            [=](const scaling::Pixel& r, int p, int dims) {
              return between(r.max_frequency, p / std::max(dims / 2 - 1.0L, 1.0L));
            });
  add_pixel(all, "pi is missing", [=](const scaling::Pixel& r, int p, int dims) {
    return between(r.max_frequency / 2, p / std::max(dims / 2 - 1.0L, 1.0L)) / std::numbers::pi_v<long double>;
  });
}

}  // namespace

void add_ramp_hypotheses(Hypotheses& all) {
  add_yarn_ends(all, "both ends of the ramp are rounded down, also the upper one", {.high = down});
  add_yarn_ends(all, "both ends of the ramp are rounded up, also the lower one", {.low = up});
  add_yarn_ends(all, "the ends of the ramp are rounded inwards, not outwards", {.low = up, .high = down});
  add_yarn_ends(all, "the ends of the ramp are rounded to the nearest pairs, not outwards",
                {.low = nearest, .high = nearest});
  add_yarn_ends(all, "the ends of the ramp are computed with base 10000, not the given one",
                {.truncated = false, .base = 10000});
  add_yarn_ends(all, "the ends of the ramp are computed with head_dim, not rotary_dim",
                {.truncated = false, .of_head = true});
  add_yarn_ends(all, "the ends of the ramp and their limits are computed with head_dim, not rotary_dim",
                {.truncated = false, .of_head = true, .limits_of_head = true});
  add_yarn_ends(all, "the limits of the ramp's ends are computed with head_dim, not rotary_dim",
                {.truncated = false, .limits_of_head = true});
  add_yarn_ends(all, "the ramp is at least one pair wide", {.truncated = false, .wide = true});
  add_yarn_ends(all, "the largest upper end of the ramp is one pair too high", {.truncated = false, .more = 1});
  add_yarn_ends(all, "the largest upper end of the ramp is one pair too low", {.truncated = false, .more = -1});
  constexpr long double no_limit = std::numeric_limits<long double>::infinity();
  add_yarn_ends(all, "the upper end of the ramp has no limit", {.truncated = false, .more = no_limit});
  add_yarn_ends(all, "the lower end of the ramp may lie below pair 0", {.truncated = false, .least = -no_limit});
  add_pixels(all);
  add_llama3_weights(all);
  add_llama3_by_wavelength(all);
  add_mixed_wavelengths<scaling::Llama3>(all, "llama3");
  add_mixed_wavelengths<scaling::Yarn>(all, "yarn");
}

}  // namespace rope::diagnosis
