// The sweep over positions: each pair's cosine and sine as the kernel applies them, at every position.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_positions(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
// Calls of many tokens each; the sweep's elements are tokens, one a position.
std::vector<Part> position_parts(const Sweep& sweep, Range range);

// How a call can begin at any position: by an offset, else by positions as a tensor. Sets that form. False: it cannot.
bool can_begin_anywhere(Case& c, const Claims& claims);

}  // namespace rope::certify
