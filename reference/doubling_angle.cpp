#include "reference/doubling_angle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Method. theta = 2^h x with |x| < 2^-8 and h as small as possible, at most 9. Taylor's series give sin x and cos x; h
// doublings give e^(i theta). If |theta| is 2 or more, MPFR gives e^(i theta). Each later angle is the square of the
// angle before it.
//
// Bound. The unit here is v = 2^-190. Products are cut, so each is off by less than 1 v. A cut operand counts with its
// error. |.| is the norm of a complex number.
//   x          cut: 1.
//   Series     x^2 < 2^-16 is off by 1.1. By Horner's rule in x^2, each step adds 1 for its coefficient and 1 for its
//              product; earlier errors shrink by 2^-16. So a sum is off by less than 2.1, and
//              sin x = x S: 1 (x) + 1 (product) + 2^-8 * 2.1 < 2.1; cos x = 1 - x^2 C: 1 + 1.1 + 2^-16 * 2.1 < 2.2.
//              The first terms left out, x^17/17! < 2^-184 and x^18/18! < 2^-196, are below 2^6 v = 64 and 1.
//   Doubling   cos 2x = 1 - 2 sin^2 x and sin 2x = 2 sin x cos x. If sine and cosine are off by at most e, the results
//              are off by at most max(4 |sin x|, 2 (|sin x| + |cos x|)) e + 2 e^2 + 2 < 3.4 e + 3, because |x| < 1.
//              At most nine times: 3.4^9 (67 + 1.25) < 2^15.9 * 2^6.1 = 2^22.
//   Squares    cos 2x = cos^2 x - sin^2 x, sin 2x = 2 sin x cos x: the norm of the error doubles, and the products add
//              1 and 2, in norm less than 3. After 31 squares: 2^31 (sqrt(2) 2^22 + 3) < 2^53.6.
// So a component is off by less than 2^-136 before it is rounded. MPFR's start is off by 2^-190, which is less.
//
// tests/unit/reference/doubling_angle_test.cpp compares with MPFR, and shows that errors of a few 2^-106 are noticed.

namespace rope {
namespace {

using Fixed = DoublingAngle::Fixed;
using Size = std::array<mp_limb_t, 3>;

static_assert(GMP_NUMB_BITS == 64, "the shifts below are for limbs of 64 bits");
constexpr int fraction_bits = 190;
constexpr int most_halvings = 9;
constexpr Size one{0, 0, mp_limb_t{1} << 62};

Size cut(const std::array<mp_limb_t, 6>& product) {
  const auto limb = [&](std::size_t i) { return product[i] >> 62 | product[i + 1] << 2; };
  return {limb(2), limb(3), limb(4)};
}

Size times(const Size& a, const Size& b) {
  std::array<mp_limb_t, 6> product;
  mpn_mul_n(product.data(), a.data(), b.data(), 3);
  return cut(product);
}

Size squared(const Size& a) {
  std::array<mp_limb_t, 6> product;
  mpn_sqr(product.data(), a.data(), 3);
  return cut(product);
}

Size doubled(const Size& a) { return {a[0] << 1, a[1] << 1 | a[0] >> 63, a[2] << 1 | a[1] >> 63}; }

// |a - b|, and whether b is the larger one.
Fixed difference(const Size& a, const Size& b) {
  Fixed result;
  result.negative = mpn_cmp(a.data(), b.data(), 3) < 0;
  const Size& larger = result.negative ? b : a;
  mpn_sub_n(result.size.data(), larger.data(), (result.negative ? a : b).data(), 3);
  return result;
}

// 1/0!, 1/1!, .. 1/16!, cut.
constexpr int last_factorial = 16;

std::array<Size, last_factorial + 1> inverse_factorials() {
  std::array<Size, last_factorial + 1> result{one};
  for (std::size_t n = 1; n <= last_factorial; ++n) {
    mpn_divrem_1(result[n].data(), 0, result[n - 1].data(), 3, n);
  }
  return result;
}

// 1/first! - y/(first+2)! + y^2/(first+4)! - .. to 1/last!; all partial sums are positive, because y < 2^-16.
Size series(const Size& y, std::size_t first, std::size_t last) {
  static const std::array<Size, last_factorial + 1> inverse = inverse_factorials();
  Size sum = inverse[last];
  for (std::size_t n = last; n > first; n -= 2) {
    const Size product = times(sum, y);
    mpn_sub_n(sum.data(), inverse[n - 2].data(), product.data(), 3);
  }
  return sum;
}

// |theta| 2^-halvings, which is below 2^-8: at least 74 of its 256 bits are cut.
Size halved(const Real& theta, int halvings) {
  constexpr int limbs = Real::precision / GMP_NUMB_BITS;
  const auto* significand = static_cast<const mp_limb_t*>(mpfr_custom_get_significand(theta.get()));
  const auto cut_bits = Real::precision - fraction_bits + halvings - mpfr_get_exp(theta.get());
  Size result{};
  if (cut_bits >= Real::precision) return result;
  const auto skipped = static_cast<int>(cut_bits / GMP_NUMB_BITS), shift = static_cast<int>(cut_bits % GMP_NUMB_BITS);
  for (int i = skipped; i < limbs; ++i) {
    mp_limb_t limb = significand[i] >> shift;
    if (shift > 0 && i + 1 < limbs) limb |= significand[i + 1] << (GMP_NUMB_BITS - shift);
    result[static_cast<std::size_t>(i - skipped)] = limb;
  }
  return result;
}

Fixed fixed(mpfr_ptr value) {
  Fixed result;
  result.negative = mpfr_sgn(value) < 0;
  mpfr_mul_2ui(value, value, fraction_bits, MPFR_RNDN);
  mpz_t integer;
  mpz_init(integer);
  mpfr_get_z(integer, value, MPFR_RNDZ);
  for (std::size_t i = 0; i < mpz_size(integer); ++i) result.size[i] = mpz_getlimbn(integer, static_cast<mp_size_t>(i));
  mpz_clear(integer);
  return result;
}

int bits_of(const Size& a) {
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != 0) return static_cast<int>(64 * i + static_cast<std::size_t>(std::bit_width(a[i])));
  }
  return 0;
}

