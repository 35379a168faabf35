// What every call of a kernel has, by its claims: features that are required, layouts, numbers and orders of axes.
#pragma once

#include <string>
#include <vector>

#include "tools/judge/call/claims.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {

// Gives a start in whatever way is claimed: by an offset, by positions, or by starts of sequences.
void reach_start(Case& c, const Claims& claims);

// Each gives it to a case that does not ask for something else.
void give_claimed_axes(Case& c, const Claims& claims);
void give_required_features(Case& c, const Claims& claims);
void give_claimed_layout(Case& c, const Claims& claims);

// Which of it the case lacks, as a sentence; empty: nothing.
std::string lacks_of_every_call(const Case& c, const Claims& claims);

// What the claims say of every call: "in place", "the layout packed". Empty: nothing.
std::vector<std::string> words_of_every_call(const Claims& claims);

}  // namespace rope
