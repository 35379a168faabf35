// Of which class of the catalogue a cause is: that of its hypothesis, unless the condition under which it fits says
// more.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"

namespace rope::diagnosis {

// The class that a condition speaks for: backward for backward only, and so on. nullopt: none.
std::optional<BugClass> class_of_condition(const Condition& condition);

// Whether a cause fits from a position of a million on alone, where it can only be what inexact angles look like.
bool is_of_large_positions(const Weighed& cause);

// The class of a cause under its condition.
BugClass class_of(const Weighed& cause);

}  // namespace rope::diagnosis
