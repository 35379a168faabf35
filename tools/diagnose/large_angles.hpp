// Errors that begin at an angle, not at a position or a pair: a reduction of large angles that does not hold.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// Where the pairs that come out wrong are told from the others by how far they turn, and clearly worse by the position
// of their token. nullopt: they are not.
std::optional<Candidate> beyond_an_angle(const Observations& seen);

}  // namespace rope::diagnosis
