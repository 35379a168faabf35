// The sweep over positions: each pair's cosine and sine as the kernel applies them, at every position.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_positions(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
std::vector<Part> position_parts(const Sweep& sweep, Range range);

}  // namespace rope::certify
