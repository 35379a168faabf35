#include "tests/unit/golden/attention.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace rope {
namespace {

const Matrix query = {{1, 2, 3}, {-1, 0, 4}};
const Matrix key = {{2, 0, 1}, {1, 1, 1}};

TEST_CASE("a score is the inner product of a query and a key, scaled", "[attention]") {
  CHECK((attention_scores(query, key, 0.5, std::nullopt) == Matrix{{2.5, 3}, {1, 1.5}}));  // 5, 6, 2, 3 halved
  CHECK((attention_scores(query, Matrix{{2, 0, 1}}, 1, std::nullopt) == Matrix{{5}, {2}}));
}

TEST_CASE("if the mask holds 0 the score is -1e9 and weighs nothing", "[attention]") {
  const Matrix scores = attention_scores(query, key, 0.5, Matrix{{1, 0}, {1, 1}});
  CHECK((scores == Matrix{{2.5, -1e9}, {1, 1.5}}));
  const Matrix expected = {{1, 0}, {1 / (1 + std::exp(0.5)), 1 / (1 + std::exp(-0.5))}};
  CHECK(xt::allclose(softmax(scores), expected, 1e-15, 0));
}

TEST_CASE("a row that is masked everywhere weighs all keys alike", "[attention]") {
  const Matrix weights = softmax(attention_scores(query, key, 1, Matrix{{0, 0}, {1, 1}}));
  CHECK(weights(0, 0) == 0.5);
  CHECK(weights(0, 1) == 0.5);
}

TEST_CASE("softmax of each row adds up to 1 and keeps ratios", "[attention]") {
  const Matrix weights = softmax({{0, std::log(2.0), std::log(5.0)}, {-7, -7, -7}});
  CHECK(xt::allclose(weights, Matrix{{0.125, 0.25, 0.625}, {1.0 / 3, 1.0 / 3, 1.0 / 3}}, 1e-15, 0));
}

TEST_CASE("large scores do not overflow, and only their differences count", "[attention]") {
  CHECK((softmax({{1e308, 1e308}, {-1e308, 1e308}}) == Matrix{{0.5, 0.5}, {0, 1}}));
  CHECK(softmax({{1e6, 1e6 + 1}})(0, 1) == Approx(1 / (1 + std::exp(-1.0))).epsilon(1e-15));
}

}  // namespace
}  // namespace rope
