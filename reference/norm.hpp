// The norm of a pair, with the same bits on every machine: std::hypot's last bit differs between builds of libm.
#pragma once

#include <algorithm>
#include <cmath>

namespace rope {

// Off by at most 2^-52 of itself, or by half of the smallest subnormal. Several times as fast as hypot.
inline double norm_of(double a, double b) {
  const double largest = std::max(std::fabs(a), std::fabs(b));
  if (largest > 0x1p-400 && largest < 0x1p400) return std::sqrt(a * a + b * b);
  if (largest == 0 || !std::isfinite(a) || !std::isfinite(b)) return std::hypot(a, b);  // exact
  const double scale = largest < 1 ? 0x1p600 : 0x1p-600;  // no square of the larger one leaves the normal numbers
  a *= scale;
  b *= scale;
  return std::sqrt(a * a + b * b) / scale;
}

}  // namespace rope
