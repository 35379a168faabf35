// Fits frequencies that keep theta at the fast end and have theta / factor at the slow end. In between a ramp mixes the
// two, over the pair index (yarn) or over the frequency (llama3).
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
  // Where the ramp begins at the fast end, and where it ends. In pairs, or in radians per position of the unscaled
  // `base`. If no pair is on the ramp, any place between two pairs fits.
  double fast_end = 0, slow_end = 0;
  int on_ramp = 0;  // pairs; two points fit any line, so telling the two kinds of ramp apart takes three
};

// The fit that predicts every point to within its error and `relative`, with more points than unknowns. The last point
// is taken to be off the ramp: whether the ramp ends there or later is the same function. If there is no such fit, the
// result is nullopt.
std::optional<RampFit> fit_ramp(const std::vector<GeometricPoint>& points, RampOver over, double told_base,
                                double relative);

}  // namespace rope
