// The frequencies while fewer tokens exist, for rules that follow the length of the sequence.
#pragma once

#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

// `index`: of each pair, among the `count` of the spec's. Throws ProbeError.
std::vector<FrequencyQuestion::AtLength> ask_other_lengths(Prober& prober, const std::vector<FeaturePair>& pairs,
                                                           const std::vector<std::size_t>& index, std::size_t count,
                                                           const AngleNoise& noise);

}  // namespace rope
