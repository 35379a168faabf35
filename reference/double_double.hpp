// DoubleDouble: the unevaluated sum hi + lo of two doubles with hi = RN(hi + lo), about 106 bits.
//
// Bounds are relative to the exact result. u = 2^-53, operands are normalised, nothing underflows or overflows.
//   JMP  Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of double-word arithmetic,
//        ACM TOMS 44(2), 2017.
//   MR   Muller, Rideau, Formalization of double-word arithmetic, and comments on [JMP], ACM TOMS 48(1), 2022.
// They hold only if the compiler keeps every rounding: -ffp-contract=off, no -ffast-math.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// Forced inline: a copy compiled for plain x86-64 calls fma() in libm, which a vector loop must not do.
#define ROPE_INLINE [[gnu::always_inline]] inline

namespace rope {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;
};

// a + b exactly (Knuth, Moller): JMP algorithm 2.
ROPE_INLINE DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double a_part = sum - b;
  const double b_part = sum - a_part;
  return {sum, (a - a_part) + (b - b_part)};
}

// a + b exactly if a's exponent is at least b's (Dekker): JMP algorithm 1.
ROPE_INLINE DoubleDouble fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

// a * b exactly: JMP algorithm 3.
ROPE_INLINE DoubleDouble two_prod(double a, double b) {
  const double product = a * b;
  return {product, __builtin_fma(a, b, -product)};
}

ROPE_INLINE DoubleDouble operator-(const DoubleDouble& x) { return {-x.hi, -x.lo}; }

// At most 3u^2 + 13u^3, also under cancellation: JMP algorithm 6 (AccurateDWPlusDW).
ROPE_INLINE DoubleDouble operator+(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble high = two_sum(x.hi, y.hi);
  const DoubleDouble low = two_sum(x.lo, y.lo);
  const DoubleDouble partial = fast_two_sum(high.hi, high.lo + low.hi);
  return fast_two_sum(partial.hi, low.lo + partial.lo);
}

ROPE_INLINE DoubleDouble operator-(const DoubleDouble& x, const DoubleDouble& y) { return x + -y; }

// At most 2u^2: JMP algorithm 4 (DWPlusFP).
ROPE_INLINE DoubleDouble operator+(const DoubleDouble& x, double y) {
  const DoubleDouble high = two_sum(x.hi, y);
  return fast_two_sum(high.hi, x.lo + high.lo);
}

ROPE_INLINE DoubleDouble operator-(const DoubleDouble& x, double y) { return x + -y; }

// At most 2u^2: JMP algorithm 9 (DWTimesFP3).
ROPE_INLINE DoubleDouble operator*(const DoubleDouble& x, double y) {
  const DoubleDouble high = two_prod(x.hi, y);
  return fast_two_sum(high.hi, __builtin_fma(x.lo, y, high.lo));
}

ROPE_INLINE DoubleDouble operator*(double x, const DoubleDouble& y) { return y * x; }

// At most 5u^2 (JMP), tightened to 4u^2 by MR: JMP algorithm 12 (DWTimesDW3).
ROPE_INLINE DoubleDouble operator*(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble high = two_prod(x.hi, y.hi);
  const double cross = __builtin_fma(x.lo, y.hi, __builtin_fma(x.hi, y.lo, x.lo * y.lo));
  return fast_two_sum(high.hi, high.lo + cross);
}

// Exact, because hi = RN(hi + lo) decides unless the two hi are equal.
ROPE_INLINE bool operator==(const DoubleDouble& x, const DoubleDouble& y) { return x.hi == y.hi && x.lo == y.lo; }
ROPE_INLINE bool operator<(const DoubleDouble& x, const DoubleDouble& y) {
  return x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo);
}
ROPE_INLINE bool operator>(const DoubleDouble& x, const DoubleDouble& y) { return y < x; }
ROPE_INLINE bool operator<=(const DoubleDouble& x, const DoubleDouble& y) { return !(y < x); }
ROPE_INLINE bool operator>=(const DoubleDouble& x, const DoubleDouble& y) { return !(x < y); }

ROPE_INLINE DoubleDouble abs(const DoubleDouble& x) { return x.hi < 0 ? -x : x; }

// hi + lo rounded to nearest even in one step. (float)hi would round twice: if hi is a midpoint of two floats, lo
// decides. So hi is first rounded to odd (Boldo, Melquiond, IEEE TC 57(4), 2008), which preserves lo's direction.
inline float to_float(const DoubleDouble& x) {
  const bool is_even = (std::bit_cast<std::uint64_t>(x.hi) & 1) == 0;
  if (x.lo == 0 || !is_even) return static_cast<float>(x.hi);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return static_cast<float>(std::nextafter(x.hi, x.lo > 0 ? infinity : -infinity));
}

}  // namespace rope
