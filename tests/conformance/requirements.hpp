// The standard as a whole: its families, and all requirements in the order in which they are judged and listed.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tools/judge/run/budget.hpp"
#include "tools/judge/run/requirement.hpp"

namespace rope {

// Each is defined in the file of its name.
std::span<const Requirement> rotation_requirements();
std::span<const Requirement> linearity_requirements();
std::span<const Requirement> rounding_requirements();
std::span<const Requirement> backward_requirements();
std::span<const Requirement> relative_requirements();
std::span<const Requirement> angle_requirements();
std::span<const Requirement> position_requirements();
std::span<const Requirement> memory_requirements();
std::span<const Requirement> offset_requirements();
std::span<const Requirement> shape_requirements();
std::span<const Requirement> determinism_requirements();
std::span<const Requirement> state_requirements();
std::span<const Requirement> special_requirements();
std::span<const Requirement> error_requirements();
std::span<const Requirement> golden_requirements();  // of tables, of frequencies, of computed angles

// What the letters before the number of an id stand for.
struct Family {
  std::string_view id;     // "ROT"
  std::string_view title;  // "Rotation"
  std::string_view about;  // one sentence
};

// In the order of REQUIREMENTS.md.
std::span<const Family> families();

// "ROT" of "ROT-01".
std::string_view family_id(std::string_view requirement);

// Null if it belongs to no family.
const Family* family_of(std::string_view requirement);

std::vector<Requirement> all_requirements();

// What a run with a budget asks first: of our wrong kernels (tests/kernels/KILL_MATRIX.md), each rejects most of those
// that the ones before it accept. The requirements that are left out reject none of these. ROT-01 rejects most, each by
// a few of its cases.
std::span<const RequirementPriority> most_telling_first();

// The id may be written in any case. Throws InputError that lists the known ones.
const Requirement& requirement_called(std::string_view id);

}  // namespace rope
