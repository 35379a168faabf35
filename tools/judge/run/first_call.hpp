// One plain call before anything is judged: it shows in a moment that a kernel cannot be called at all, where the suite
// would find the same in every requirement.
#pragma once

#include <optional>
#include <string>

#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case_list.hpp"
#include "tools/judge/run/subject.hpp"

namespace rope {

// The smallest case that claims and selection allow: one row, f32 if it is claimed. nullopt: they allow none.
std::optional<Case> plain_case(const Claims& claims, const Selection& selection);

// Why no call can run, and what to do. Empty if calls can run; then the answer to the plain call is not judged.
std::string why_no_call_runs(Subject& subject, Oracles& oracles, const Selection& selection);

}  // namespace rope
