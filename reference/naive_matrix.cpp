#include "reference/naive_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <xtensor-blas/xlinalg.hpp>

#include "reference/xtensor.hpp"

namespace rope {
namespace {

using Matrix = xt::xtensor<double, 2>;  // named wherever it is made: auto would keep an expression of xtensor
using Shape = std::array<std::size_t, 2>;

// For heads that hold NaN or infinity, after the product of the finite features.
void turn_by_its_block(const MatrixBlock& block, std::span<const double> x, std::span<double> y) {
  const auto i = static_cast<std::size_t>(block.first);
  const auto j = static_cast<std::size_t>(block.second);
  if (std::isfinite(x[i]) && std::isfinite(x[j])) return;
  y[i] = block.entries[0][0] * x[i] + block.entries[0][1] * x[j];
  y[j] = block.entries[1][0] * x[i] + block.entries[1][1] * x[j];
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
    blocks.push_back({pair.first, pair.second, {{c, -s}, {s, c}}});
  }
  return blocks;
}

std::vector<MatrixBlock> transposed(std::vector<MatrixBlock> blocks) {
  for (MatrixBlock& block : blocks) std::swap(block.entries[0][1], block.entries[1][0]);
  return blocks;
}

RotationMatrix rotation_matrix(std::vector<MatrixBlock> blocks) {
  const std::size_t d = 2 * blocks.size();
  int from = blocks.empty() ? 0 : blocks.front().first;
  for (const MatrixBlock& block : blocks) from = std::min({from, block.first, block.second});
  RotationMatrix rotation{d, static_cast<std::size_t>(from), std::vector<double>(d * d), std::move(blocks)};
  auto R = xt::adapt(rotation.entries, Shape{d, d});
  for (const auto& [first, second, entries] : rotation.blocks) {
    const int i = first - from, j = second - from;
    R(i, i) = entries[0][0];
    R(i, j) = entries[0][1];
    R(j, i) = entries[1][0];
    R(j, j) = entries[1][1];
  }
  return rotation;
}

std::vector<double> multiply(const RotationMatrix& rotation, std::span<const double> x, int head_dim) {
  const std::size_t d = rotation.d, end = rotation.from + d;
  const auto width = static_cast<std::size_t>(head_dim);
  const std::size_t heads = x.size() / width;
  std::vector<double> y(x.begin(), x.end());
  if (heads == 0 || d == 0) return y;

  const auto R = xt::adapt(rotation.entries, Shape{d, d});
  const auto x_rows = xt::adapt(x.data(), x.size(), xt::no_ownership(), Shape{heads, width});
  auto y_rows = xt::adapt(y, Shape{heads, width});

  // A head of x is a column, as in the paper.
  Matrix columns = xt::zeros<double>({d, heads});
  for (std::size_t h = 0; h < heads; ++h) {
    const auto head = xt::view(x_rows, h, xt::range(rotation.from, end));
    xt::view(columns, xt::all(), h) = xt::where(xt::isfinite(head), head, 0.0);
  }
  const Matrix product = xt::linalg::dot(R, columns);
  for (std::size_t h = 0; h < heads; ++h) {
    xt::view(y_rows, h, xt::range(rotation.from, end)) = xt::view(product, xt::all(), h);
  }

  for (std::size_t h = 0; h < heads; ++h) {
    for (const MatrixBlock& block : rotation.blocks) {
      turn_by_its_block(block, x.subspan(h * width, width), std::span(y).subspan(h * width, width));
    }
  }
  return y;
}

}  // namespace rope
