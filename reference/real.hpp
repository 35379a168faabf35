// Real: a 256-bit binary floating-point number (MPFR) with value semantics, for what must be exact: theta and lambda.
// Every operation rounds to nearest, with a relative error of at most 2^-256.
#pragma once

#include <mpfr.h>

#include <concepts>
#include <string>
#include <utility>

namespace rope {

class Real {
 public:
  static constexpr mpfr_prec_t precision = 256;  // bits

  Real() { mpfr_init2(value_, precision), mpfr_set_zero(value_, 1); }
  Real(double value) { mpfr_init2(value_, precision), mpfr_set_d(value_, value, MPFR_RNDN); }  // NOLINT: exact
  Real(std::integral auto value) : Real() { mpfr_set_sj(value_, static_cast<intmax_t>(value), MPFR_RNDN); }  // NOLINT
  Real(const Real& other) : Real() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  Real(Real&& other) noexcept : Real() { mpfr_swap(value_, other.value_); }
  Real& operator=(Real other) noexcept {
    mpfr_swap(value_, other.value_);
    return *this;
  }
  ~Real() { mpfr_clear(value_); }

  mpfr_srcptr get() const { return value_; }
  mpfr_ptr get() { return value_; }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

  friend Real operator+(Real a, const Real& b) { return mpfr_add(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend Real operator-(Real a, const Real& b) { return mpfr_sub(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend Real operator*(Real a, const Real& b) { return mpfr_mul(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend Real operator/(Real a, const Real& b) { return mpfr_div(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend Real operator-(Real a) { return mpfr_neg(a.value_, a.value_, MPFR_RNDN), a; }
  friend bool operator==(const Real& a, const Real& b) { return mpfr_equal_p(a.value_, b.value_) != 0; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator>(const Real& a, const Real& b) { return b < a; }
  friend bool operator<=(const Real& a, const Real& b) { return mpfr_lessequal_p(a.value_, b.value_) != 0; }
  friend bool operator>=(const Real& a, const Real& b) { return b <= a; }

  friend Real pow(Real a, const Real& b) { return mpfr_pow(a.value_, a.value_, b.value_, MPFR_RNDN), a; }
  friend Real log(Real a) { return mpfr_log(a.value_, a.value_, MPFR_RNDN), a; }
  friend Real exp(Real a) { return mpfr_exp(a.value_, a.value_, MPFR_RNDN), a; }
  friend Real sqrt(Real a) { return mpfr_sqrt(a.value_, a.value_, MPFR_RNDN), a; }
  friend Real floor(Real a) { return mpfr_floor(a.value_, a.value_), a; }
  friend Real ceil(Real a) { return mpfr_ceil(a.value_, a.value_), a; }

  static Real pi() {
    Real result;
    mpfr_const_pi(result.value_, MPFR_RNDN);
    return result;
  }

 private:
  mpfr_t value_;
};

}  // namespace rope
