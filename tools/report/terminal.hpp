// The report for a person at a terminal: the verdict and its cause, then a block for each smallest case that fails.
#pragma once

#include <string>

#include "tools/judge/run/suite.hpp"
#include "tools/report/failure_blocks.hpp"

namespace rope {

enum class TerminalDetail {
  quiet,   // at most 15 lines
  normal,
  verbose  // every requirement, and each failure by itself
};

struct TerminalStyle {
  bool colour = false;
  TerminalDetail detail = TerminalDetail::normal;
};

// What a person needs to know of one failing case, a line each: found, where.
std::string finding_lines(const Finding& finding, const Case& c);
std::string finding_lines(const Failure& failure);

// The same of a block, with what else it shows: found, where, failed, replay, also.
std::string block_lines(const FailureBlock& block, const SubjectReport& report);

std::string replay_line(const Case& c, const std::string& subject, Grade required = {});

std::string terminal_report(const SubjectReport& report, const TerminalStyle& style);

}  // namespace rope
