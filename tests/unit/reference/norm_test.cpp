#include "reference/norm.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "reference/real.hpp"

namespace rope {
namespace {

double error_of(double a, double b) {
  const Real x(a), y(b);
  const Real exact = sqrt(x * x + y * y);
  return std::fabs(((Real(norm_of(a, b)) - exact) / exact).to_double());
}

TEST_CASE("the norm of a pair is off by at most 2^-52, wherever its squares are") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2);
  for (int exponent = -1020; exponent <= 1020; exponent += 5) {
    for (const int apart : {0, 1, 3, 20, 27, 600}) {
      const double a = std::ldexp(mantissa(random), exponent), b = std::ldexp(mantissa(random), exponent - apart);
      INFO(a << " and " << b);
      CHECK(error_of(a, b) <= 0x1p-52);
      CHECK(norm_of(b, -a) == norm_of(a, b));
    }
  }
}

TEST_CASE("the norm of a pair at the ends of the range") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double largest = std::numeric_limits<double>::max(), smallest = std::numeric_limits<double>::denorm_min();
  CHECK(norm_of(0, -0.0) == 0);
  CHECK(norm_of(0, -largest) == largest);
  CHECK(norm_of(largest, largest) == inf);
  CHECK(norm_of(smallest, 0) == smallest);
  CHECK(norm_of(3 * smallest, -4 * smallest) == 5 * smallest);
  CHECK(norm_of(inf, 1) == inf);
  CHECK(norm_of(std::nan(""), -inf) == inf);
  CHECK(std::isnan(norm_of(1, std::nan(""))));
  CHECK(std::isnan(norm_of(std::nan(""), 1)));
}

}  // namespace
}  // namespace rope
