#include "reference/exact_angle.hpp"

#include <type_traits>

#include "reference/mpfr_number.hpp"

namespace rope {
namespace {

// Wide enough to hold any product of a Real and a position exactly; mpfr_sin and mpfr_cos then reduce it themselves.
class Phase : public MpfrNumber {
 public:
  Phase(const Real& theta, std::uint64_t magnitude) : MpfrNumber(Real::precision + 64) {
    static_assert(sizeof(std::uint64_t) <= sizeof(uintmax_t));
    mpfr_mul_ui(get(), theta.get(), static_cast<unsigned long>(magnitude >> 32), MPFR_RNDN);
    mpfr_mul_2ui(get(), get(), 32, MPFR_RNDN);
    MpfrNumber low(Real::precision + 64);
    mpfr_mul_ui(low.get(), theta.get(), static_cast<unsigned long>(magnitude & 0xffffffffU), MPFR_RNDN);
    mpfr_add(get(), get(), low.get(), MPFR_RNDN);
  }
};

DoubleDouble nearest_double_double(mpfr_ptr value) {
  const double hi = mpfr_get_d(value, MPFR_RNDN);
  mpfr_sub_d(value, value, hi, MPFR_RNDN);  // exact: it only removes leading bits
  return {hi, mpfr_get_d(value, MPFR_RNDN)};
}

template <class T>
T rounded(mpfr_srcptr value) {
  if constexpr (std::is_same_v<T, float>) {
    return mpfr_get_flt(value, MPFR_RNDN);
  } else {
    return mpfr_get_d(value, MPFR_RNDN);
  }
}

// Ziv's loop (ACM TOMS 17(3), 1991). The exact value lies between the neighbours of a correctly rounded one. If both
// neighbours round to the same T, so does it. A nonzero phase has transcendental cosine and sine (Lindemann): it ends.
template <class T>
T correctly_rounded(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), const Real& theta, std::uint64_t magnitude) {
  Phase phase(theta, magnitude);
  for (mpfr_prec_t precision = 128;; precision *= 2) {
    MpfrNumber below(precision);
    function(below.get(), phase.get(), MPFR_RNDN);
    if (mpfr_zero_p(phase.get()) != 0) return rounded<T>(below.get());
    MpfrNumber above(precision);
    mpfr_set(above.get(), below.get(), MPFR_RNDN);
    mpfr_nextbelow(below.get());
    mpfr_nextabove(above.get());
    const T low = rounded<T>(below.get());
    if (low == rounded<T>(above.get())) return low;
  }
}

}  // namespace

Angle exact_angle(const Real& theta, std::uint64_t magnitude) {
  constexpr mpfr_prec_t precision = 128;  // its own rounding, 2^-129, is far below the double-double's 2^-108
  Phase phase(theta, magnitude);
  MpfrNumber cos(precision);
  MpfrNumber sin(precision);
  mpfr_sin_cos(sin.get(), cos.get(), phase.get(), MPFR_RNDN);
  return {nearest_double_double(cos.get()), nearest_double_double(sin.get())};
}

std::optional<QuarterTurns> quarter_turns(const Real& theta) {
  constexpr mpfr_prec_t precision = 512;
  if (mpfr_zero_p(theta.get()) != 0) return QuarterTurns{};
  if (mpfr_get_exp(theta.get()) > 64) return std::nullopt;
  MpfrNumber quarter(precision), rest(precision);
  mpfr_const_pi(quarter.get(), MPFR_RNDN);
  mpfr_div_2ui(quarter.get(), quarter.get(), 1, MPFR_RNDN);
  long quarters = 0;
  mpfr_remquo(rest.get(), &quarters, theta.get(), quarter.get(), MPFR_RNDN);
  // pi/2 is off by 2^-512 of itself, so rest by about 2^-512 of theta.
  const bool is_exact_enough =
      mpfr_zero_p(rest.get()) == 0 && mpfr_get_exp(theta.get()) - precision + 110 < mpfr_get_exp(rest.get());
  if (!is_exact_enough) return std::nullopt;
  return QuarterTurns{nearest_double_double(rest.get()), static_cast<unsigned>(quarters & 3)};
}

template <class T>
T exact_cos(const Real& theta, std::uint64_t magnitude) {
  return correctly_rounded<T>(mpfr_cos, theta, magnitude);
}

template <class T>
T exact_sin(const Real& theta, std::uint64_t magnitude) {
  return correctly_rounded<T>(mpfr_sin, theta, magnitude);
}

template float exact_cos<float>(const Real&, std::uint64_t);
template float exact_sin<float>(const Real&, std::uint64_t);
template double exact_cos<double>(const Real&, std::uint64_t);
template double exact_sin<double>(const Real&, std::uint64_t);

}  // namespace rope
