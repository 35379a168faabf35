#include <bit>

#include "reference/mpfr_number.hpp"
#include "reference/scaling/setting.hpp"

namespace rope::scaling {
namespace {

constexpr mpfr_prec_t working_precision = Real::precision + 64;

}  // namespace

// theta falls by the same factor from pair to pair: e^(-2 log(base) / r). |log(base)| is below 2^11. So power p of the
// factor is off by less than (3 * 2^11 + 2p) 2^-320 of itself. That is 2^-305 for up to 2^13 pairs.
//
// The exponent of a pair is a Real, and -2p/r is one only if r is a power of two. Else it is off by d < 2^-256, and
// theta is the power times 1 + d log(base). A double holds d log(base) to 2^-50 of itself, so theta is off by less than
// 2^-290. If that leaves the rounding to 256 bits open, mpfr_pow decides.
std::vector<Real> unscaled(const Real& base, int rotary_dim) {
  constexpr mpfr_exp_t right_bits = 290;
  const bool exact_exponents = std::has_single_bit(static_cast<unsigned>(rotary_dim));
  MpfrNumber logarithm(working_precision), factor(working_precision), power(working_precision), near(working_precision);
  mpfr_log(logarithm.get(), base.get(), MPFR_RNDN);
  mpfr_mul_si(factor.get(), logarithm.get(), -2, MPFR_RNDN);
  mpfr_div_si(factor.get(), factor.get(), rotary_dim, MPFR_RNDN);
  mpfr_exp(factor.get(), factor.get(), MPFR_RNDN);
  mpfr_set_ui(power.get(), 1, MPFR_RNDN);
  const double log_over_r = mpfr_get_d(logarithm.get(), MPFR_RNDN) / rotary_dim;
  std::vector<Real> theta(static_cast<std::size_t>(rotary_dim / 2));
  for (int p = 0; p < rotary_dim / 2; ++p) {
    Real& result = theta[static_cast<std::size_t>(p)];
    mpfr_set(near.get(), power.get(), MPFR_RNDN);
    if (!exact_exponents) {
      const Real exponent = Real(-2 * p) / Real(rotary_dim);
      MpfrNumber off(working_precision);  // r d, exact
      mpfr_mul_si(off.get(), exponent.get(), rotary_dim, MPFR_RNDN);
      mpfr_add_si(off.get(), off.get(), 2 * p, MPFR_RNDN);
      mpfr_mul_d(off.get(), power.get(), mpfr_get_d(off.get(), MPFR_RNDN) * log_over_r, MPFR_RNDN);
      mpfr_add(near.get(), near.get(), off.get(), MPFR_RNDN);
    }
    if (mpfr_can_round(near.get(), right_bits, MPFR_RNDN, MPFR_RNDN, Real::precision) != 0) {
      mpfr_set(result.get(), near.get(), MPFR_RNDN);
    } else {
      result = pow(base, Real(-2 * p) / Real(rotary_dim));
    }
    mpfr_mul(power.get(), power.get(), factor.get(), MPFR_RNDN);
  }
  return theta;
}

}  // namespace rope::scaling
