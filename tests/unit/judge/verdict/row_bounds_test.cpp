#include "tools/judge/verdict/row_bounds.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using namespace rope;

namespace {

// Every pair of grades has bounds of its own, and the worst element of each is another one.
RowBounds some_bounds(std::size_t pairs, std::mt19937& random, bool with_gain) {
  std::uniform_real_distribution<double> term(1e-7, 1e-6);
  RowBounds bounds;
  for (std::vector<double>& terms : bounds.angle_terms) {
    for (std::size_t p = 0; p < pairs; ++p) terms.push_back(term(random));
  }
  for (std::size_t p = 0; with_gain && p < pairs; ++p) bounds.gain.push_back(1 + term(random) * 1e6);
  bounds.lambda_size = 0.75;
  bounds.arithmetic = {1e-7, 3e-7, 9e-7};
  bounds.tiny = {1e-40, 2e-40, 3e-40};
  return bounds;
}

RotatedRow some_row(std::size_t pairs, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-4, 4), noise(-4e-8, 4e-8);
  RotatedRow row(pairs);
  for (std::size_t p = 0; p < pairs; ++p) {
    row.a[p] = number(random);
    row.b[p] = number(random);
    row.exact[p] = {{number(random), 1e-17}, {number(random), -1e-17}};
    row.first[p] = row.exact[p].first.hi + noise(random);
    row.second[p] = row.exact[p].second.hi + noise(random);
  }
  return row;
}

// The largest error over bound of each pair of grades, element by element.
PerGrade<double> uses_of(const RotatedRow& row, const RowBounds& bounds) {
  PerGrade<double> uses{};
  for (std::size_t p = 0; p < row.a.size(); ++p) {
    const double gain = bounds.gain.empty() ? 1 : bounds.gain[p];
    const double scale = bounds.lambda_size * (std::sqrt(row.a[p] * row.a[p] + row.b[p] * row.b[p]) * gain);
    for (const auto& [actual, exact] : {std::pair(row.first[p], row.exact[p].first),
                                        std::pair(row.second[p], row.exact[p].second)}) {
      const double error = std::fabs((actual - exact.hi) - exact.lo);
      for (std::size_t a = 0; a < angle_grades; ++a) {
        for (std::size_t w = 0; w < arithmetic_grades; ++w) {
          const double bound = scale * (bounds.angle_terms[a][p] + bounds.arithmetic[w]) + bounds.tiny[w];
          uses[a][w] = std::max(uses[a][w], error / bound);
        }
      }
    }
  }
  return uses;
}

PerGrade<double> times(PerGrade<double> uses, double factor) {
  for (auto& of_angle : uses) {
    for (double& use : of_angle) use *= factor;
  }
  return uses;
}

constexpr Grade required{AngleGrade::B, ArithmeticGrade::two};
constexpr double roomy = 1 + 1e-12, tight = 1 - 1e-9;

}  // namespace

TEST_CASE("a row is within its bounds exactly if each element is, for every pair of grades", "[judge]") {
  std::mt19937 random(1);
  for (const std::size_t pairs : {1u, 7u, 8u, 9u, 64u}) {
    for (const bool with_gain : {false, true}) {
      RotatedRow row = some_row(pairs, random);
      const RowBounds bounds = some_bounds(pairs, random, with_gain);
      const PerGrade<double> uses = uses_of(row, bounds);
      const double use = uses[1][1];
      REQUIRE(use < 1);
      const PerGrade<double> enough = times(uses, roomy);
      CHECK(is_within(row, bounds, enough, required, use * roomy));
      CHECK_FALSE(is_within(row, bounds, enough, required, use * tight));
      for (std::size_t a = 0; a < angle_grades; ++a) {
        for (std::size_t w = 0; w < arithmetic_grades; ++w) {
          PerGrade<double> less = enough;
          less[a][w] = uses[a][w] * tight;
          CHECK_FALSE(is_within(row, bounds, less, required, use * roomy));
        }
      }
    }
  }
}

TEST_CASE("a row beyond the deciding bound is never within, however much was used before", "[judge]") {
  std::mt19937 random(2);
  RotatedRow row = some_row(9, random);
  const RowBounds bounds = some_bounds(9, random, false);
  row.second[8] += 1e-3;
  const PerGrade<double> enough = times(uses_of(row, bounds), roomy);
  REQUIRE(enough[1][1] > 1);
  CHECK_FALSE(is_within(row, bounds, enough, required, 2 * enough[1][1]));
}

TEST_CASE("a row with a NaN, or with a norm that takes more than a root, is left to its elements", "[judge]") {
  std::mt19937 random(3);
  const RowBounds bounds = some_bounds(9, random, false);
  const RotatedRow right = some_row(9, random);
  const PerGrade<double> enough = times(uses_of(right, bounds), roomy);
  const auto within = [&](std::vector<double> RotatedRow::*values, double value) {
    RotatedRow row = right;
    (row.*values)[4] = value;
    return is_within(row, bounds, enough, required, 1);
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto values : {&RotatedRow::a, &RotatedRow::b, &RotatedRow::first, &RotatedRow::second}) {
    CHECK_FALSE(within(values, nan));
  }
  CHECK_FALSE(within(&RotatedRow::a, 1e200));
  RotatedRow none = right;  // the pair (0, 0), exactly turned
  none.a[4] = none.b[4] = none.first[4] = none.second[4] = 0;
  none.exact[4] = {};
  CHECK(is_within(none, bounds, enough, required, 1));
  RotatedRow small = none;
  small.a[4] = small.b[4] = 1e-200;
  CHECK_FALSE(is_within(small, bounds, enough, required, 1));
}
