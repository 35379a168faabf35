// One angle, for kernels on a CPU and on a CUDA device.
#pragma once

#include <cmath>

#include "impls/host_device.hpp"

namespace rope {

struct CosSin {
  double cos;
  double sin;
};

// cos and sin of position * (theta + theta_low). The product is a sum of two doubles, because at position 2^20 the
// rounding of phi would already cost 2^-33. With |low| <= 2^-53 phi the series below is short of low^3/6. That is less
// than f64's rounding up to phi = 2^36: hence max_position of claims.hpp.
ROPE_HOST_DEVICE inline CosSin turn(double position, double theta, double theta_low) {
  const double phi = position * theta;
  const double low = std::fma(position, theta, -phi) + position * theta_low;
#ifdef __CUDA_ARCH__  // one reduction of the argument for both
  double s;
  double c;
  sincos(phi, &s, &c);
#else
  const double c = std::cos(phi);
  const double s = std::sin(phi);
#endif
  return {c - low * (s + c * (low / 2)), s + low * (c - s * (low / 2))};
}

}  // namespace rope
