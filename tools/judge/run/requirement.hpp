// A requirement: what a kernel must do, in one sentence, and the check for it. It is written once, in the file of its
// family in tests/conformance. Lists, documentation and reports come from there.
#pragma once

#include <span>
#include <string_view>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/case/demand.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope {

// What shows that a requirement does not hold. A file of answers contains only outputs.
enum class ShownBy { outputs, memory, status, time };

// Of all requirements of a run.
struct CallCounts {
  std::int64_t calls = 0;
  std::int64_t recovered_hangs = 0;  // calls with Reply::succeeded_on_retry
};

// Special handling of a requirement by the runner.
struct RunnerTraits {
  bool by_chance = false;     // a failed call may hold when repeated; only what fails again and again is kept
  bool of_state = false;      // about what earlier calls leave behind: also run in a new process, at any cost
  bool with_horizon = false;  // where it is judged, the horizon is measured (horizon.hpp)
  bool with_heatmap = false;  // where it is judged, the error of each pair and position is measured (heatmap.hpp)
  ShownBy shown_by = ShownBy::outputs;
  int calls = 1;  // of a case, roughly: requirements are shared out among processes by what they cost
};

// Of a requirement whose cases make so many calls.
constexpr RunnerTraits with_calls(int calls) { return {.calls = calls}; }

struct Requirement {
  std::string_view id;        // stable: FAMILY-NN
  std::string_view sentence;  // normative, RFC 2119
  std::string_view answers;   // bug classes of the catalogue
  std::string_view limits;    // what the check cannot see
  void (*cases)(CaseList&);   // proposes cases; uncovered ones are dropped
  Finding (*check)(const Case&, Examiner&);
  Demands demanded_by = 0;  // 0: a MUST; else a SHOULD, which decides only if one of these is demanded

  // For cases that are better run together: gets all of them before the first is checked.
  void (*prepare)(std::span<const Case>, Examiner&) = nullptr;

  RunnerTraits handling = {};

  // What the calls of the whole run show of it, with all requirements; if not null, judged last. The requirement fails
  // if this does, too.
  Finding (*in_run)(const CallCounts&) = nullptr;

  bool is_must() const { return demanded_by == 0; }
};

// What the requirement's check finds, after the calls that the case names before its own.
Finding checked(const Requirement& requirement, const Case& c, Examiner& examiner);

// Whether the verdict depends on the requirement. A kernel that claims ROPE_FEATURE_ROBUST thereby demands `robust`.
bool decides(const Requirement& requirement, Demands demanded, const Claims& claims);

}  // namespace rope
