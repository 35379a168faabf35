// Scores, softmax weights and attended values of the golden files, each from the stored layer before it, against
// reference/attention. With u = 2^-24 and n terms in a sum, errors of first order:
//
//     scores     n u sum |q||k|, and 2u of it where they are scaled: the factor is rounded, and multiplied (or divided
//                by) once. Masked scores are exactly -1e9, which is an f32.
//     weights    w_i = e_i / sum e_j with e_i = exp(s_i - max). The difference is rounded, u |s_i - max|, exp is good
//                to an ulp, 2u: together d_i. The sum of n positive terms is off by sum w_j d_j + (n-1) u, the quotient
//                by u and a reciprocal's u: w_i (d_i + sum w_j d_j + (n+1) u). Far below the maximum both round to
//                half a subnormal step: 2^-149.
//     attended   n u sum w |v|
#include <catch2/catch.hpp>
#include <cmath>

#include "reference/attention.hpp"
#include "tests/unit/golden/committed.hpp"
#include "tests/unit/golden/plain_rotation.hpp"

namespace {

using rope::committed;
using rope::Matrix;

constexpr double u = 0x1p-24;

struct Attention {
  const rope::GoldenCase& golden;

  // Rows of one head of q, k, v or their outputs: [seq, head_dim]; a key head serves `groups` query heads.
  Matrix rows(const char* name, std::size_t batch, std::size_t head) const {
    const rope::GoldenArray& array = *golden.find(name);
    const std::vector<double> values = rope::values_of(committed(), golden, name);
    const std::size_t shared = heads("q") / heads(name);
    Matrix result{tokens(), static_cast<std::size_t>(golden.spec.head_dim), {}};
    for (std::size_t s = 0; s < tokens(); ++s) {
      for (std::size_t j = 0; j < result.columns; ++j) {
        result.values.push_back(values[rope::index_in(golden, array, {batch, s, head / shared}, j)]);
      }
    }
    return result;
  }

  // One head of an array whose axes stand in words: rows are queries, columns `column` ("key" or "head_dim").
  Matrix head_of(const char* name, const std::string& column, std::size_t batch, std::size_t head) const {
    const rope::GoldenArray& array = *golden.find(name);
    const std::vector<double> values = rope::values_of(committed(), golden, name);
    Matrix result{tokens(), column == "key" ? tokens() : static_cast<std::size_t>(golden.spec.head_dim), {}};
    for (std::size_t i = 0; i < result.rows; ++i) {
      for (std::size_t j = 0; j < result.columns; ++j) {
        std::size_t index = 0, from = 0;
        for (std::int64_t extent : array.shape) {
          const std::size_t to = std::min(array.axes.find(", ", from), array.axes.size());
          const std::string word = array.axes.substr(from, to - from);
          const std::size_t at = word == "batch" ? batch : word == "heads" ? head : word == "query" ? i : j;
          index = index * static_cast<std::size_t>(extent) + at;
          from = to + 2;
        }
        result.values.push_back(values[index]);
      }
    }
    return result;
  }

  std::size_t extent(const char* name, std::size_t which) const {
    return static_cast<std::size_t>(golden.find(name)->shape[static_cast<std::size_t>(golden.axis_of[which])]);
  }
  std::size_t tokens() const { return extent("q", 1); }
  std::size_t heads(const char* name) const { return extent(name, 2); }
};

Matrix absolute(Matrix matrix) {
  for (double& value : matrix.values) value = std::fabs(value);
  return matrix;
}

// Largest error as a fraction of the bound.
double worst(const Matrix& actual, const Matrix& exact, const Matrix& bound) {
  double result = 0;
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double error = std::fabs(actual.values[i] - exact.values[i]);
    result = std::max(result, error == 0 ? 0 : error / bound.values[i]);
  }
  return result;
}

double scores_use(const Attention& attention, const Matrix& q, const Matrix& k, const Matrix& scores,
                  const std::optional<Matrix>& mask) {
  const double scale = attention.golden.score_scale;
  Matrix bound = rope::attention_scores(absolute(q), absolute(k), scale, mask);
  for (double& value : bound.values) {
    value = value < 0 ? 0 : (static_cast<double>(q.columns) + (scale == 1 ? 0 : 2)) * u * value;
  }
  return worst(scores, rope::attention_scores(q, k, scale, mask), bound);
}

double weights_use(const Matrix& scores, const Matrix& weights) {
  const Matrix exact = rope::softmax(scores);
  Matrix bound = exact;
  for (std::size_t i = 0; i < exact.rows; ++i) {
    double largest = -HUGE_VAL, shared = 0;
    for (std::size_t j = 0; j < exact.columns; ++j) largest = std::max(largest, scores.at(i, j));
    const auto own = [&](std::size_t j) { return u * (largest - scores.at(i, j) + 2); };
    for (std::size_t j = 0; j < exact.columns; ++j) shared += exact.at(i, j) * own(j);
    for (std::size_t j = 0; j < exact.columns; ++j) {
      bound.at(i, j) *= own(j) + shared + (static_cast<double>(exact.columns) + 1) * u;
      bound.at(i, j) += 0x1p-149;
    }
  }
  return worst(weights, exact, bound);
}

double attended_use(const Matrix& weights, const Matrix& v, const Matrix& attended) {
  Matrix bound = rope::weighted_values(absolute(weights), absolute(v));
  for (double& value : bound.values) value *= static_cast<double>(v.rows) * u;
  return worst(attended, rope::weighted_values(weights, v), bound);
}

