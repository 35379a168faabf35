// Shrinking: makes a failing case as small as it can be.
#pragma once

#include <chrono>
#include <optional>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/requirement.hpp"

namespace rope {

// A failing case, shrunk as far as possible.
struct Failure {
  Case minimal;
  Finding finding;         // of the minimal case
  std::string first_seen;  // the case that failed first, as text
  // The minimal case's own call holds as the first call of a new process. The calls that it needs are in the case,
  // unless none were found that do.
  bool needs_earlier_calls = false;
  // A crash or a hang that could not be repeated: the minimal case held in so many new processes. Whether it needs
  // earlier calls is not known then.
  int held_again = 0;
};

// What a check found, and whether a process died of it. Much misbehaviour kills, for example a write beyond a page.
struct Outcome {
  Finding finding;
  bool died = false;
};
Outcome outcome_of(const Requirement& requirement, const Case& c, Examiner& examiner);

struct Shrinking {
  bool makes_smaller = true;
  bool renews = true;  // looks in a new process whether earlier calls are to blame
  std::optional<std::chrono::steady_clock::time_point> end = std::nullopt;
};

// `failing` failed with `outcome`. A crash or a hang is repeated in new processes. If the run is interrupted, or the
// time is over, the result is what was found so far.
Failure shrink(const Requirement& requirement, const Case& failing, const Outcome& outcome, const Selection& selection,
               const Shrinking& how, Examiner& examiner);

}  // namespace rope
