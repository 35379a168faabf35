#include "reference/attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "reference/input_error.hpp"

namespace rope {
namespace {

using Catch::Contains;

const Matrix query{2, 3, {1, 2, 3, -1, 0, 4}};
const Matrix key{2, 3, {2, 0, 1, 1, 1, 1}};

TEST_CASE("a score is the inner product of a query and a key, scaled", "[attention]") {
  const Matrix scores = attention_scores(query, key, 0.5, std::nullopt);
  CHECK(scores.rows == 2);
  CHECK(scores.columns == 2);
  CHECK(scores.values == std::vector<double>{2.5, 3, 1, 1.5});  // 5, 6, 2, 3 halved
  const Matrix one_key{1, 3, {2, 0, 1}};
  const Matrix column = attention_scores(query, one_key, 1, std::nullopt);
  CHECK(column.rows == 2);
  CHECK(column.columns == 1);
  CHECK(column.values == std::vector<double>{5, 2});
}

TEST_CASE("where the mask holds 0 the score is -1e9 and weighs nothing", "[attention]") {
  const Matrix causal{2, 2, {1, 0, 1, 1}};
  const Matrix scores = attention_scores(query, key, 0.5, causal);
  CHECK(scores.values == std::vector<double>{2.5, -1e9, 1, 1.5});
  const Matrix weights = softmax(scores);
  CHECK(weights.at(0, 0) == 1);
  CHECK(weights.at(0, 1) == 0);
  CHECK(weights.at(1, 0) == Approx(1 / (1 + std::exp(0.5))).epsilon(1e-15));
  CHECK(weights.at(1, 1) == Approx(1 / (1 + std::exp(-0.5))).epsilon(1e-15));
}

TEST_CASE("a row that is masked everywhere weighs all keys alike", "[attention]") {
  const Matrix nothing{2, 2, {0, 0, 1, 1}};
  const Matrix weights = softmax(attention_scores(query, key, 1, nothing));
  CHECK(weights.at(0, 0) == 0.5);
  CHECK(weights.at(0, 1) == 0.5);
}

TEST_CASE("softmax of each row adds up to 1 and keeps ratios", "[attention]") {
  const Matrix weights = softmax({2, 3, {0, std::log(2.0), std::log(5.0), -7, -7, -7}});
  const double expected[] = {0.125, 0.25, 0.625, 1.0 / 3, 1.0 / 3, 1.0 / 3};
  for (std::size_t i = 0; i < 6; ++i) CHECK(weights.values[i] == Approx(expected[i]).epsilon(1e-15));
}

TEST_CASE("large scores do not overflow, and only their differences count", "[attention]") {
  const Matrix weights = softmax({2, 2, {1e308, 1e308, -1e308, 1e308}});
  CHECK(weights.values == std::vector<double>{0.5, 0.5, 0, 1});
  const Matrix shifted = softmax({1, 2, {1e6, 1e6 + 1}});
  CHECK(shifted.at(0, 1) == Approx(1 / (1 + std::exp(-1.0))).epsilon(1e-15));
}

TEST_CASE("values are weighted by row", "[attention]") {
  const Matrix weights{2, 3, {0.5, 0.25, 0.25, 0, 1, 0}};
  const Matrix value{3, 2, {4, 8, 0, 16, 8, -8}};
  const Matrix result = weighted_values(weights, value);
  CHECK(result.rows == 2);
  CHECK(result.columns == 2);
  CHECK(result.values == std::vector<double>{4, 6, 0, 16});
}

TEST_CASE("no queries and no keys are no error", "[attention]") {
  CHECK(softmax({2, 0, {}}).values.empty());
  CHECK(attention_scores({0, 3, {}}, key, 1, std::nullopt).values.empty());
  CHECK(weighted_values({1, 0, {}}, {0, 2, {}}).values == std::vector<double>{0, 0});
}

TEST_CASE("shapes that do not match are refused with what differs", "[attention]") {
  const Matrix narrow{2, 2, {1, 1, 1, 1}};
  CHECK_THROWS_WITH(attention_scores(query, narrow, 1, std::nullopt), Contains("q and k differ in head_dim"));
  const Matrix tall{3, 2, {1, 1, 1, 1, 1, 1}};
  CHECK_THROWS_WITH(attention_scores(query, key, 1, tall), Contains("mask must be [queries, keys]"));
  const Matrix wide{2, 3, {1, 1, 1, 1, 1, 1}};
  CHECK_THROWS_WITH(attention_scores(query, key, 1, wide), Contains("mask must be [queries, keys]"));
  CHECK_THROWS_WITH(weighted_values(narrow, tall), Contains("differ in the number of keys"));
  CHECK_THROWS_AS(weighted_values(narrow, tall), InputError);
}

}  // namespace
}  // namespace rope
