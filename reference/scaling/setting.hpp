// The input of every scaling rule, and the unscaled frequencies that most start from.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
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

  friend bool operator==(const Setting&, const Setting&) = default;
};

enum class Presence { required, optional };

// The allowed values of a number. check() refuses the rest, with its own messages; the schema of specs says the same.
struct Range {
  double low;
  bool low_is_refused;
  double high;
};
inline constexpr double unlimited = std::numeric_limits<double>::infinity();
inline constexpr Range anything{-unlimited, true, unlimited};
constexpr Range above(double low) { return {low, true, unlimited}; }
constexpr Range at_least(double low) { return {low, false, unlimited}; }
constexpr Range from_to(double low, double high) { return {low, false, high}; }

// A rule that the suite asks for, and the base that goes with it. Bases alternate between the usual one and another.
// So a rule that looks at theta cannot have a base built in.
template <class Rule>
struct Example {
  Rule rule;
  double base;
};
inline constexpr double usual_base = 10000;
inline constexpr double other_base = 50000;

// For rules drawn at random; short enough for tables on both sides of it.
inline constexpr double drawn_length = 512;

// base^(-2p/r), RoFormer section 3.2.2. The exponent is one exact quotient.
template <class T>
std::vector<T> unscaled(const T& base, int rotary_dim) {
  using std::pow;
  std::vector<T> theta;
  for (int p = 0; p < rotary_dim / 2; ++p) theta.push_back(pow(base, T(-2 * p) / T(rotary_dim)));
  return theta;
}

// The same to the last bit, with one logarithm and one exponential for all pairs.
std::vector<Real> unscaled(const Real& base, int rotary_dim);

// NTK-aware base change: the slowest pair turns `factor` times slower, the fastest as before.
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

// Most rules leave lambda at 1.
struct UnitLambda {
  template <class T>
  T lambda(const Setting&) const {
    return T(1);
  }

  friend bool operator==(const UnitLambda&, const UnitLambda&) = default;
};

inline void require(bool holds, const char* message) {
  if (!holds) throw InputError(message);
}

inline void require(bool holds, const char* message, double found) {
  if (!holds) throw InputError(fmt::format("{} (found {})", message, found));
}

}  // namespace rope::scaling
