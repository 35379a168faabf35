#include "reference/naive_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <xtensor-blas/xlinalg.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>

namespace rope {
namespace {

using Matrix = xt::xarray<double>;  // named wherever it is made: auto would keep an expression of xtensor

std::size_t row_of(const DenseRotation& rotation, int feature) {
  const auto at = std::lower_bound(rotation.features.begin(), rotation.features.end(), feature);
  return static_cast<std::size_t>(at - rotation.features.begin());
}

void write_matrix(DenseRotation& rotation) {
  const std::size_t n = rotation.features.size();
  rotation.matrix.assign(n * n, 0.0);
  for (const MatrixBlock& block : rotation.blocks) {
    const std::size_t first = row_of(rotation, block.first);
    const std::size_t second = row_of(rotation, block.second);
    rotation.matrix[first * n + first] = block.from_first[0];
    rotation.matrix[first * n + second] = block.from_second[0];
    rotation.matrix[second * n + first] = block.from_first[1];
    rotation.matrix[second * n + second] = block.from_second[1];
  }
}

}  // namespace

std::vector<MatrixBlock> blocks_at(const RotationPlan& plan, std::span<const std::int64_t> position) {
  std::vector<MatrixBlock> blocks;
  for (const RotatedPair& pair : plan.pairs) {
    const auto m = static_cast<long double>(position[static_cast<std::size_t>(pair.axis)]);
    const long double phi = m * mpfr_get_ld(pair.theta.get(), MPFR_RNDN);
    const auto lambda = static_cast<long double>(plan.lambda);
    const auto c = static_cast<double>(lambda * std::cos(phi));
    const auto s = static_cast<double>(lambda * std::sin(phi));
    blocks.push_back({pair.first, pair.second, {c, s}, {-s, c}});
  }
  return blocks;
}

DenseRotation dense_rotation(std::vector<MatrixBlock> blocks) {
  DenseRotation rotation;
  rotation.blocks = std::move(blocks);
  for (const MatrixBlock& block : rotation.blocks) {
    rotation.features.push_back(block.first);
    rotation.features.push_back(block.second);
  }
  std::sort(rotation.features.begin(), rotation.features.end());
  write_matrix(rotation);
  return rotation;
}

std::vector<MatrixBlock> transposed(std::vector<MatrixBlock> blocks) {
  for (MatrixBlock& block : blocks) std::swap(block.from_first[1], block.from_second[0]);
  return blocks;
}

std::vector<double> multiply(const DenseRotation& rotation, std::span<const double> x, int head_dim) {
  const std::size_t n = rotation.features.size();
  const auto width = static_cast<std::size_t>(head_dim);
  const std::size_t heads = x.size() / width;
  std::vector<double> y(x.begin(), x.end());
  if (heads == 0 || n == 0) return y;

  Matrix columns = xt::zeros<double>({n, heads});
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < n; ++i) {
      const double value = x[h * width + static_cast<std::size_t>(rotation.features[i])];
      if (std::isfinite(value)) columns(i, h) = value;
    }
  }
  const auto matrix = xt::adapt(rotation.matrix, std::array<std::size_t, 2>{n, n});
  const Matrix product = xt::linalg::dot(matrix, columns);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < n; ++i) y[h * width + static_cast<std::size_t>(rotation.features[i])] = product(i, h);
  }

  for (std::size_t h = 0; h < heads; ++h) {
    for (const MatrixBlock& block : rotation.blocks) {
      const std::size_t first = h * width + static_cast<std::size_t>(block.first);
      const std::size_t second = h * width + static_cast<std::size_t>(block.second);
      const double a = x[first];
      const double b = x[second];
      if (std::isfinite(a) && std::isfinite(b)) continue;
      y[first] = block.from_first[0] * a + block.from_second[0] * b;
      y[second] = block.from_first[1] * a + block.from_second[1] * b;
    }
  }
  return y;
}

}  // namespace rope
