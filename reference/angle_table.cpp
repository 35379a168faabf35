#include "reference/angle_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "reference/angle_rows.hpp"

// Method. |m| = 2^16 a + 2^8 b + c, and e^(i m theta) is the product of one row each of levels 2, 1 and 0. A row of a
// level is itself a product: of the seeds e^(i 2^k theta) of its digit's bits (doubling_angle.hpp). From |m| = 2^24 on
// MPFR makes the product of all digits but the last, so no step reduces an argument in floating point. The product
// of the upper digits is kept for its 256 positions, which leaves one complex product per entry.
//
// Bound of the double-double path (`error`), to first order in u^2. u = 2^-53, |.| is the norm of a complex number.
//   Seed       each component is off by at most u^2/4 + 2^-128 (doubling_angle.hpp), the norm by less than 0.36 u^2.
//   Product    re = xc yc - xs ys, im = xs yc + xc ys. Real products are exact to 4 u^2 and sums to 3 u^2, relative
//              (double_double.hpp). The products cost 4 u^2 (|xc yc| + |xs ys|) in re, 4 u^2 (|xs yc| + |xc ys|) in im.
//              With |x| = |y| = 1 these are 4 u^2 cos(A-B) and 4 u^2 sin(A+B) for angles A, B of the first quadrant.
//              So they cost at most sqrt(2) 4 u^2 in norm. The sums cost 3 u^2 times the components of a unit number,
//              3 u^2 in norm. Together 8.66 u^2. The errors of the factors add, because their norms are 1.
//   `m < 2^24` has at most 24 bits: 24 seeds and 23 products, 24 * 0.36 + 23 * 8.66 < 208 u^2.
//   Beyond     one seed for the upper digits and at most 8 bits below: less.
//   So a component is off by at most 208 u^2 (1 + 2^-90). The rounding test adds and subtracts `error`: for double
//   in lo (u^2, since |lo| <= u), for float in double-double (2 u^2). 210 u^2 < 256 u^2 = 2^-98.
//
// Bound of the plain double path (`plain_error`). The unit is u/2 = 2^-54: half an ulp of a double in [1/2, 1].
//   Inputs     the high parts of two rows. Each component is off by 1 unit, so each norm by sqrt(2): 2.83.
//   Product    one rounding of a product (at most 1 in size) and one of the fused sum: 1 + 1. The latter is 2 if the
//              error lifts the sum above 1.
//   Test       value +- plain_error is rounded, and may lie in [1, 2]: 2.
//   Together 7.83 units < 2^-51. plain_error is twice 2^-51, which sends a few more entries to double-double. Of the
//   2^27 entries of 2^20 positions x 64 pairs, 23 go there.
//
// Small entries (`small_error`). `error` is more than the last bit of an entry below 2^-44. Such are sines of small
// angles, and entries near a multiple of pi/2: the sines of theta = k pi, a rule of pixel positions, are all below
// 2^-230. There theta = q pi/2 + d, and the small entry is the sine of x = m d, up to its sign. For |x| < 2^-27 it is
// x - x^3/6, in units of u^2 |x|:
//   Angle      d is the nearest double-double, 1, and its product with m costs 2.
//   Series     x^3/6 < 2^-56.5 |x| is off by 2^-50 of itself, and the next term is less than 2^-114 |x|: together 0.8.
//              Subtracting it from lo costs 1.
//   Test       lo -+ error is rounded: 1.1.
//   Together less than 8 u^2 |x| = 2^-103 |x|. small_error is twice as much.
//
// u^2 = 2^-106 is so far above the smallest double that nothing here underflows, except in low-order terms of entries
// below 2^-900. The absolute bounds hold for those too.

