// The angles that all pairs are turned by, from two rows a position.
#pragma once

#include <vector>

#include "tools/identify/phase.hpp"
#include "tools/identify/structure.hpp"

namespace rope {

// Of one pair, at all positions.
struct PairSeries {
  Phases first, second;  // by its first and by its second output; the same where the block is a rotation
  std::vector<double> lambda;
  std::vector<Block> blocks;
};

// Row 0 holds 1 in every first feature of a pair, row 1 in every second: pairs do not meet, so they need no rows of
// their own. Throws ProbeError.
std::vector<PairSeries> ask_phases(Prober& prober, const std::vector<FeaturePair>& pairs,
                                   const std::vector<Prober::Position>& positions);

}  // namespace rope
