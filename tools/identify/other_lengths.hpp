// The frequencies at other sequence lengths, for rules that follow the length.
#pragma once

#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

// `index`: each pair's index among the spec's `count` pairs. Throws ProbeError.
std::vector<FrequencyQuestion::AtLength> ask_other_lengths(Prober& prober, const std::vector<FeaturePair>& pairs,
                                                           const std::vector<std::size_t>& index, std::size_t count,
                                                           const AngleNoise& noise);

}  // namespace rope
