// The sweep over values: every number, NaN and infinity of the 16-bit types, in either feature of a pair.
#pragma once

#include "tools/certify/sweep.hpp"
#include "tools/judge/verdict/expectation.hpp"

namespace rope::certify {

void propose_values(const Request& request, const Selection& selection, std::vector<Sweep>& sweeps);

// The output with the exact results in the place of zeros, where a pair has no normal number or the result is none: a
// kernel may take subnormal numbers for zeros (SPC-05).
Tensor without_flushed(const Tensor& input, Tensor output, Expectation& expected);

}  // namespace rope::certify
