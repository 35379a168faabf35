#include "tools/judge/verdict/use_histogram.hpp"

#include <bit>
#include <limits>

#include "reference/clones.hpp"

namespace rope {
namespace {

constexpr int last_within = static_cast<int>(UseHistogram::bins) - 2;

// Of a use from 0 to 1. A use of 1 is in the bin below it.
inline int bin_within(double use) {
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(use) >> 52) - 1023;
  const int bin = exponent + last_within + 1;
  return bin < 0 ? 0 : bin > last_within ? last_within : bin;
}

ROPE_CLONES
void bins_of(std::size_t pairs, const double* __restrict error, const double* __restrict scale,
             const double* __restrict angle_term, double arithmetic, double tiny, std::uint8_t* __restrict bins) {
  for (std::size_t p = 0; p < pairs; ++p) {
    const double bound = scale[p] * (angle_term[p] + arithmetic) + tiny;
    const double least = std::numeric_limits<double>::min();  // a bound of 0 allows an error of 0
    bins[p] = static_cast<std::uint8_t>(bin_within(error[p] / (bound > least ? bound : least)));
  }
}

}  // namespace

std::size_t UseHistogram::bin_of(double use) {
  return use <= 1 ? static_cast<std::size_t>(bin_within(use)) : bins - 1;
}

void UseHistogram::add(const RotatedRow& row, const RowBounds& bounds, Grade required) {
  const std::size_t pairs = row.error.size();
  const auto w = static_cast<std::size_t>(required.arithmetic);
  of_row_.resize(pairs);
  bins_of(pairs, row.error.data(), row.scale.data(),
          bounds.angle_terms[static_cast<std::size_t>(required.angle)].data(), bounds.arithmetic[w], bounds.tiny[w],
          of_row_.data());
  for (const std::uint8_t bin : of_row_) ++counts_[bin];
}

}  // namespace rope
