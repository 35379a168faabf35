// Golden cases put to a kernel: what the requirements GLD and `ropecheck golden verify` have in common.
#pragma once

#include <optional>

#include "golden/manifest.hpp"
#include "tools/judge/case/case.hpp"
#include "tools/judge/run/examiner.hpp"

namespace rope {

// The case that puts `golden` to a kernel with these claims, with angles from `source`. None where the case deviates
// from the definition, or where the contract cannot say what it holds. The claims may still not cover it.
std::optional<Case> golden_case(const GoldenCase& golden, AngleSource source, const Claims& claims);

// Runs it: every element within the bound of the exact value, and within the two bounds of the source's.
Finding golden_agreement(const Case& c, Examiner& examiner);

}  // namespace rope
