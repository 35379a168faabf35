// Findings in words. Apart from the checks, so that no string is built while values are compared.
#pragma once

#include <string>

#include "tests/conformance/suite.hpp"

namespace rope {

// What went wrong, in one or two sentences.
std::string explain(const Finding& finding);

// Where the worst element stands: "q[batch 0, token 2, head 1], pair 5 (features 5 and 37), position 1026,
// phi 3.2e+02".
std::string place(const Element& element, const Case& c);

// A value and its bits: "1.25 (0x3fa00000)".
std::string value_with_bits(DType dtype, double value);

// The command line that runs the case alone, as a shell takes it.
std::string replay_command(const Case& c, const std::string& subject);

}  // namespace rope
