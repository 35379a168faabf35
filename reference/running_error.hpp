// RunningError: a number that carries a bound on its own floating-point error, to first order in u. A scaling rule that
// is computed with it yields the constant C of the error model for every pair. So each rule is written once, and its
// bound follows from the same text. Source: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section
// 3.3.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <vector>

namespace rope {

// How the unscaled theta is computed.
enum class ThetaBy {
  power,       // base^(-2p/r), each by itself
  recurrence,  // p multiplications with base^(-2/r)
  exponential  // exp(-2p/r * log(base)), each by itself
};

// `value` is computed in double and stands for the exact result. `error` bounds |computed - exact| / u, where u is the
// kernel's unit roundoff. An operation inherits the errors of its operands and adds one rounding: u times its result.
// Two roundings for pow, exp and log, because a kernel may write base^-e as 1/base^e.
template <ThetaBy way>
struct RunningErrorBy {
  double value = 0;
  double error = 0;

  RunningErrorBy() = default;
  // A parameter: exact if a float holds it, else rounded once on its way in.
  RunningErrorBy(double v) : value(v), error(static_cast<float>(v) == v ? 0 : std::fabs(v)) {}  // NOLINT
  RunningErrorBy(std::integral auto v) : RunningErrorBy(static_cast<double>(v)) {}              // NOLINT
  RunningErrorBy(double v, double e) : value(v), error(e) {}

  friend RunningErrorBy operator+(RunningErrorBy a, RunningErrorBy b) {
    const double v = a.value + b.value;
    return {v, a.error + b.error + std::fabs(v)};
  }
  friend RunningErrorBy operator-(RunningErrorBy a, RunningErrorBy b) {
    const double v = a.value - b.value;
    return {v, a.error + b.error + std::fabs(v)};
  }
  friend RunningErrorBy operator*(RunningErrorBy a, RunningErrorBy b) {
    const double v = a.value * b.value;
    return {v, a.error * std::fabs(b.value) + b.error * std::fabs(a.value) + std::fabs(v)};
  }
  friend RunningErrorBy operator/(RunningErrorBy a, RunningErrorBy b) {
    const double v = a.value / b.value;
    return {v, (a.error + b.error * std::fabs(v)) / std::fabs(b.value) + std::fabs(v)};
  }
  friend RunningErrorBy operator-(RunningErrorBy a) { return {-a.value, a.error}; }

  friend bool operator==(RunningErrorBy a, RunningErrorBy b) { return a.value == b.value; }
  friend bool operator<(RunningErrorBy a, RunningErrorBy b) { return a.value < b.value; }
  friend bool operator>(RunningErrorBy a, RunningErrorBy b) { return b < a; }
  friend bool operator<=(RunningErrorBy a, RunningErrorBy b) { return a.value <= b.value; }
  friend bool operator>=(RunningErrorBy a, RunningErrorBy b) { return b <= a; }

  // |d a^b| = |a^b| (|b| |da/a| + |ln a| |db|)
  friend RunningErrorBy pow(RunningErrorBy a, RunningErrorBy b) {
    const double v = std::pow(a.value, b.value);
    const double inherited = std::fabs(b.value) * a.error / a.value + std::fabs(std::log(a.value)) * b.error;
    return {v, std::fabs(v) * (inherited + 2)};
  }
  friend RunningErrorBy exp(RunningErrorBy a) {
    const double v = std::exp(a.value);
    return {v, v * (a.error + 2)};
  }
  friend RunningErrorBy log(RunningErrorBy a) {
    const double v = std::log(a.value);
    return {v, a.error / a.value + 2 * std::fabs(v)};
  }
  friend RunningErrorBy sqrt(RunningErrorBy a) {
    const double v = std::sqrt(a.value);
    return {v, a.error / (2 * v) + v};
  }
  // Whole numbers are exact. A kernel may land on the neighbouring one; the boundary cases deal with that.
  friend RunningErrorBy floor(RunningErrorBy a) { return {std::floor(a.value), 0}; }
  friend RunningErrorBy ceil(RunningErrorBy a) { return {std::ceil(a.value), 0}; }
};

using RunningError = RunningErrorBy<ThetaBy::power>;

// What the rules of reference/scaling start from, in the two other ways. Overload resolution prefers these.
inline std::vector<RunningErrorBy<ThetaBy::recurrence>> unscaled(const RunningErrorBy<ThetaBy::recurrence>& base,
                                                                 int rotary_dim) {
  using Number = RunningErrorBy<ThetaBy::recurrence>;
  const Number step = pow(base, Number(-2) / Number(rotary_dim));
  std::vector<Number> theta(static_cast<std::size_t>(rotary_dim / 2), Number(1));
  for (std::size_t p = 1; p < theta.size(); ++p) theta[p] = theta[p - 1] * step;
  return theta;
}

inline std::vector<RunningErrorBy<ThetaBy::exponential>> unscaled(const RunningErrorBy<ThetaBy::exponential>& base,
                                                                  int rotary_dim) {
  using Number = RunningErrorBy<ThetaBy::exponential>;
  std::vector<Number> theta;
  for (int p = 0; p < rotary_dim / 2; ++p) theta.push_back(exp(Number(-2 * p) / Number(rotary_dim) * log(base)));
  return theta;
}

}  // namespace rope
