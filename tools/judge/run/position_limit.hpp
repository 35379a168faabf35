// The largest position up to which a failing kernel is right, if there is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tools/judge/run/requirement.hpp"

namespace rope {

// Moves one of the failing cases. Calls that end at the result hold, and calls that end one position later fail,
// whatever their numbers. nullopt: there is no such position, or no case can be moved.
std::optional<std::int64_t> position_limit(std::span<const Case> failing, std::span<const Requirement> requirements,
                                           Examiner& examiner);

}  // namespace rope
