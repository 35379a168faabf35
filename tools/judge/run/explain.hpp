// Findings in words. Separate from the checks, so that no string is built while values are compared.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/run/suite.hpp"

namespace rope {

// What went wrong, in one or two sentences.
std::string explain(const Finding& finding);
std::string explain(const Failure& failure);  // also says whether earlier calls matter

// The finding of a relation with its sentence, in the words of its check, which name what is counted and both sides:
// "scores", "the score after both positions moved", "the score before".
Finding told(Finding finding, std::string_view things, std::string_view actual, std::string_view expected);

// The same if bits are compared: of "two calls whose heads are in another order".
Finding told(Finding finding, std::string_view calls);

// The first line of a message: without the trace of an exception.
std::string headline(const std::string& message);

// Whether the finding's element is compared with other results of the kernel, or with its own from another time, and
// not with the oracle.
bool relates_results(const Finding& finding);

// A line about the finding's element: "expected", "1.25 (0x3fa00000)".
struct Detail {
  std::string label;
  std::string text;
};

// The expected and the actual value, and their distance if that tells something. Empty if no element is at
// fault.
std::vector<Detail> details(const Finding& finding);

// The place of the worst element: "q[batch 0, token 2, head 1], pair 5 (features 5 and 37), position 1026,
// phi 3.2e+02".
std::string place(const Element& element, const Case& c);

// A value and its bits: "1.25 (0x3fa00000)".
std::string value_with_bits(DType dtype, double value);

// The command line that runs only this case, quoted for a shell.
std::string replay_command(const Case& c, const std::string& subject, Grade required = {});

}  // namespace rope
