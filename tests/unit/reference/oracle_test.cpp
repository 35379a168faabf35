#include "reference/oracle.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "reference/naive_matrix.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

constexpr double unit = 0x1p-53;

struct Token {
  RopeSpec spec;
  RotationPlan plan;
  std::vector<std::int64_t> position;  // one an axis
  std::vector<double> x;               // head_dim
};

double any_value() { return (test::coin() ? 1 : -1) * test::between(0x1p-10, 0x1p10); }

Token any_token() {
  Token token;
  token.spec = test::any_spec();
  token.plan = compile(token.spec, 1000);
  for (int a = 0; a < token.spec.axes.count(); ++a) {
    token.position.push_back(*rc::gen::inRange<std::int64_t>(0, 1000));
  }
  for (int j = 0; j < token.spec.head_dim; ++j) token.x.push_back(any_value());
  return token;
}

// For each pair: the exact result, the norm of its input times |lambda|, and its angle.
template <class Visitor>
void for_each_pair(const Token& token, bool backward, Visitor&& visit) {
  Oracle oracle(token.plan);
  const std::vector<PairAngle> angles = oracle.angles(token.position);
  for (std::size_t p = 0; p < token.plan.pairs.size(); ++p) {
    const RotatedPair& pair = token.plan.pairs[p];
    const double a = token.x[static_cast<std::size_t>(pair.first)];
    const double b = token.x[static_cast<std::size_t>(pair.second)];
    visit(pair, rotate_exact(a, b, angles[p], token.plan.lambda, backward),
          std::fabs(token.plan.lambda) * std::hypot(a, b), angles[p].phi);
  }
}

double distance(const DoubleDouble& exact, double value) { return std::fabs((value - exact.hi) - exact.lo); }

// The error that the naive matrix may have, over lambda times the norm of the pair. Its matrix holds cos and sin
// rounded to double (u each: sqrt(2) u in the product); two products and their sum are rounded (2u, error_model.md).
// Before that all is long double: theta and phi rounded (2^-63 phi), cosl, sinl and the product with lambda to a few
// 2^-64.
double matrix_bound(double phi) { return (std::sqrt(2.0) + 2) * unit + (std::fabs(phi) + 8) * 0x1p-63; }

bool matrix_agrees(const Token& token, bool backward, double theta_error = 0) {
  Token other = token;
  for (RotatedPair& pair : other.plan.pairs) pair.theta = pair.theta * Real(1 + theta_error);
  std::vector<MatrixBlock> blocks = blocks_at(other.plan, token.position);
  if (backward) blocks = transposed(std::move(blocks));
  const RotationMatrix rotation = rotation_matrix(std::move(blocks));
  const std::vector<double> y = multiply(rotation, token.x, token.spec.head_dim);
  bool agrees = true;
  for_each_pair(token, backward, [&](const RotatedPair& pair, const ExactPair& exact, double norm, double phi) {
    const double bound = norm * matrix_bound(phi);
    agrees = agrees && distance(exact.first, y[static_cast<std::size_t>(pair.first)]) <= bound &&
             distance(exact.second, y[static_cast<std::size_t>(pair.second)]) <= bound;
  });
  for (int j = token.spec.rotary_dim; j < token.spec.head_dim; ++j) {
    const auto i = static_cast<std::size_t>(j);
    agrees = agrees && y[i] == token.x[i];
  }
  return agrees;
}

TEST_CASE("oracle and naive matrix agree, forward and backward", "[oracle]") {
  rc::prop("on random specs, positions and values", [] {
    const Token token = any_token();
    RC_ASSERT(matrix_agrees(token, false));
    RC_ASSERT(matrix_agrees(token, true));
  });
}

TEST_CASE("oracle and naive matrix disagree where theta is off by 2^-44", "[oracle]") {
  Token token;
  token.spec.head_dim = token.spec.rotary_dim = 8;
  token.plan = compile(token.spec, 1);
  token.position = {999};
  token.x = {1, 2, 3, 4, 5, 6, 7, 8};
  CHECK(matrix_agrees(token, false));
  CHECK_FALSE(matrix_agrees(token, false, 0x1p-44));
  CHECK_FALSE(matrix_agrees(token, true, 0x1p-44));
}

