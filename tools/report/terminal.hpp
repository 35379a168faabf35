// The report for a person at a terminal: one line a requirement, and for each failure what is needed to repeat it.
#pragma once

#include <string>

#include "tools/judge/run/suite.hpp"

namespace rope {

struct TerminalStyle {
  bool colour = false;
  bool quiet = false;  // only failures and the verdict
};

// What a person needs to know of one failing case, a line each: found, where, expected, actual, error.
std::string finding_lines(const Finding& finding, const Case& c);
std::string finding_lines(const Failure& failure);

std::string replay_line(const Case& c, const std::string& subject, Grade required = {});

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style);

}  // namespace rope
