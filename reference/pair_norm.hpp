// The norm of a pair, for bounds.
#pragma once

#include <algorithm>
#include <cmath>

namespace rope {

// Whether sqrt(a^2 + b^2) is as good as hypot: neither square leaves the range of normal numbers. False for a NaN.
inline bool squares_fit(double a, double b) {
  const double largest = std::max(std::fabs(a), std::fabs(b));
  return largest == 0 || (largest > 0x1p-400 && largest < 0x1p400);
}

// sqrt(a^2 + b^2), off by at most 2^-52. Enough for a bound, and several times as fast as hypot.
inline double norm_of(double a, double b) { return squares_fit(a, b) ? std::sqrt(a * a + b * b) : std::hypot(a, b); }

}  // namespace rope
