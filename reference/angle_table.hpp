// AngleTable: cos and sin of position * theta for every pair, correctly rounded, at about a nanosecond an entry.
// It holds caches: use one table in each thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "reference/double_double.hpp"
#include "reference/doubling_angle.hpp"
#include "reference/embedded_seeds.hpp"
#include "reference/exact_angle.hpp"
#include "reference/real.hpp"

namespace rope {

class AngleTable {
 public:
  using Angle = rope::Angle;

  // Absolute errors of cos and of sin: of at(), and of the plain double product that fill() tries first for float.
  // Derived in angle_table.cpp.
  static constexpr double error = 0x1p-98;
  static constexpr double plain_error = 0x1p-50;

  // Entries (one cosine or sine each) whose rounding the cheaper arithmetic left open, since construction.
  struct Escalations {
    std::uint64_t to_double_double = 0;  // float only: double starts there
    std::uint64_t to_mpfr = 0;
  };

  // theta: radians per position, one per pair, taken as exact; finite, 0 allowed. Throws std::invalid_argument.
  explicit AngleTable(std::vector<Real> theta);

  std::size_t pairs() const { return theta_.size(); }

  // cos and sin of position * theta[pair] to an absolute error of at most `error`, at any position.
  Angle at(std::size_t pair, std::int64_t position);

  // The same for all pairs at once, as a row of angle_rows.hpp. Valid until the next call.
  std::span<const double> row(std::int64_t position);

  // Rows first .. first+count-1, row-major [count][pairs()], each entry rounded once to nearest even. Any positions.
  // Throws std::invalid_argument if a span has another size or a position does not fit int64.
  void fill(std::int64_t first, std::int64_t count, std::span<double> cos, std::span<double> sin);
  void fill(std::int64_t first, std::int64_t count, std::span<float> cos, std::span<float> sin);

  // position * theta[pair] in radians, rounded to double.
  double phi(std::size_t pair, std::int64_t position) const;
  // For all pairs; `result` holds pairs() values.
  void phi(std::int64_t position, std::span<double> result) const;

  const Escalations& escalations() const { return escalations_; }

  // Memory of the rows that it keeps, at most 1.5 MB for 64 pairs.
  std::size_t bytes() const;

 private:
  static constexpr int digit_bits = 8;
  static constexpr int levels = seed_bits / digit_bits;
  static constexpr std::uint64_t digit_mask = (1 << digit_bits) - 1;

  // Row d of level l is the angle of position d * 256^l. A row is empty until it is needed: many tables are asked for a
  // few positions only.
  using Level = std::array<std::vector<double>, std::size_t{1} << digit_bits>;

  // Of a pair whose seeds are not embedded, as far as they are needed.
  struct Made {
    DoublingAngle next;
    std::vector<Angle> seeds;
  };

  const double* level_row(int level, std::uint64_t digit);
  const double* block_row(std::uint64_t block);
  Angle seed(std::size_t pair, int bit);
  template <class T>
  void fill_rows(std::int64_t first, std::int64_t count, std::span<T> cos, std::span<T> sin);
  template <class T>
  std::optional<T> small_entry(std::size_t pair, std::uint64_t magnitude, bool sine);
  template <class T>
  void settle(std::uint64_t magnitude, const double* high, const double* low, T* cos, T* sin);

  std::vector<Real> theta_;
  std::vector<std::span<const Angle>> embedded_;  // seeds of each pair, or empty
  std::vector<std::optional<Made>> made_;
  std::vector<double> theta_high_, theta_low_;
  std::vector<std::optional<std::optional<QuarterTurns>>> turns_;  // made where they are first asked for
  bool is_plain_ = true;  // no theta is so small that its low part may have underflowed
  std::vector<double> row_;
  std::vector<double> double_error_;  // error and plain_error of each pair; 0 for theta 0, which is exact
  std::vector<double> float_error_;
  std::array<Level, levels> levels_;
  std::size_t rows_made_ = 0;  // in all levels
  std::vector<double> block_;  // the row of position 256 * *block_index_
  std::optional<std::uint64_t> block_index_;
  Escalations escalations_;
};

}  // namespace rope
