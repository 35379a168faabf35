#include "reference/double_double.hpp"

#include <rapidcheck/catch.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "reference/real.hpp"

using rope::DoubleDouble;
using rope::Real;

namespace {

constexpr double u2 = 0x1p-106;
constexpr int cases = 100'000;

// 256 bits hold every sum here exactly and every product to 2^-256.
Real exact(const DoubleDouble& x) { return Real(x.hi) + Real(x.lo); }
Real magnitude(const Real& x) { return x < Real(0) ? -x : x; }

// |computed - exact| / |exact|, in u^2.
double relative_error(const DoubleDouble& computed, const Real& expected) {
  const Real error = magnitude(exact(computed) - expected);
  if (expected == Real(0)) return error == Real(0) ? 0 : std::numeric_limits<double>::infinity();
  return (error / magnitude(expected)).to_double() / u2;
}

class Draw {
 public:
  // Significands near a power of two are frequent: there lie the worst cases of the published bounds.
  double number(int exponent_range) {
    double fraction = 1 + std::uniform_real_distribution<>(0, 1)(engine_);
    if (engine_() % 2 == 0) fraction = 1 + std::ldexp(fraction, -static_cast<int>(engine_() % 52));
    const int exponent = std::uniform_int_distribution<>(-exponent_range, exponent_range)(engine_);
    return std::ldexp(engine_() % 2 == 0 ? fraction : -fraction, exponent);
  }
  DoubleDouble double_double(int exponent_range = 40) {
    const double hi = number(exponent_range);
    return rope::two_sum(hi, hi * 0x1p-54 * number(0) / 2);
  }
  // -x except for a few of its last bits: its sum with x cancels.
  DoubleDouble opposite(const DoubleDouble& x) {
    const double nudge = x.hi * std::ldexp(1.0, -static_cast<int>(40 + engine_() % 60));
    return rope::two_sum(-x.hi + nudge, -x.lo * number(0));
  }

 private:
  std::mt19937_64 engine_{20240607};
};

// JMP algorithm 5: a cheaper operator+, without a relative bound.
DoubleDouble sloppy_sum(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble high = rope::two_sum(x.hi, y.hi);
  return rope::fast_two_sum(high.hi, high.lo + (x.lo + y.lo));
}

bool is_normalised(const DoubleDouble& x) { return x.hi == x.hi + x.lo; }

}  // namespace

TEST_CASE("error-free transformations lose nothing", "[double_double]") {
  Draw draw;
  for (int i = 0; i < cases; ++i) {
    const double a = draw.number(60), b = draw.number(60);
    const bool ordered = std::fabs(a) >= std::fabs(b);
    const DoubleDouble sum = rope::two_sum(a, b);
    const DoubleDouble fast = ordered ? rope::fast_two_sum(a, b) : rope::fast_two_sum(b, a);
    const DoubleDouble product = rope::two_prod(a, b);
    const bool holds = exact(sum) == Real(a) + Real(b) && fast == sum && exact(product) == Real(a) * Real(b) &&
                       is_normalised(sum) && is_normalised(product);
    if (!holds) FAIL("a = " << a << ", b = " << b);
  }
}

TEST_CASE("double-double operations keep their published bounds", "[double_double]") {
  struct Operation {
    const char* name;
    double bound;     // u^2
    double attained;  // u^2; less would mean that the inputs miss the hard cases
    DoubleDouble (*computed)(const DoubleDouble&, const DoubleDouble&);
    Real (*expected)(const DoubleDouble&, const DoubleDouble&);
  };
  const Operation operation = GENERATE(values<Operation>({
      {"x + y", 3.0001, 1.5, [](auto& x, auto& y) { return x + y; },
       [](auto& x, auto& y) { return exact(x) + exact(y); }},
      {"x - y", 3.0001, 1.5, [](auto& x, auto& y) { return x - y; },
       [](auto& x, auto& y) { return exact(x) - exact(y); }},
      {"x + b", 2, 0.9, [](auto& x, auto& y) { return x + y.hi; },
       [](auto& x, auto& y) { return exact(x) + Real(y.hi); }},
      {"x * y", 4, 2, [](auto& x, auto& y) { return x * y; }, [](auto& x, auto& y) { return exact(x) * exact(y); }},
      {"x * b", 2, 0.9, [](auto& x, auto& y) { return x * y.hi; },
       [](auto& x, auto& y) { return exact(x) * Real(y.hi); }},
  }));
  Draw draw;
  double worst = 0;
  for (int i = 0; i < cases; ++i) {
    const DoubleDouble x = draw.double_double();
    const DoubleDouble y = i % 2 == 0 ? draw.double_double() : draw.opposite(x);
    const DoubleDouble result = operation.computed(x, y);
    worst = std::max(worst, relative_error(result, operation.expected(x, y)));
    if (!is_normalised(result)) FAIL(operation.name << " is not normalised");
  }
  INFO(operation.name << ": worst " << worst << " u^2");
  CHECK(worst <= operation.bound);
  CHECK(worst >= operation.attained);
}

TEST_CASE("the comparison with the exact sum sees what a sloppy sum loses to cancellation", "[double_double]") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < cases; ++i) {
    const DoubleDouble x = draw.double_double();
    const DoubleDouble y = draw.opposite(x);
    worst = std::max(worst, relative_error(sloppy_sum(x, y), exact(x) + exact(y)));
  }
  CHECK(worst > 1e6);
}

TEST_CASE("double-doubles are ordered as their values", "[double_double]") {
  Draw draw;
  for (int i = 0; i < cases; ++i) {
    const DoubleDouble x = draw.double_double(2);
    const DoubleDouble y = i % 2 == 0 ? draw.double_double(2) : -draw.opposite(x);
    const bool holds = (x < y) == (exact(x) < exact(y)) && (x <= y) == (exact(x) <= exact(y)) &&
                       (x == y) == (exact(x) == exact(y)) && (x > y) == (y < x) && (x >= y) == (y <= x) && x == x &&
                       exact(abs(x)) == magnitude(exact(x));
    if (!holds) FAIL("case " << i);
  }
}

TEST_CASE("to_float rounds once", "[double_double]") {
  rc::prop("at and around midpoints of floats, as MPFR does", [](std::uint32_t word) {
    const auto bits = word & 0x7fffffffU;
    RC_PRE(bits < 0x7f000000U);
    const double lower = static_cast<double>(std::bit_cast<float>(bits));
    const double upper = static_cast<double>(std::bit_cast<float>(bits + 1));
    const double midpoint = lower + (upper - lower) / 2;
    for (const double hi : {lower, midpoint, upper, std::nextafter(midpoint, 0), std::nextafter(midpoint, upper)}) {
      for (const double part : {0.0, 1e-9, -1e-9, 0.4, -0.4}) {
        for (const double sign : {1.0, -1.0}) {
          const DoubleDouble x = rope::two_sum(sign * hi, hi * part * 0x1p-53);
          RC_ASSERT(rope::to_float(x) == mpfr_get_flt(exact(x).get(), MPFR_RNDN));
        }
      }
    }
  });

  // 1 + 2^-24 is a midpoint; rounding only hi loses what lies beyond it.
  const DoubleDouble above{1 + 0x1p-24, 0x1p-80};
  CHECK(rope::to_float(above) == 1 + 0x1p-23F);
  CHECK(static_cast<float>(above.hi) == 1.0F);
}
