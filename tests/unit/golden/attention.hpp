// Attention of one head as a person writes it, in f64; rows are tokens. The scores, weights and attended values of the
// golden files are compared with it.
#pragma once

#include <optional>
#include <xtensor-blas/xlinalg.hpp>

#include "reference/xtensor.hpp"
#include "tests/unit/golden/arrays.hpp"

namespace rope {

inline auto as_column(const Vector& of_rows) { return xt::view(of_rows, xt::all(), xt::newaxis()); }

// scale q k^T, Vaswani et al., arXiv 1706.03762, eq. 1. If a mask [queries, keys] holds 0, the score is -1e9, as in the
// published report.
inline Matrix attention_scores(const Matrix& q, const Matrix& k, double scale, const std::optional<Matrix>& mask) {
  const Matrix scores = scale * xt::linalg::dot(q, Matrix(xt::transpose(k)));
  if (!mask) return scores;
  return xt::where(xt::equal(*mask, 0), -1e9, scores);
}

// Softmax of each row, by subtracting the row's maximum first.
inline Matrix softmax(const Matrix& scores) {
  const Vector largest = xt::amax(scores, {1});
  const Matrix powers = xt::exp(scores - as_column(largest));
  const Vector sums = xt::sum(powers, {1});
  return powers / as_column(sums);
}

}  // namespace rope
