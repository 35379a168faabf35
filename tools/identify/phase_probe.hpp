// The angles of all pairs, from two rows per position.
#pragma once

#include <vector>

#include "tools/identify/phase.hpp"
#include "tools/identify/structure.hpp"

namespace rope {

// One pair, at all positions.
struct PairSeries {
  Phases first, second;  // from its first and its second output; the same if the block is a rotation
  std::vector<double> lambda;
  std::vector<Block> blocks;
};

// Row 0 holds 1 in every first feature of a pair, row 1 in every second. Pairs do not mix, so they share these rows.
// Throws ProbeError.
std::vector<PairSeries> ask_phases(Prober& prober, const std::vector<FeaturePair>& pairs,
                                   const std::vector<Prober::Position>& positions);

}  // namespace rope
