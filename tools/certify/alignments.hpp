// Every address of inputs and outputs modulo 64 bytes, so every way in which vectors of up to 64 bytes can lie to them.
#pragma once

#include "tools/certify/sweep.hpp"

namespace rope::certify {

void propose_alignments(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);
std::vector<Part> alignment_parts(const Sweep& sweep, Range range);

}  // namespace rope::certify