template <class Visitor>
void for_each_head(const Attention& attention, Visitor&& visit) {
  for (std::size_t b = 0; b < attention.extent("q", 0); ++b) {
    for (std::size_t h = 0; h < attention.heads("q"); ++h) visit(b, h);
  }
}

}  // namespace

TEST_CASE("golden files: scores, softmax and attended values follow from the stored outputs", "[golden]") {
  int with_scores = 0, with_weights = 0, with_mask = 0, grouped = 0;
  for (const rope::GoldenCase& golden : committed().cases) {
    if (golden.find("scores") == nullptr || !golden.conforms) continue;
    INFO(golden.id);
    const Attention attention{golden};
    ++with_scores;
    with_weights += golden.find("weights") != nullptr;
    with_mask += golden.find("mask") != nullptr;
    grouped += attention.heads("k") != attention.heads("q");
    for_each_head(attention, [&](std::size_t b, std::size_t h) {
      std::optional<Matrix> mask;
      if (golden.find("mask") != nullptr) mask = attention.head_of("mask", "key", b, h);
      const Matrix scores = attention.head_of("scores", "key", b, h);
      CHECK(scores_use(attention, attention.rows("q_out", b, h), attention.rows("k_out", b, h), scores, mask) <= 1);
      if (golden.find("weights") == nullptr) return;
      const Matrix weights = attention.head_of("weights", "key", b, h);
      CHECK(weights_use(scores, weights) <= 1);
      CHECK(attended_use(weights, attention.rows("v", b, h), attention.head_of("attended", "head_dim", b, h)) <= 1);
    });
  }
  CHECK(with_scores >= 7);
  CHECK(with_weights >= 2);
  CHECK(with_mask >= 1);
  CHECK(grouped >= 3);
}

// The heatmap has one query and one key at every position. Outputs are off by b = u r ((C+1) phi + 2.87) each
// (error_model.md), so two scores of one distance differ by at most twice what that and the sum allow.
TEST_CASE("golden files: the heatmap's scores depend on the distance alone, and on it they do", "[golden]") {
  const rope::GoldenCase& golden = *committed().find("published/report-heatmap");
  const Attention attention{golden};
  const Matrix scores = attention.head_of("scores", "key", 0, 0);
  const Matrix q = attention.rows("q", 0, 0), k = attention.rows("k", 0, 0);
  const rope::RotationPlan plan = rope::compile(golden.spec, golden.sequence_length);
  double bound = 0;
  for (const rope::RotatedPair& pair : plan.pairs) {
    const auto first = static_cast<std::size_t>(pair.first), second = static_cast<std::size_t>(pair.second);
    const double product = std::hypot(q.at(0, first), q.at(0, second)) * std::hypot(k.at(0, first), k.at(0, second));
    const double phi = static_cast<double>(scores.rows - 1) * pair.theta.to_double();
    const double sum = static_cast<double>(golden.spec.head_dim) + 2;
    bound += u * product * (2 * ((*golden.c + 1) * phi + 2.87) + sum) * golden.score_scale;
  }
  for (std::size_t i = 1; i < scores.rows; ++i) {
    for (std::size_t j = 1; j < scores.columns; ++j) {
      CHECK(std::fabs(scores.at(i, j) - scores.at(i - 1, j - 1)) <= 2 * bound);
    }
  }
  CHECK(std::fabs(scores.at(0, 0) - scores.at(0, 9)) > 100 * bound);
}

TEST_CASE("golden files: the derivation without the conjugate is rejected for want of the conjugate", "[golden]") {
  const rope::GoldenCase& golden = *committed().find("published/notebook-inner-product");
  REQUIRE(golden.instead->rule == rope::GoldenRule::k_not_conjugated);
  const Attention attention{golden};
  const rope::RotationPlan plan = rope::compile(golden.spec, golden.sequence_length);
  const std::size_t seq = attention.tokens();
  for_each_head(attention, [&](std::size_t b, std::size_t h) {
    const Matrix q = attention.rows("q", b, h), k = attention.rows("k", b, h);
    const Matrix scores = attention.head_of("scores", "key", b, h);
    CHECK(scores_use(attention, attention.rows("q_out", b, h), attention.rows("k_out", b, h), scores, {}) > 1000);

    // What was printed, Re sum q k e^(i (m-n) theta), in double. In f32 the angle is off by (C+1) u phi and its sine
    // and cosine by 0.61 u each; two complex products cost 3u each (Brent, Percival, Zimmermann 2007: sqrt(5) u); the
    // sum of the pairs as many u as there are pairs.
    Matrix exact{seq, seq, std::vector<double>(seq * seq)}, bound = exact;
    for (std::size_t m = 0; m < seq; ++m) {
      for (std::size_t n = 0; n < seq; ++n) {
        for (const rope::RotatedPair& pair : plan.pairs) {
          const auto first = static_cast<std::size_t>(pair.first), second = static_cast<std::size_t>(pair.second);
          const double a = q.at(m, first), c = q.at(m, second), d = k.at(n, first), e = k.at(n, second);
          const double phi = (static_cast<double>(m) - static_cast<double>(n)) * pair.theta.to_double();
          exact.at(m, n) += (a * d - c * e) * std::cos(phi) - (a * e + c * d) * std::sin(phi);
          bound.at(m, n) += std::hypot(a, c) * std::hypot(d, e) * u *
                            ((*golden.c + 1) * std::fabs(phi) + 0.87 + 6 + static_cast<double>(plan.pairs.size()));
        }
      }
    }
    CHECK(worst(scores, exact, bound) <= 1);
  });
}
