// Weighted regression of ln(theta) over the exponent: base and first frequency of a geometric sequence.
#pragma once

#include <optional>
#include <vector>

namespace rope {

struct GeometricPoint {
  double exponent;  // -2p/r: theta = start * base^exponent
  double theta;     // radians per position, known up to multiples of 2 pi
  double error;
};

struct GeometricFit {
  double base = 0;
  double base_error = 0;   // relative
  double start = 1;        // theta at exponent 0
  double start_error = 0;  // of ln(start)
};

// `relative` is added to the relative error of each point. Missing whole turns are added if the neighbours show them.
// nullopt if the points do not lie on such a line.
std::optional<GeometricFit> fit_geometric(const std::vector<GeometricPoint>& points, double relative);

// The same with start = 1, after `fit` has resolved the whole turns.
GeometricFit fit_through_one(const std::vector<GeometricPoint>& points, const GeometricFit& fit, double relative);

}  // namespace rope
