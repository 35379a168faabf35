#include "reference/naive_matrix.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace rope {
namespace {

TEST_CASE("the matrix of eq. 15") {
  RotationPlan plan;
  plan.head_dim = 5;
  plan.pairs.push_back({0, 3, 0, Real(1)});
  plan.pairs.push_back({1, 4, 1, Real(0.5)});
  plan.lambda = 2;
  const std::int64_t position[] = {1, 3};
  const DenseRotation rotation = dense_rotation(blocks_at(plan, position));
  REQUIRE(rotation.features == std::vector<int>{0, 1, 3, 4});
  const double c0 = 2 * std::cos(1.0), s0 = 2 * std::sin(1.0), c1 = 2 * std::cos(1.5), s1 = 2 * std::sin(1.5);
  const double expected[] = {c0, 0, -s0, 0, 0, c1, 0, -s1, s0, 0, c0, 0, 0, s1, 0, c1};
  for (std::size_t i = 0; i < 16; ++i) CHECK(rotation.matrix[i] == Approx(expected[i]).margin(1e-15));

  const double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<double> y = multiply(rotation, x, 5);
  CHECK(y[0] == Approx(c0 - 4 * s0));
  CHECK(y[2] == 3);  // in no pair
  CHECK(y[8] == Approx(9 * c0 + 6 * s0));

  const DenseRotation back = dense_rotation(transposed(rotation.blocks));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) CHECK(back.matrix[i * 4 + j] == rotation.matrix[j * 4 + i]);
  }
}

TEST_CASE("a product is of rank 2 with more than one row and column") {  // fails without the flag of Dependencies.cmake
  RotationPlan plan;
  plan.head_dim = 2;
  plan.pairs.push_back({0, 1, 0, Real(0.25)});
  const std::int64_t position[] = {4};
  const double x[] = {1, 0, 0, 1, 1, 1};
  const std::vector<double> y = multiply(dense_rotation(blocks_at(plan, position)), x, 2);
  const double c = std::cos(1.0);
  const double s = std::sin(1.0);
  const double expected[] = {c, s, -s, c, c - s, s + c};
  for (std::size_t i = 0; i < 6; ++i) CHECK(y[i] == Approx(expected[i]));
}

}  // namespace
}  // namespace rope
