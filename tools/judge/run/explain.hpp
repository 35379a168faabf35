// Findings in words. Apart from the checks, so that no string is built while values are compared.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/run/suite.hpp"

namespace rope {

// What went wrong, in one or two sentences.
std::string explain(const Finding& finding);
std::string explain(const Failure& failure);  // with whether earlier calls have a part in it

// The first line of a message: without the trace of an exception.
std::string headline(const std::string& message);

// Whether the finding's element is held against other results of the kernel, or against its own of another time, and
// not against the oracle.
bool relates_results(const Finding& finding);

// A line about the finding's element: "expected", "1.25 (0x3fa00000)".
struct Detail {
  std::string label;
  std::string text;
};

// What was to come out, what did, and how far they are apart where that says something. Empty where no element is at
// fault.
std::vector<Detail> details(const Finding& finding);

// Where the worst element stands: "q[batch 0, token 2, head 1], pair 5 (features 5 and 37), position 1026,
// phi 3.2e+02".
std::string place(const Element& element, const Case& c);

// A value and its bits: "1.25 (0x3fa00000)".
std::string value_with_bits(DType dtype, double value);

// The command line that runs the case alone, as a shell takes it.
std::string replay_command(const Case& c, const std::string& subject, Grade required = {});

}  // namespace rope