TEST_CASE("the oracle is the formula in long double, where long double suffices", "[oracle]") {
  rc::prop("to the roundings of long double", [] {
    const Token token = any_token();
    for_each_pair(token, false, [&](const RotatedPair& pair, const ExactPair& exact, double norm, double phi) {
      const long double angle = static_cast<long double>(token.position[static_cast<std::size_t>(pair.axis)]) *
                                mpfr_get_ld(pair.theta.get(), MPFR_RNDN);
      const long double a = token.x[static_cast<std::size_t>(pair.first)];
      const long double b = token.x[static_cast<std::size_t>(pair.second)];
      const long double lambda = token.plan.lambda;
      const long double first = lambda * (a * std::cos(angle) - b * std::sin(angle));
      const long double second = lambda * (b * std::cos(angle) + a * std::sin(angle));
      const auto error = [](const DoubleDouble& e, long double v) {
        return static_cast<double>(std::fabs((v - static_cast<long double>(e.hi)) - static_cast<long double>(e.lo)));
      };
      // theta and phi rounded, cosl and sinl each good to an ulp, three roundings of the arithmetic and one of lambda,
      // in units of 2^-64.
      const double bound = norm * (2 * std::fabs(phi) + 2 * std::sqrt(2.0) + 4) * 0x1p-64;
      RC_ASSERT(error(exact.first, first) <= bound);
      RC_ASSERT(error(exact.second, second) <= bound);
    });
  });
}

// The error of rotate_exact, over lambda times the norm. An angle's cos and sin are off by 2^-98 each
// (angle_table.hpp); two products, their sum and lambda by 2 + 3 + 2 times 2^-106 (double_double.hpp). Together below
// 2^-97.
constexpr double oracle_error = 0x1p-97;

TEST_CASE("backward is the transpose of forward", "[oracle]") {
  rc::prop("<R x, g> = <x, Rt g>, also for unequal halves", [] {
    const auto any_angle = [] {
      const double phi = test::between(0x1p-20, 0x1p10);
      return std::pair(DoubleDouble{std::cos(phi), 0}, DoubleDouble{std::sin(phi), 0});
    };
    PairAngle angle;
    std::tie(angle.cos_first, angle.sin_first) = any_angle();
    std::tie(angle.cos_second, angle.sin_second) =
        test::coin() ? any_angle() : std::pair(angle.cos_first, angle.sin_first);
    const double a = any_value(), b = any_value(), g = any_value(), h = any_value();
    const double lambda = test::between(0.25, 4);
    const ExactPair y = rotate_exact(a, b, angle, lambda, false);
    const ExactPair x = rotate_exact(g, h, angle, lambda, true);
    const DoubleDouble left = y.first * g + y.second * h;
    const DoubleDouble right = x.first * a + x.second * b;
    // The entries of the matrix are exact here, and its rows at most sqrt(2) long. The unit is 2^-106. An element of y
    // is off by 7 (products 2, sum 3, lambda 2) times sqrt(2) |x|, which costs 14 in the inner product. The inner
    // product's own products and sum cost 5 times 2. So 24 on either side.
    const double scale = lambda * std::hypot(a, b) * std::hypot(g, h);
    RC_ASSERT(abs(left - right).hi <= 2 * 24 * scale * 0x1p-106);
  });
  const PairAngle quarter{{0, 0}, {1, 0}, {0, 0}, {1, 0}};
  const ExactPair forward = rotate_exact(3, 5, quarter, 2, false);
  const ExactPair backward = rotate_exact(3, 5, quarter, 2, true);
  CHECK((forward.first.hi == -10 && forward.second.hi == 6));
  CHECK((backward.first.hi == 10 && backward.second.hi == -6));
  const PairAngle halves{{0.5, 0}, {0.25, 0}, {0.125, 0}, {2, 0}};  // y = (0.5a - 0.25b, 2a + 0.125b)
  const ExactPair there = rotate_exact(1, 1, halves, 1, false);
  const ExactPair back = rotate_exact(1, 1, halves, 1, true);
  CHECK((there.first.hi == 0.25 && there.second.hi == 2.125));
  CHECK((back.first.hi == 2.5 && back.second.hi == -0.125));
}

