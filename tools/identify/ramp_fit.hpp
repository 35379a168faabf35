// Regression for frequencies that keep theta at the fast end, have theta / factor at the slow end, and mix the two
// along a ramp in between: over the pair index (yarn), or over the frequency (llama3).
#pragma once

#include <optional>
#include <vector>

#include "tools/identify/geometric.hpp"

namespace rope {

enum class RampOver { index, frequency };

struct RampFit {
  double base = 0;
  double base_error = 0;  // relative
  double factor = 1;
  double factor_error = 0;  // relative
  // Where the ramp begins at the fast end, and where it ends; in pairs, or in radians a position as `base` alone has
  // them. Any place between two pairs does where no pair is on the ramp.
  double fast_end = 0, slow_end = 0;
  int on_ramp = 0;  // pairs; two points are on any line, so it takes three to tell the two kinds of ramp apart
};

// The fit that predicts every point to within its error and `relative`, of more points than it has unknowns. The last
// point is taken to be off the ramp: a ramp that goes on beyond it is the same function as one that ends there.
// nullopt: there is none.
std::optional<RampFit> fit_ramp(const std::vector<GeometricPoint>& points, RampOver over, double told_base,
                                double relative);

}  // namespace rope
