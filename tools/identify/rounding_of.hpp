// Which values went through a narrower type.
#pragma once

#include <string>
#include <vector>

#include "tools/identify/frequency_rule.hpp"
#include "tools/identify/structure.hpp"

namespace rope {

// The factors that one-hot rows show (lambda cos, lambda sin): whether all of them are numbers of a type narrower than
// `dtype`. [pair][position].
std::vector<std::string> rounded_factors(const std::vector<std::vector<Block>>& blocks, DType dtype, double lambda);

// Whether each theta is its rule's theta, rounded to a type. Empty: no, or it cannot be told.
std::string rounded_theta(const std::vector<MeasuredTheta>& theta, const FrequencyRule& rule,
                          std::int64_t sequence_length);

}  // namespace rope
