// A requirement: what a kernel must do, in one sentence, and the check that shows whether it does. It is written once,
// in the file of its family; lists, documentation and reports come from there.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tests/conformance/case_list.hpp"
#include "tests/conformance/demand.hpp"
#include "tests/conformance/examiner.hpp"

namespace rope {

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

  bool is_must() const { return demanded_by == 0; }
};

// Whether the verdict rests on the requirement. ROPE_FEATURE_ROBUST is the demand `robust` made by the kernel itself.
bool decides(const Requirement& requirement, Demands demanded, const Claims& claims);

std::span<const Requirement> rotation_requirements();
std::span<const Requirement> linearity_requirements();
std::span<const Requirement> rounding_requirements();
std::span<const Requirement> backward_requirements();
std::span<const Requirement> relative_requirements();
std::span<const Requirement> angle_requirements();
std::span<const Requirement> position_requirements();
std::span<const Requirement> determinism_requirements();
std::span<const Requirement> memory_requirements();
std::span<const Requirement> shape_requirements();
std::span<const Requirement> special_requirements();
std::span<const Requirement> error_requirements();
std::span<const Requirement> golden_requirements();

// All of them, in the order in which they are judged and listed.
std::vector<Requirement> all_requirements();
const Requirement& requirement_called(std::string_view id);  // throws InputError that lists the known ones

}  // namespace rope
