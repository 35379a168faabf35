// A requirement: what a kernel must do, in one sentence, and the check that shows whether it does. It is written once,
// in the file of its family in tests/conformance; lists, documentation and reports come from there.
#pragma once

#include <span>
#include <string_view>

#include "tools/judge/case/case_list.hpp"
#include "tools/judge/case/demand.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope {

// Where it shows that a requirement does not hold. What is not in the outputs, no file of answers can hold.
enum class ShownBy { outputs, memory, status };

// What the runner does otherwise for a requirement.
struct Handling {
  bool by_chance = false;  // a call that failed may hold when it is made again: only what fails again and again is kept
  bool of_state = false;   // about what earlier calls leave behind: looked at in a new process too, whatever that costs
  bool with_horizon = false;  // where it is judged, the horizon is measured (horizon.hpp)
  ShownBy shown_by = ShownBy::outputs;
};

struct Requirement {
  std::string_view id;        // stable: FAMILY-NN
  std::string_view sentence;  // normative, RFC 2119
  std::string_view answers;   // bug classes of the catalogue
  std::string_view limits;    // what the check cannot see
  void (*cases)(CaseList&);   // proposes cases; those that the claims do not cover are dropped
  Finding (*check)(const Case&, Examiner&);
  Demands demanded_by = 0;  // 0: a MUST; else a SHOULD, which decides only where one of these is demanded

  // Where cases are better looked at together: told of all of them before the first is checked.
  void (*prepare)(std::span<const Case>, Examiner&) = nullptr;

  Handling handling = {};

  bool is_must() const { return demanded_by == 0; }
};

// Whether the verdict rests on the requirement. ROPE_FEATURE_ROBUST is the demand `robust` made by the kernel itself.
bool decides(const Requirement& requirement, Demands demanded, const Claims& claims);

}  // namespace rope
