#include "reference/attention.hpp"

#include <algorithm>
#include <cmath>

#include "reference/input_error.hpp"

namespace rope {

Matrix attention_scores(const Matrix& q, const Matrix& k, double scale, const std::optional<Matrix>& mask) {
  if (q.columns != k.columns) throw InputError("attention_scores: q and k differ in head_dim");
  if (mask && (mask->rows != q.rows || mask->columns != k.rows)) {
    throw InputError("attention_scores: the mask must be [queries, keys]");
  }
  Matrix scores{q.rows, k.rows, std::vector<double>(q.rows * k.rows)};
  for (std::size_t i = 0; i < q.rows; ++i) {
    for (std::size_t j = 0; j < k.rows; ++j) {
      double sum = 0;
      for (std::size_t d = 0; d < q.columns; ++d) sum += q.at(i, d) * k.at(j, d);
      scores.at(i, j) = mask && mask->at(i, j) == 0 ? -1e9 : sum * scale;
    }
  }
  return scores;
}

Matrix softmax(const Matrix& scores) {
  Matrix weights = scores;
  for (std::size_t i = 0; i < scores.rows; ++i) {
    const auto row = weights.values.begin() + static_cast<std::ptrdiff_t>(i * scores.columns);
    const auto end = row + static_cast<std::ptrdiff_t>(scores.columns);
    if (row == end) continue;
    const double largest = *std::max_element(row, end);
    double sum = 0;
    for (auto value = row; value != end; ++value) {
      *value = std::exp(*value - largest);
      sum += *value;
    }
    for (auto value = row; value != end; ++value) *value /= sum;
  }
  return weights;
}

Matrix weighted_values(const Matrix& weights, const Matrix& value) {
  if (weights.columns != value.rows)
    throw InputError("weighted_values: weights and value differ in the number of keys");
  Matrix result{weights.rows, value.columns, std::vector<double>(weights.rows * value.columns)};
  for (std::size_t i = 0; i < weights.rows; ++i) {
    for (std::size_t j = 0; j < weights.columns; ++j) {
      for (std::size_t d = 0; d < value.columns; ++d) result.at(i, d) += weights.at(i, j) * value.at(j, d);
    }
  }
  return result;
}

}  // namespace rope
