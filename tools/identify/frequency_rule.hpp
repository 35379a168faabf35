// From measured frequencies back to base and scaling rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/rope_spec.hpp"

namespace rope {

// theta of each pair with how far it may be off, radians per position, known up to multiples of 2 pi.
struct MeasuredTheta {
  double value = 0;
  double error = 0;
};

// What the frequencies were measured under.
struct FrequencyQuestion {
  RopeSpec spec;                     // head_dim, rotary_dim, axes; base and scaling as the kernel was told them
  std::int64_t sequence_length = 0;  // as the kernel was told it
  // Pairs that could not be measured hold an infinite error.
  std::vector<MeasuredTheta> theta;
  // The same at other lengths, where these were measured.
  struct AtLength {
    std::int64_t sequence_length = 0;
    std::vector<MeasuredTheta> theta;
  };
  std::vector<AtLength> other_lengths;
};

struct FrequencyRule {
  RopeSpec spec;                  // that makes these frequencies
  double base_error = 0;          // relative
  double factor_error = 0;        // relative, where the rule has one
  double misfit = 0;              // the worst pair: deviation / what is allowed; at most 1 where the rule fits
  double theta_roundoff = 0;      // relative width of what is allowed beyond the measurement
  bool is_rule = true;            // false: a divisor of its own for each pair, which fits everything
  std::string words;              // "base 10000", "linear, factor 4, base 10000"
  std::vector<std::string> also;  // other readings of the same frequencies
};

// Every rule that makes the measured frequencies, simplest first. `relative`: how far theta may be off a rule, as
// kernels compute it in a type of their own. Empty: none does.
std::vector<FrequencyRule> frequency_rules(const FrequencyQuestion& question, double relative);

// The worst pair against what a spec makes of it: deviation / allowed.
double misfit(const RopeSpec& spec, std::int64_t sequence_length, const std::vector<MeasuredTheta>& theta,
              double relative);

}  // namespace rope