// The double nearest to the integer `a`. Its leading 64 bits decide, with their last bit set if any lower bit is.
double nearest_double(const Size& a, int bits) {
  if (bits <= 64) return static_cast<double>(a[0]);
  const int from = bits - 64;
  const auto limb = static_cast<std::size_t>(from / 64);
  const int shift = from % 64;
  std::uint64_t leading = a[limb] >> shift;
  std::uint64_t lower = shift == 0 ? 0 : a[limb] << (64 - shift);
  if (shift > 0) leading |= a[limb + 1] << (64 - shift);
  for (std::size_t i = 0; i < limb; ++i) lower |= a[i];
  return std::ldexp(static_cast<double>(leading | (lower != 0 ? 1 : 0)), from);
}

// A double that is a whole number below 2^192, as an integer.
Size integer_of(double value) {
  int exponent = 0;
  const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  const int from = exponent - 53;
  Size result{};
  if (from <= 0) {
    result[0] = from > -64 ? digits >> -from : 0;
    return result;
  }
  const auto limb = static_cast<std::size_t>(from / 64);
  const int shift = from % 64;
  result[limb] = digits << shift;
  if (shift > 11 && limb + 1 < result.size()) result[limb + 1] = digits >> (64 - shift);
  return result;
}

DoubleDouble nearest_double_double(const Fixed& x) {
  constexpr double unit = 0x1p-190;
  const double high = nearest_double(x.size, bits_of(x.size));
  const Fixed rest = difference(x.size, integer_of(high));
  const double low = nearest_double(rest.size, bits_of(rest.size));
  const double sign = x.negative ? -unit : unit;
  return {sign * high, sign * (rest.negative ? -low : low)};
}

}  // namespace

DoublingAngle::DoublingAngle(const Real& theta) {
  if (mpfr_zero_p(theta.get()) != 0) {
    cos_.size = one;
    return;
  }
  if (mpfr_get_exp(theta.get()) > 1) {
    mpfr_t cos, sin;
    mpfr_inits2(fraction_bits + 8, cos, sin, static_cast<mpfr_ptr>(nullptr));
    mpfr_sin_cos(sin, cos, theta.get(), MPFR_RNDN);
    cos_ = fixed(cos);
    sin_ = fixed(sin);
    mpfr_clears(cos, sin, static_cast<mpfr_ptr>(nullptr));
    return;
  }
  const mpfr_exp_t exponent = std::max<mpfr_exp_t>(mpfr_get_exp(theta.get()), 1 - most_halvings);
  const int halvings = static_cast<int>(exponent) + most_halvings - 1;
  const Size x = halved(theta, halvings);
  const Size square = squared(x);
  sin_.size = times(x, series(square, 1, 15));
  Size less = times(square, series(square, 2, 16));
  mpn_sub_n(cos_.size.data(), one.data(), less.data(), 3);
  for (int i = 0; i < halvings; ++i) {
    less = doubled(squared(sin_.size));
    sin_.size = doubled(times(sin_.size, cos_.size));
    cos_ = difference(one, less);
  }
  sin_.negative = mpfr_sgn(theta.get()) < 0;
}

Angle DoublingAngle::next() {
  if (begun_) {
    const Fixed cos = difference(squared(cos_.size), squared(sin_.size));
    sin_.size = doubled(times(sin_.size, cos_.size));
    sin_.negative = sin_.negative != cos_.negative;
    cos_ = cos;
  }
  begun_ = true;
  return {nearest_double_double(cos_), nearest_double_double(sin_)};
}

}  // namespace rope