TEST_CASE("the norm of a pair is kept, times lambda", "[oracle]") {
  rc::prop("first^2 + second^2 = lambda^2 (a^2 + b^2)", [] {
    const Token token = any_token();
    const bool backward = test::coin();
    for_each_pair(token, backward, [&](const RotatedPair& pair, const ExactPair& exact, double norm, double) {
      const double a = token.x[static_cast<std::size_t>(pair.first)];
      const double b = token.x[static_cast<std::size_t>(pair.second)];
      const DoubleDouble squares = exact.first * exact.first + exact.second * exact.second;
      const DoubleDouble lambda2 = two_prod(token.plan.lambda, token.plan.lambda);
      const DoubleDouble expected = lambda2 * (two_prod(a, a) + two_prod(b, b));
      // 2 |y| times the error of |y| (sqrt(2) oracle_error), and 2^-100 for the squares and sums here.
      RC_ASSERT(abs(squares - expected).hi <=
                norm * norm * (2 * std::sqrt(2.0) * oracle_error + 0x1p-100) * (1 + unit));
    });
  });
}

TEST_CASE("gain is the length that a unit pair can reach", "[oracle]") {
  const PairAngle turn{{0.6, 0}, {0.8, 0}, {0.6, 0}, {0.8, 0}, 0};
  CHECK(turn.gain(false) == Approx(1));
  CHECK(turn.gain(true) == Approx(1));
  const PairAngle halves{{0.6, 0}, {0.8, 0}, {0, 0}, {1, 0}, 0};
  CHECK(halves.gain(false) == Approx(1));
  CHECK(halves.gain(true) == Approx(std::hypot(0.6, 1)));  // backward mixes the first cosine with the second sine
}

TEST_CASE("each pair follows the position of its axis", "[oracle]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 12;
  spec.axes.sections = {2, 3, 1};
  Oracle oracle(compile(spec, 1));
  const std::int64_t position[] = {5, 70, 900};
  const std::vector<PairAngle> angles = oracle.angles(position);
  const double expected[] = {5, 5, 70, 70, 70, 900};
  for (std::size_t p = 0; p < 6; ++p) {
    CHECK(angles[p].phi == Approx(expected[p] * std::pow(10000.0, -static_cast<double>(p) / 6)).epsilon(1e-14));
    CHECK(angles[p].cos_first.hi == Approx(std::cos(angles[p].phi)).margin(1e-12));
    CHECK(angles[p].sin_second.hi == Approx(std::sin(angles[p].phi)).margin(1e-12));
  }
}

TEST_CASE("fill rounds what angles gives", "[oracle]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 6;
  Oracle oracle(compile(spec, 1));
  std::vector<double> cos(12), sin(12);
  oracle.fill(1000, 4, cos, sin);
  for (std::int64_t row = 0; row < 4; ++row) {
    const std::int64_t position[] = {1000 + row};
    const std::vector<PairAngle> angles = oracle.angles(position);
    for (std::size_t p = 0; p < 3; ++p) {
      CHECK(cos[static_cast<std::size_t>(row) * 3 + p] == angles[p].cos_first.hi);
      CHECK(sin[static_cast<std::size_t>(row) * 3 + p] == angles[p].sin_first.hi);
    }
  }
}

TEST_CASE("xPos magnitudes are inverse for q and k, and 1 at the centre", "[oracle]") {
  RopeSpec spec;
  spec.head_dim = spec.rotary_dim = 8;
  CHECK(Oracle(compile(spec, 1)).magnitude(2, 300, false) == 1);
  spec.xpos = XPos{0.4, 512, 100};
  const Oracle oracle(compile(spec, 1));
  CHECK(oracle.magnitude(2, 100, false) == 1);
  CHECK(oracle.magnitude(2, 612, false) == Approx(9.0 / 14));  // zeta of pair 2 to the power of 512/512
  CHECK(oracle.magnitude(2, 612, true) == Approx(14.0 / 9));
  CHECK(oracle.magnitude(2, 1124, false) == Approx(81.0 / 196));
}

}  // namespace
}  // namespace rope
