// What every scaling rule is given, and the unscaled frequencies that most start from.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reference/input_error.hpp"
#include "reference/real.hpp"

namespace rope::scaling {

struct Setting {
  int head_dim = 0;
  int rotary_dim = 0;
  double base = 0;
  std::int64_t sequence_length = 0;  // tokens
};

enum class Presence { required, optional };

// base^(-2p/r), RoFormer section 3.2.2. The exponent is one exact quotient.
template <class T>
std::vector<T> unscaled(const T& base, int rotary_dim) {
  using std::pow;
  std::vector<T> theta;
  for (int p = 0; p < rotary_dim / 2; ++p) theta.push_back(pow(base, T(-2 * p) / T(rotary_dim)));
  return theta;
}

// NTK-aware base change: with it the slowest pair turns `factor` times slower and the fastest as before.
template <class T>
T stretched_base(double base, const T& factor, int rotary_dim) {
  using std::pow;
  return T(base) * pow(factor, T(rotary_dim) / T(rotary_dim - 2));
}

template <class T>
T pi() {
  if constexpr (std::is_same_v<T, Real>) {
    return Real::pi();
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::numbers::pi_v<T>;
  } else {
    return T(std::numbers::pi);  // RunningError: a parameter that is rounded once
  }
}

// Most rules leave lambda alone.
struct UnitLambda {
  template <class T>
  T lambda(const Setting&) const {
    return T(1);
  }
};

inline void require(bool holds, const char* message) {
  if (!holds) throw InputError(message);
}

inline void require(bool holds, const char* message, double found) {
  if (!holds) throw InputError(fmt::format("{} (found {})", message, found));
}

}  // namespace rope::scaling
