// The sweep over states: every ordered pair of unlike calls, the second of which is judged.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_states(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
std::vector<Part> state_parts(const Sweep& sweep, Range range);

}  // namespace rope::certify
