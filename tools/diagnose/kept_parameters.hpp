// Which parameter of an earlier call is used in place of the call's own, as if the key of a cache lacked it.
#pragma once

#include <optional>
#include <string>

#include "tools/judge/run/examiner.hpp"

namespace rope::diagnosis {

// Makes the case's call in new processes, each time after a call that differs in one parameter. Names the parameters
// whose earlier value decides the result. nullopt: none does, or the case fails by itself.
std::optional<std::string> words_of_kept_parameters(const Case& c, Examiner& examiner);

// The same for a call at later positions than the one before: which positions the rows are of that a kept table got
// then. nullopt: the rows are right, or are of no other position.
std::optional<std::string> words_of_added_rows(const Case& c, Examiner& examiner);

}  // namespace rope::diagnosis
