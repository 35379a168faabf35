// Computes one wrong number again, in a language that everybody has at hand.
#pragma once

#include <optional>
#include <string>

#include "tools/judge/run/suite.hpp"

namespace rope {

// A program that needs only numpy. It holds the inputs of the finding's worst element bit by bit, rotates them in
// float64, and prints the result beside what the kernel wrote. None if the finding has no such element.
std::optional<std::string> numpy_snippet(const Finding& finding, const Case& c);

// Why there is none, as the end of a sentence.
std::string why_no_snippet(const Finding& finding);

}  // namespace rope
