// The report for a person at a terminal: one line a requirement, and for each failure what is needed to repeat it.
#pragma once

#include <string>

#include "tests/conformance/suite.hpp"

namespace rope {

struct TerminalStyle {
  bool colour = false;
};

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style);

}  // namespace rope
