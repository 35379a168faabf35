#include "reference/doubling_angle.hpp"

#include <rapidcheck/catch.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "reference/rotation_plan.hpp"
#include "reference/scaling/setting.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

constexpr double seed_bound = 0x1p-108 + 0x1p-128;

// |x - value|, rounded up.
double distance_from(const DoubleDouble& x, mpfr_srcptr value) {
  mpfr_t rest;
  mpfr_init2(rest, 640);
  mpfr_sub_d(rest, value, x.hi, MPFR_RNDN);
  mpfr_sub_d(rest, rest, x.lo, MPFR_RNDN);
  const double result = std::fabs(mpfr_get_d(rest, MPFR_RNDA));
  mpfr_clear(rest);
  return result;
}

// The larger error of the two components of an angle of 2^doublings * theta. MPFR computes it with 320 bits, from the
// angle itself.
double seed_error(const Angle& angle, const Real& theta, unsigned doublings) {
  mpfr_t phi, cos, sin;
  mpfr_inits2(320, phi, cos, sin, nullptr);
  mpfr_mul_2ui(phi, theta.get(), doublings, MPFR_RNDN);
  mpfr_sin_cos(sin, cos, phi, MPFR_RNDN);
  const double result = std::max(distance_from(angle.cos, cos), distance_from(angle.sin, sin));
  mpfr_clears(phi, cos, sin, nullptr);
  return result;
}

// Of 24 seeds, or of all 32.
double worst_seed_error(const Real& theta, unsigned count = 24) {
  DoublingAngle angles(theta);
  double worst = 0;
  for (unsigned k = 0; k < count; ++k) worst = std::max(worst, seed_error(angles.next(), theta, k));
  return worst;
}

}  // namespace

TEST_CASE("doubled angles equal MPFR's at every kind of theta", "[doubling_angle]") {
  const Real third = Real(1) / Real(3), tiny(0x1p-180), pi = Real::pi();
  for (const Real& theta : {Real(1), third, Real(0), Real(1.5), Real(2) - tiny, Real(2), pi, pi / Real(2),
                            pi / Real(4), Real(0x1p-40), Real(0x1p-64), tiny * third, Real(0x1p-199),
                            Real(0x1p-1000), Real(12345.678), Real(1e300), Real(1) - tiny}) {
    CAPTURE(theta.to_double());
    CHECK(worst_seed_error(theta, 32) <= seed_bound);
    CHECK(worst_seed_error(-theta, 32) <= seed_bound);
  }
}

TEST_CASE("doubled angles equal MPFR's for random thetas", "[doubling_angle]") {
  rc::prop("any digits, any size", [](std::uint64_t high, std::uint64_t low, std::uint8_t scale, bool negative) {
    const Real digits = (Real(high >> 1) + Real(low >> 1) * Real(0x1p-63)) * Real(0x1p-62);
    const Real theta = digits * Real(std::ldexp(1.0, -static_cast<int>(scale % 100)));
    RC_ASSERT(worst_seed_error(negative ? -theta : theta) <= seed_bound);
  });
}

TEST_CASE("doubled angles equal MPFR's for random bases and rules", "[doubling_angle]") {
  rc::prop("every pair of a random plan", [] {
    const RopeSpec spec = test::any_spec();
    for (const RotatedPair& pair : compile(spec, 4096).pairs) {
      RC_ASSERT(worst_seed_error(pair.theta, 9) <= seed_bound);
    }
  });
}

TEST_CASE("the comparison notices an error of a few units in the last place of a double-double", "[doubling_angle]") {
  constexpr double unit = 0x1p-106;
  const Real theta = scaling::unscaled(Real(5e5), 128)[3];
  DoublingAngle angles(theta);
  for (unsigned k = 0; k < 24; ++k) {
    const Angle right = angles.next();
    CHECK(seed_error(right, theta, k) <= seed_bound);
    for (const double units : {1.0, 3.0, -2.0}) {
      Angle wrong = right;
      (k % 2 == 0 ? wrong.cos : wrong.sin).lo += units * unit;
      CHECK(seed_error(wrong, theta, k) > seed_bound);
    }
  }
}

TEST_CASE("each component is a normalized double-double", "[doubling_angle]") {
  rc::prop("its low part is at most half a unit of the high one", [](std::uint64_t digits) {
    DoublingAngle angles(Real(digits) * Real(0x1p-64));
    for (int k = 0; k < 24; ++k) {
      const Angle angle = angles.next();
      for (const DoubleDouble& x : {angle.cos, angle.sin}) RC_ASSERT(x.hi + x.lo == x.hi);
    }
  });
}

}  // namespace rope
