// Theta of each pair, kept for whoever computes many calls with few different frequencies.
#pragma once

#include <vector>

#include "reference/scaling/rules.hpp"

namespace rope {

// As frequencies<long double>(), in radians a position. Valid until the thread's next call.
const std::vector<long double>& kept_frequencies(const Scaling& rule, const scaling::Setting& setting);

}  // namespace rope
