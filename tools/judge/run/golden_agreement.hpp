// Runs golden cases on a kernel. The GLD requirements and `ropecheck golden verify` share it.
#pragma once

#include <optional>

#include "golden/manifest.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope {

// The case that runs `golden` on a kernel with these claims, with angles from `source`. None if the case deviates from
// the definition, or if the contract cannot express it. The claims may still not cover it.
std::optional<Case> golden_case(const GoldenCase& golden, AngleSource source, const Claims& claims);

// Runs the case: every element within the bound of the exact value, and within both bounds of the source's value.
Finding golden_agreement(const Case& c, Examiner& examiner);

}  // namespace rope
