// The rotation as RoFormer's eq. 15 writes it: a dense matrix, applied by a matrix product. Slow, and on purpose
// without a line of the oracle or its angle tables: each is the other's check. Angles are cosl and sinl of position *
// theta in long double (64 bits on x86), everything after that is double.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/rotation_plan.hpp"

namespace rope {

// One pair's block of the matrix: y[first] = from_first[0] * x[first] + from_second[0] * x[second], y[second] likewise
// with [1].
struct MatrixBlock {
  int first;
  int second;
  double from_first[2];
  double from_second[2];
};

// The blocks of a plan at a position (one coordinate an axis), lambda included. Magnitudes (xPos) are left out.
std::vector<MatrixBlock> blocks_at(const RotationPlan& plan, std::span<const std::int64_t> position);

// Of the transposed matrix: backward, it maps the gradient of the output to that of the input.
std::vector<MatrixBlock> transposed(std::vector<MatrixBlock> blocks);

// Row-major square matrix over `features`, the features that rotate, ascending.
struct DenseRotation {
  std::vector<int> features;
  std::vector<double> matrix;
  std::vector<MatrixBlock> blocks;
};
DenseRotation dense_rotation(std::vector<MatrixBlock> blocks);

// x holds the heads of one token, [heads, head_dim] row-major; returns matrix times x likewise, other features copied.
// A pair that is not finite is turned by its own block alone: in the product its 0 * inf would reach every feature.
std::vector<double> multiply(const DenseRotation& rotation, std::span<const double> x, int head_dim);

}  // namespace rope
