// The sweep over shapes: every size along lines where the other sizes are small, and every arrangement in memory.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_shapes(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
std::vector<Part> shape_parts(const Sweep& sweep, Range range);

}  // namespace rope::certify
