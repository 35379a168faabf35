// The oracle: y of a plan, exact to about 2^-95 of the pair's norm. It judges every kernel. The naive matrix
// (naive_matrix.hpp) computes the same with other code, so each checks the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/angle_table.hpp"
#include "reference/double_double.hpp"
#include "reference/rotation_plan.hpp"

namespace rope {

// cos and sin that rotate one pair of one token. Both belong to one angle, unless a full-width table with unequal
// halves gives each feature of the pair its own.
struct PairAngle {
  DoubleDouble cos_first, sin_first;
  DoubleDouble cos_second, sin_second;
  double phi = 0;  // radians; 0 if the angle is not known because tables are given

  // How long a unit pair can become in either output feature: 1 for a rotation. Tables may hold a factor. Their halves
  // may belong to different angles, and the backward pass mixes those.
  double gain(bool backward) const;
};

struct ExactPair {
  DoubleDouble first, second;
};

// Forward: (lambda (a c1 - b s1), lambda (b c2 + a s2)). Backward: the transpose of that map.
ExactPair rotate_exact(double a, double b, const PairAngle& angle, double lambda, bool backward);
// The same for many pairs at once.
void rotate_exact(std::span<const double> a, std::span<const double> b, std::span<const PairAngle> angles,
                  double lambda, bool backward, std::span<ExactPair> result);

// The angles of a plan at any position.
class Oracle {
 public:
  explicit Oracle(RotationPlan plan);

  const RotationPlan& plan() const { return plan_; }

  // One entry per pair; position holds one coordinate per axis.
  std::vector<PairAngle> angles(std::span<const std::int64_t> position);
  void angles(std::span<const std::int64_t> position, std::vector<PairAngle>& result);

  // Correctly rounded cos and sin of all pairs, row-major [count][pairs], for positions first .. first+count-1, the
  // same on every axis.
  void fill(std::int64_t first, std::int64_t count, std::span<double> cos, std::span<double> sin);
  void fill(std::int64_t first, std::int64_t count, std::span<float> cos, std::span<float> sin);

  // xPos: the factor of pair p at a position (k: the inverse); 1 if the plan has no magnitude. To 2^-52.
  double magnitude(std::size_t pair, std::int64_t position, bool key) const;

  // Memory of the rows of angles that it keeps.
  std::size_t bytes() const { return table_.bytes(); }

 private:
  RotationPlan plan_;
  AngleTable table_;
  std::vector<double> phi_;
};

}  // namespace rope
