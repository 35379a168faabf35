// Errors that begin at an angle, not at a position or a pair: a reduction of large angles that fails.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// A candidate if the angle tells wrong pairs from right ones, and clearly better than their token's position does.
// nullopt: it does not.
std::optional<Candidate> beyond_an_angle(const Observations& seen);

}  // namespace rope::diagnosis
