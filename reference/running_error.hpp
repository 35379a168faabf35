// RunningError: a number that carries a bound on what its computation in floating point may have cost (Higham, Accuracy
// and Stability of Numerical Algorithms, 2nd ed., section 3.3: running error analysis, first order in u). Put into a
// scaling rule in place of double, it yields the constant C of the error model for every pair of every rule: the rules
// are written once, and so is their bound.
#pragma once

#include <cmath>
#include <concepts>

namespace rope {

// `value` is computed in double and stands for the exact result; `error` bounds |computed - exact| / u of the format in
// which a kernel computes. Each operation adds what it inherits and one rounding of its own (u times the result); pow,
// exp and log count 2 roundings, because a kernel may write base^-e as 1/base^e.
struct RunningError {
  double value = 0;
  double error = 0;

  RunningError() = default;
  // A parameter: exact if a float holds it, else rounded once on its way in.
  RunningError(double v) : value(v), error(static_cast<float>(v) == v ? 0 : std::fabs(v)) {}  // NOLINT
  RunningError(std::integral auto v) : RunningError(static_cast<double>(v)) {}                // NOLINT
  RunningError(double v, double e) : value(v), error(e) {}

  friend RunningError operator+(RunningError a, RunningError b) {
    const double v = a.value + b.value;
    return {v, a.error + b.error + std::fabs(v)};
  }
  friend RunningError operator-(RunningError a, RunningError b) {
    const double v = a.value - b.value;
    return {v, a.error + b.error + std::fabs(v)};
  }
  friend RunningError operator*(RunningError a, RunningError b) {
    const double v = a.value * b.value;
    return {v, a.error * std::fabs(b.value) + b.error * std::fabs(a.value) + std::fabs(v)};
  }
  friend RunningError operator/(RunningError a, RunningError b) {
    const double v = a.value / b.value;
    return {v, (a.error + b.error * std::fabs(v)) / std::fabs(b.value) + std::fabs(v)};
  }
  friend RunningError operator-(RunningError a) { return {-a.value, a.error}; }

  friend bool operator==(RunningError a, RunningError b) { return a.value == b.value; }
  friend bool operator<(RunningError a, RunningError b) { return a.value < b.value; }
  friend bool operator>(RunningError a, RunningError b) { return b < a; }
  friend bool operator<=(RunningError a, RunningError b) { return a.value <= b.value; }
  friend bool operator>=(RunningError a, RunningError b) { return b <= a; }

  // |d a^b| = |a^b| (|b| |da/a| + |ln a| |db|)
  friend RunningError pow(RunningError a, RunningError b) {
    const double v = std::pow(a.value, b.value);
    const double inherited = std::fabs(b.value) * a.error / a.value + std::fabs(std::log(a.value)) * b.error;
    return {v, std::fabs(v) * (inherited + 2)};
  }
  friend RunningError log(RunningError a) {
    const double v = std::log(a.value);
    return {v, a.error / a.value + 2 * std::fabs(v)};
  }
  friend RunningError sqrt(RunningError a) {
    const double v = std::sqrt(a.value);
    return {v, a.error / (2 * v) + v};
  }
  // Whole numbers are exact; that a kernel may land on the neighbouring one is a matter for the boundary cases.
  friend RunningError floor(RunningError a) { return {std::floor(a.value), 0}; }
  friend RunningError ceil(RunningError a) { return {std::ceil(a.value), 0}; }
};

}  // namespace rope
