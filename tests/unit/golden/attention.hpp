// Attention as a reference, in f64: for the published examples, and for the requirements that look at scores.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace rope {

// Row-major [rows, columns].
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;

  double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

// scores[i, j] = <q[i], k[j]> * scale, Vaswani et al., arXiv 1706.03762, eq. 1. Where `mask` is given and holds 0 at
// [i, j], the score is -1e9, as the published report has it.
Matrix attention_scores(const Matrix& q, const Matrix& k, double scale, const std::optional<Matrix>& mask);

// Softmax of each row, by subtracting the row's maximum first.
Matrix softmax(const Matrix& scores);

// weights [n, m] times value [m, d].
Matrix weighted_values(const Matrix& weights, const Matrix& value);

}  // namespace rope
