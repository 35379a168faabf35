// The sweep over roundings: every value of a 16-bit type times every number from -1 to 1 of that type in the tables.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_roundings(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
std::vector<Part> rounding_parts(const Sweep& sweep, Range range);

}  // namespace rope::certify
