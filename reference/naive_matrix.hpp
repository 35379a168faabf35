// The rotation as the RoFormer paper writes it (Su et al. 2021, eq. 15): a matrix R that is zero except for a 2 x 2
// block per pair of features, and the product R x. Slow. On purpose it shares no line with the oracle or its angle
// tables, so each checks the other. Angles are cosl and sinl of position * theta in long double (64 bits on x86);
// everything after that is double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/rotation_plan.hpp"

namespace rope {

// One pair's block of the matrix: y[first] = entries[0][0] * x[first] + entries[0][1] * x[second], and y[second]
// likewise with entries[1].
struct MatrixBlock {
  int first;
  int second;
  double entries[2][2];
};

// The blocks of a plan at a position (one coordinate per axis), lambda included. Magnitudes (xPos) are left out.
std::vector<MatrixBlock> blocks_at(const RotationPlan& plan, std::span<const std::int64_t> position);

// The blocks of the transposed matrix: backward, it maps the output's gradient to the input's gradient.
std::vector<MatrixBlock> transposed(std::vector<MatrixBlock> blocks);

// R of eq. 15, [d, d] row-major. The pairs cover the features from .. from+d-1, each feature in one pair.
struct RotationMatrix {
  std::size_t d = 0;
  std::size_t from = 0;
  std::vector<double> entries;
  std::vector<MatrixBlock> blocks;
};
RotationMatrix rotation_matrix(std::vector<MatrixBlock> blocks);

// x holds the heads of one token, [heads, head_dim] row-major. Returns R times those d features of each head; the other
// features are copied. A pair that is not finite is rotated by its own block: in the product its 0 * inf would
// reach every feature.
std::vector<double> multiply(const RotationMatrix& rotation, std::span<const double> x, int head_dim);

}  // namespace rope
