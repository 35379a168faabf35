// From measured frequencies back to base and scaling rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/rope_spec.hpp"

namespace rope {

// theta of each pair and its error bound, radians per position, known up to multiples of 2 pi.
struct MeasuredTheta {
  double value = 0;
  double error = 0;
};

// The circumstances of the measurement.
struct FrequencyQuestion {
  RopeSpec spec;                     // head_dim, rotary_dim, axes; base and scaling as the kernel was given them
  std::int64_t sequence_length = 0;  // as the kernel was given it
  // Pairs that could not be measured have an infinite error.
  std::vector<MeasuredTheta> theta;
  // The same at other lengths, if these were measured.
  struct AtLength {
    std::int64_t sequence_length = 0;
    std::vector<MeasuredTheta> theta;
  };
  std::vector<AtLength> other_lengths;
};

struct FrequencyRule {
  RopeSpec spec;                  // that yields these frequencies
  double base_error = 0;          // relative
  double factor_error = 0;        // relative, if the rule has a factor
  double misfit = 0;              // the worst pair: deviation / tolerance; at most 1 if the rule fits
  double theta_roundoff = 0;      // relative width of the tolerance beyond the measurement's error
  bool is_rule = true;            // false: each pair has its own divisor, which fits everything
  std::string words;              // "base 10000", "linear, factor 4, base 10000"
  std::vector<std::string> also;  // other readings of the same frequencies
};

// Every rule that yields the measured frequencies, simplest first. `relative`: how far a kernel's theta may differ from
// the rule, because kernels compute it in their own type. Empty: no rule.
std::vector<FrequencyRule> frequency_rules(const FrequencyQuestion& question, double relative);

// The worst pair compared with the spec: deviation / tolerance.
double misfit(const RopeSpec& spec, std::int64_t sequence_length, const std::vector<MeasuredTheta>& theta,
              double relative);

}  // namespace rope
