// The rotation of a golden case straight from the definition, in long double and without the contract. It also covers
// positions that are not whole numbers, xPos, and rules that a source applies in place of the definition.
#pragma once

#include <functional>
#include <vector>

#include "golden/manifest.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/golden/arrays.hpp"

namespace rope {

struct PlainRotation {
  std::vector<long double> theta;  // radians per position, one a pair
  std::vector<double> c;           // |theta~/theta - 1| of the source is at most c u
  std::vector<int> axis;
  std::optional<Magnitude> magnitude;
  double lambda = 1;
  DType working = DType::f32;    // in which angles and products are made
  std::optional<DType> tables;  // to which the tables are rounded, if that is not the case's own rounding

  std::function<long double(std::size_t axis, const Token&)> position;
  std::function<long double(std::size_t axis, const Token&)> key_position;  // of k, if its tokens are others
  std::function<std::size_t(std::size_t feature)> read_at;      // the feature that is read in place of `feature`
  std::function<std::size_t(std::size_t feature)> pair_of_cos;  // the pair whose cosine multiplies a feature
  bool k_turned_with_q = false;
};

PlainRotation as_defined(const Manifest& manifest, const GoldenCase& golden);

// The definition with the case's `instead` applied to it; as_defined() if it has none.
PlainRotation as_the_source_does(const Manifest& manifest, const GoldenCase& golden);

// The largest error of the stored q_out and k_out, as a fraction of its bound. Infinite if a pass-through feature is
// not a copy.
double worst_use(const Manifest& manifest, const GoldenCase& golden, const PlainRotation& rotation);

}  // namespace rope
