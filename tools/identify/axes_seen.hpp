// Which position coordinate each pair follows.
#pragma once

#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

// The axis that turns each pair while all others stand at 0; -1: it follows several, or none. With one axis, or where
// axes cannot be asked for each by itself: 0. Throws ProbeError.
std::vector<int> axis_of_each_pair(Prober& prober, const std::vector<FeaturePair>& pairs, const AngleNoise& noise);

// Gives `spec` a layout of axes that `pairs` follow: the one that it has, else sections as they were seen. False where
// there is none. `index`: of each pair, among the spec's; `axes`: how many there are.
bool lay_out_axes(RopeSpec& spec, int axes, const std::vector<ExecutedPair>& pairs,
                  const std::vector<std::size_t>& index);

}  // namespace rope
