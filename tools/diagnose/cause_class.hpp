// The class of a cause in the catalogue: its hypothesis's class, unless the condition under which it fits says
// more.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"

namespace rope::diagnosis {

// The class that a condition speaks for: backward for backward only, and so on. nullopt: none.
std::optional<BugClass> class_of_condition(const Condition& condition);

// Whether a cause fits only from a position of a million on. There it can only be the look of inexact angles.
bool is_of_large_positions(const ScoredHypothesis& cause);

// The class of a cause under its condition.
BugClass class_of(const ScoredHypothesis& cause);

}  // namespace rope::diagnosis
