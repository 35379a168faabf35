// How a kernel uses the tables that it is given. Each entry holds a number that encodes its place; one-hot rows show
// which entry meets which feature.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/identify/structure.hpp"

namespace rope {

// The origin of a factor.
struct TableEntry {
  enum class From { none, cos, sin, other };
  From from = From::none;
  int column = -1;
  std::int64_t row = -1;
  double sign = 0;    // +1 or -1
  double factor = 0;  // the entry's own factor, above 0; the calls give an attention_factor of 1
};

// The four factors of a pair's block, at one position: first = aa a + ab b, second = ba a + bb b.
struct TableUse {
  FeaturePair features;
  std::int64_t position = 0;  // as it was given
  TableEntry aa, ab, ba, bb;
};

// For each pair of `structure`, at each of the positions.
std::vector<TableUse> measure_table_use(Prober& prober, const Structure& structure,
                                        const std::vector<std::int64_t>& positions);

}  // namespace rope
