// The search behind frequency_rules(). Each method proposes rules of one kind; take() keeps the ones that predict every
// pair.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/identify/frequency_rule.hpp"
#include "tools/identify/geometric.hpp"
#include "tools/identify/ramp_fit.hpp"

namespace rope {

// If frequencies start again in each section, index and span count within the section.
struct Slot {
  double exponent;  // -2p/r without scaling: theta = base^exponent
  bool first_axis;
};

class RuleSearch {
 public:
  RuleSearch(const FrequencyQuestion& question, double relative);
  std::vector<FrequencyRule> rules();

 private:
  std::vector<GeometricPoint> points() const;
  // The numbers that a rule took from the frequencies that it must explain.
  struct Taken {
    int numbers = 0;
    double base_error = 0, factor_error = 0;  // relative
  };
  // Takes a rule if it predicts every pair at every measured length. With `taken`, the fit must also be too unlikely to
  // be an accident.
  bool take(RopeSpec spec, std::optional<Taken> taken);
  double chance(const RopeSpec& spec, int numbers) const;
  RopeSpec with(double base, Scaling scaling) const;
  // The value as a person would write it, if one with few digits is within the error.
  static double written(double value, double error);
  // The requested value, if the measurement cannot tell it from the estimate.
  double likely(double value, double error, double told) const;

  // plain_rules.cpp
  void as_told();
  void constant();
  void geometric();
  void scaled();
  bool predicts(double base, Scaling scaling) const;
  void other_readings_of_factor(double base, double factor);
  void other_readings(double base);
  void proportional();
  void pixel();

  // ramp_rules.cpp
  void bent();
  void yarn();
  bool yarn(const RampFit& fit, double base, double factor);
  void llama3();

  // length_rules.cpp
  void length_dependent();
  struct Stretch {
    double length;
    double of_base;  // (base there / told base)^((r-2)/r)
    double error;
  };
  void dynamic(std::vector<Stretch> stretch);
  std::vector<double> factors(const std::vector<MeasuredTheta>& theta, const std::vector<double>& told) const;
  void longrope();
  double switch_length() const;
  void factor_a_pair();

  const FrequencyQuestion& question_;
  const RopeSpec& told_;
  std::vector<Slot> slots_;
  double relative_;
  std::optional<GeometricFit> geometric_;
  std::vector<FrequencyRule> rules_;
};

}  // namespace rope
