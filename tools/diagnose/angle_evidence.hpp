// Errors that the angle tells, not a position or a pair: a reduction of large angles that fails, or approximations that
// do not reach through a quadrant.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// A candidate if the angle tells wrong pairs from right ones, and clearly better than their token's position does; or
// if its place in the quadrant does. nullopt: neither.
std::optional<Candidate> told_by_angle(const Observations& seen);

}  // namespace rope::diagnosis
