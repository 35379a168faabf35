// Which position coordinate each pair follows.
#pragma once

#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

// The axis that turns each pair while all others stay at 0; -1: it follows several, or none. 0 with one axis, or if
// axes cannot be moved separately. Throws ProbeError.
std::vector<int> axis_of_each_pair(Prober& prober, const std::vector<FeaturePair>& pairs, const AngleNoise& noise);

// Gives `spec` a layout of axes that `pairs` follow: its own, else sections as they were seen. False if there is none.
// `index`: each pair's index among the spec's pairs. `axes`: the number of axes.
bool lay_out_axes(RopeSpec& spec, int axes, const std::vector<ExecutedPair>& pairs,
                  const std::vector<std::size_t>& index);

}  // namespace rope