namespace rope {
namespace {

constexpr std::uint64_t magnitude_of(std::int64_t position) {
  return position < 0 ? -static_cast<std::uint64_t>(position) : static_cast<std::uint64_t>(position);
}

// The float that every value within AngleTable::error of x rounds to, if there is one.
std::optional<float> decided(const DoubleDouble& x) {
  const float low = to_float(x - AngleTable::error);
  return low == to_float(x + AngleTable::error) ? std::optional(low) : std::nullopt;
}

// Whether all values between x - error and x + error round to one double; that double.
std::optional<double> rounded_within(const DoubleDouble& x, double error) {
  const double low = x.hi + (x.lo - error);
  return low == x.hi + (x.lo + error) ? std::optional(low) : std::nullopt;
}

constexpr double small_error = 0x1p-102;  // relative
constexpr double smallest_large = 0x1p-28;  // of the entries that are not small

// sin x, rounded to T, if that can be decided so. |x| lies between 2^-800, so that nothing underflows, and 2^-27.
template <class T>
std::optional<T> small_sine(DoubleDouble x) {
  const double size = std::fabs(x.hi);
  if (!(size > 0x1p-800 && size < 2 * smallest_large)) return std::nullopt;
  x.lo -= x.hi * x.hi * x.hi / 6;
  if constexpr (std::is_same_v<T, float>) {
    const float low = to_float(two_sum(x.hi, x.lo - size * small_error));
    return low == to_float(two_sum(x.hi, x.lo + size * small_error)) ? std::optional(low) : std::nullopt;
  } else {
    return rounded_within(x, size * small_error);
  }
}

}  // namespace

AngleTable::AngleTable(std::vector<Real> theta) : theta_(std::move(theta)) {
  embedded_.reserve(pairs());
  double_error_.reserve(pairs());
  float_error_.reserve(pairs());
  Real low;
  for (const Real& value : theta_) {
    if (mpfr_number_p(value.get()) == 0) throw std::invalid_argument("AngleTable: theta is not a finite number");
    const bool turns = mpfr_zero_p(value.get()) == 0;
    embedded_.push_back(embedded_seeds(value));
    theta_high_.push_back(value.to_double());
    mpfr_sub_d(low.get(), value.get(), theta_high_.back(), MPFR_RNDN);
    theta_low_.push_back(low.to_double());
    is_plain_ =
        is_plain_ && (!turns || (std::fabs(theta_high_.back()) > 0x1p-800 && std::fabs(theta_high_.back()) < 0x1p900));
    double_error_.push_back(turns ? error : 0);
    float_error_.push_back(turns ? plain_error : 0);
  }
}

std::size_t AngleTable::bytes() const { return rows_made_ * doubles_per_pair * pairs() * sizeof(double); }

AngleTable::Angle AngleTable::seed(std::size_t pair, int bit) {
  if (!embedded_[pair].empty()) return embedded_[pair][static_cast<std::size_t>(bit)];
  made_.resize(pairs());
  std::optional<Made>& made = made_[pair];
  if (!made) made.emplace(Made{DoublingAngle(theta_[pair]), {}});
  while (made->seeds.size() <= static_cast<std::size_t>(bit)) made->seeds.push_back(made->next.next());
  return made->seeds[static_cast<std::size_t>(bit)];
}

const double* AngleTable::level_row(int level, std::uint64_t digit) {
  std::vector<double>& row = levels_[static_cast<std::size_t>(level)][digit];
  if (!row.empty() || pairs() == 0) return row.data();
  row.resize(doubles_per_pair * pairs());
  ++rows_made_;
  const std::uint64_t top = std::bit_floor(digit);  // its leading bit
  if (top != digit) {
    product(level_row(level, top), level_row(level, digit - top), pairs(), row.data());
    return row.data();
  }
  const int bit = level * digit_bits + static_cast<int>(std::bit_width(top)) - 1;
  for (std::size_t p = 0; p < pairs(); ++p) {
    set_row(row.data(), pairs(), p, top == 0 ? Angle{{1, 0}, {0, 0}} : seed(p, bit));
  }
  return row.data();
}

const double* AngleTable::block_row(std::uint64_t block) {
  if (block_index_ == block) return block_.data();
  block_index_.reset();
  block_.resize(doubles_per_pair * pairs());
  if (block < (std::uint64_t{1} << (seed_bits - digit_bits))) {
    product(level_row(2, block >> digit_bits), level_row(1, block & digit_mask), pairs(), block_.data());
  } else {
    for (std::size_t p = 0; p < pairs(); ++p) {
      set_row(block_.data(), pairs(), p, exact_angle(theta_[p], block << digit_bits));
    }
  }
  block_index_ = block;
  return block_.data();
}

AngleTable::Angle AngleTable::at(std::size_t pair, std::int64_t position) {
  if (pair >= pairs()) throw std::invalid_argument("AngleTable::at: no such pair");
  const std::uint64_t m = magnitude_of(position);
  Angle angle;
  if ((m >> seed_bits) != 0) {
    angle = exact_angle(theta_[pair], m);
  } else {
    angle = get_row(level_row(0, m & digit_mask), pairs(), pair);
    for (int level = 1; level < levels; ++level) {
      const std::uint64_t digit = (m >> (level * digit_bits)) & digit_mask;
      if (digit != 0) angle = product(angle, get_row(level_row(level, digit), pairs(), pair));
    }
  }
  if (position < 0) angle.sin = -angle.sin;
  return angle;
}

std::span<const double> AngleTable::row(std::int64_t position) {
  const std::uint64_t m = magnitude_of(position);
  const std::uint64_t block = m >> digit_bits;
  row_.resize(doubles_per_pair * pairs());
  const double* low = level_row(0, m & digit_mask);
  if (block == 0) {
    std::copy_n(low, row_.size(), row_.data());
  } else {
    product(block_row(block), low, pairs(), row_.data());
  }
  if (position < 0) {
    for (std::size_t p = 0; p < pairs(); ++p) {
      row_[pairs() + p] = -row_[pairs() + p];
      row_[3 * pairs() + p] = -row_[3 * pairs() + p];
    }
  }
  return row_;
}

double AngleTable::phi(std::size_t pair, std::int64_t position) const {
  return (theta_.at(pair) * Real(position)).to_double();
}

void AngleTable::phi(std::int64_t position, std::span<double> result) const {
  if (result.size() != pairs()) throw std::invalid_argument("AngleTable::phi: the span must hold pairs() values");
  // No double holds every position above 2^53.
  const bool exact = magnitude_of(position) <= std::uint64_t{1} << 53;
  const auto factor = static_cast<double>(position);
  if (exact && rounded_multiple(theta_high_.data(), theta_low_.data(), pairs(), factor, result.data()) == 0 &&
      is_plain_) {
    return;
  }
  for (std::size_t p = 0; p < pairs(); ++p) {
    if (!exact || !is_plain_ || std::isnan(result[p])) result[p] = phi(p, position);
  }
}

// The cosine or sine of a position, if it is the small one of the two and can be decided without MPFR.
template <class T>
std::optional<T> AngleTable::small_entry(std::size_t pair, std::uint64_t magnitude, bool sine) {
  if (magnitude >> 53 != 0) return std::nullopt;  // no double holds every position above 2^53
  turns_.resize(pairs());
  std::optional<std::optional<QuarterTurns>>& turns = turns_[pair];
  if (!turns) turns = quarter_turns(theta_[pair]);
  if (!*turns) return std::nullopt;
  // sin is small after 0 and 2 quarters, cos after 1 and 3; (q pi/2 + x) turns x by q quarters.
  const unsigned quarters = static_cast<unsigned>(magnitude & 3) * (*turns)->quarters & 3;
  if ((quarters % 2 == 0) != sine) return std::nullopt;
  const bool negative = sine ? quarters == 2 : quarters == 1;
  const DoubleDouble x = (*turns)->rest * static_cast<double>(magnitude);
  return small_sine<T>(negative ? -x : x);
}

// Decides the entries that rounded_product left NaN.
template <class T>
void AngleTable::settle(std::uint64_t magnitude, const double* high, const double* low, T* cos, T* sin) {
  for (std::size_t p = 0; p < pairs(); ++p) {
    if (!std::isnan(cos[p]) && !std::isnan(sin[p])) continue;
    const Angle angle = product(get_row(high, pairs(), p), get_row(low, pairs(), p));
    const auto settle_entry = [&](T& entry, const DoubleDouble& value, bool sine, auto exact) {
      if (!std::isnan(entry)) return;
      std::optional<T> result;
      if constexpr (std::is_same_v<T, float>) {
        ++escalations_.to_double_double;
        result = decided(value);
      }
      if (!result && std::fabs(value.hi) < smallest_large) result = small_entry<T>(p, magnitude, sine);
      if (!result) {
        ++escalations_.to_mpfr;
        result = exact(theta_[p], magnitude);
      }
      entry = *result;
    };
    settle_entry(cos[p], angle.cos, false, exact_cos<T>);
    settle_entry(sin[p], angle.sin, true, exact_sin<T>);
  }
}

template <class T>
void AngleTable::fill_rows(std::int64_t first, std::int64_t count, std::span<T> cos, std::span<T> sin) {
  if (count < 0 || (count > 0 && first > std::numeric_limits<std::int64_t>::max() - (count - 1))) {
    throw std::invalid_argument("AngleTable::fill: positions do not fit int64");
  }
  const std::size_t size = static_cast<std::size_t>(count) * pairs();
  if (cos.size() != size || sin.size() != size) {
    throw std::invalid_argument("AngleTable::fill: spans must hold count * pairs values");
  }
  const double* errors = std::is_same_v<T, float> ? float_error_.data() : double_error_.data();
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t position = first + row;
    const std::uint64_t m = magnitude_of(position);
    T* cos_row = cos.data() + static_cast<std::size_t>(row) * pairs();
    T* sin_row = sin.data() + static_cast<std::size_t>(row) * pairs();
    if (m == 0) {  // the only exact entries of a pair that turns: no rounding test could accept a sine of 0
      std::fill_n(cos_row, pairs(), T(1));
      std::fill_n(sin_row, pairs(), T(0));
      continue;
    }
    const double* high = block_row(m >> digit_bits);
    const double* low = level_row(0, m & digit_mask);
    if (rounded_product(high, low, pairs(), errors, cos_row, sin_row) != 0) settle(m, high, low, cos_row, sin_row);
    if (position < 0) {
      for (std::size_t p = 0; p < pairs(); ++p) sin_row[p] = -sin_row[p];
    }
  }
}

void AngleTable::fill(std::int64_t first, std::int64_t count, std::span<double> cos, std::span<double> sin) {
  fill_rows(first, count, cos, sin);
}

void AngleTable::fill(std::int64_t first, std::int64_t count, std::span<float> cos, std::span<float> sin) {
  fill_rows(first, count, cos, sin);
}

}  // namespace rope
