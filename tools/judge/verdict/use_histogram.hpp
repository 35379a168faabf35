// How errors are spread, in units of the deciding bound: for each pair of features the larger of its two errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/judge/verdict/row_bounds.hpp"

namespace rope {

class UseHistogram {
 public:
  // Below 2^-10, then from one power of two to the next, up to 1; the last bin is for what is beyond the bound.
  static constexpr std::size_t bins = 12;
  using Counts = std::array<std::int64_t, bins>;

  UseHistogram() = default;
  explicit UseHistogram(const Counts& counts) : counts_(counts) {}

  const Counts& counts() const { return counts_; }
  void add(double use) { ++counts_[bin_of(use)]; }
  // A row that is_within() accepted; it has left the errors there.
  void add(const RotatedRow& row, const RowBounds& bounds, Grade required);
  void add(const UseHistogram& other) {
    for (std::size_t i = 0; i < bins; ++i) counts_[i] += other.counts_[i];
  }

 private:
  static std::size_t bin_of(double use);

  Counts counts_{};
  std::vector<std::uint8_t> of_row_;  // the bin of each pair
};

}  // namespace rope
