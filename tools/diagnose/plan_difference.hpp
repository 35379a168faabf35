// The plan that a failing kernel executes, compared with the requested one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/identify/describe.hpp"
#include "tools/judge/run/diagnosis.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope::diagnosis {

struct PlanDifference {
  std::string asked;  // how the kernel was called
  std::vector<Difference> found;
  PairsSeen pairs;
};

// Identifies the kernel in the ways to call it in which values failed, until one shows a difference. If none does, the
// bug needs other circumstances, and the result is nullopt.
std::optional<PlanDifference> plan_difference(const SubjectReport& report, Subject& subject, Oracles& oracles);

}  // namespace rope::diagnosis
