#include "reference/angle_rows.hpp"

#include <bit>
#include <limits>
#include <type_traits>

#include "reference/clones.hpp"

namespace rope {
namespace {

// Ziv's rounding test: both ends of the interval that holds the exact value round alike. The test gathers differences
// as bits, because compilers vectorise an or of integers but not a disjunction of comparisons.
template <class T>
struct Trial {
  T value;
  std::uint64_t difference;
};

template <class T>
ROPE_INLINE Trial<T> trial(T low, T high) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return {low == high ? low : std::numeric_limits<T>::quiet_NaN(),
          std::uint64_t{std::bit_cast<Bits>(low) ^ std::bit_cast<Bits>(high)}};
}

ROPE_INLINE Trial<float> trial_float(double value, double error) {
  return trial(static_cast<float>(value - error), static_cast<float>(value + error));
}

ROPE_INLINE Trial<double> trial_double(const DoubleDouble& value, double error) {
  return trial(value.hi + (value.lo - error), value.hi + (value.lo + error));
}

ROPE_INLINE Angle load_angle(const double* row, std::size_t pairs, std::size_t p) {
  return {{row[p], row[2 * pairs + p]}, {row[pairs + p], row[3 * pairs + p]}};
}

ROPE_INLINE Angle multiply(const Angle& x, const Angle& y) {
  return {x.cos * y.cos - x.sin * y.sin, x.sin * y.cos + x.cos * y.sin};
}

}  // namespace

void set_row(double* row, std::size_t pairs, std::size_t pair, const Angle& angle) {
  row[pair] = angle.cos.hi;
  row[pairs + pair] = angle.sin.hi;
  row[2 * pairs + pair] = angle.cos.lo;
  row[3 * pairs + pair] = angle.sin.lo;
}

Angle get_row(const double* row, std::size_t pairs, std::size_t pair) { return load_angle(row, pairs, pair); }

ROPE_CLONES
Angle product(const Angle& x, const Angle& y) { return multiply(x, y); }

ROPE_CLONES
void product(const double* __restrict x, const double* __restrict y, std::size_t pairs, double* __restrict result) {
  for (std::size_t p = 0; p < pairs; ++p) {
    const Angle angle = multiply(load_angle(x, pairs, p), load_angle(y, pairs, p));
    result[p] = angle.cos.hi;
    result[pairs + p] = angle.sin.hi;
    result[2 * pairs + p] = angle.cos.lo;
    result[3 * pairs + p] = angle.sin.lo;
  }
}

ROPE_CLONES
std::uint64_t rounded_product(const double* __restrict x, const double* __restrict y, std::size_t pairs,
                              const double* __restrict error, float* __restrict cos, float* __restrict sin) {
  std::uint64_t undecided = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const double xc = x[p], xs = x[pairs + p], yc = y[p], ys = y[pairs + p];
    const Trial<float> c = trial_float(__builtin_fma(xc, yc, -(xs * ys)), error[p]);
    const Trial<float> s = trial_float(__builtin_fma(xs, yc, xc * ys), error[p]);
    cos[p] = c.value;
    sin[p] = s.value;
    undecided |= c.difference | s.difference;
  }
  return undecided;
}

ROPE_CLONES
std::uint64_t rounded_multiple(const double* __restrict high, const double* __restrict low, std::size_t pairs,
                               double factor, double* __restrict result) {
  std::uint64_t undecided = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const DoubleDouble product = two_prod(high[p], factor);
    const double rest = __builtin_fma(low[p], factor, product.lo);
    const double error = __builtin_fabs(product.hi) * 0x1p-100;
    const Trial<double> t = trial(product.hi + (rest - error), product.hi + (rest + error));
    result[p] = t.value;
    undecided |= t.difference;
  }
  return undecided;
}

ROPE_CLONES
std::uint64_t rounded_product(const double* __restrict x, const double* __restrict y, std::size_t pairs,
                              const double* __restrict error, double* __restrict cos, double* __restrict sin) {
  std::uint64_t undecided = 0;
  for (std::size_t p = 0; p < pairs; ++p) {
    const Angle angle = multiply(load_angle(x, pairs, p), load_angle(y, pairs, p));
    const Trial<double> c = trial_double(angle.cos, error[p]);
    const Trial<double> s = trial_double(angle.sin, error[p]);
    cos[p] = c.value;
    sin[p] = s.value;
    undecided |= c.difference | s.difference;
  }
  return undecided;
}

}  // namespace rope
