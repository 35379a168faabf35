// How the wrong values look, if no hypothesis explains them.
#pragma once

#include <optional>

#include "tools/diagnose/plan_difference.hpp"
#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// A plan is measured, but only in the circumstances of one failure. So it is not certain for the other failures.
inline constexpr double fit_of_a_plan = 0.6;

struct Appearance {
  Candidate candidate;
  bool of_a_plan = false;

  // Whether it says more than the cause that the failing requirements point to.
  bool overrules(const Candidate& pointed_to) const;
};

// From the most telling observation: an angle from which on all is wrong, the executed plan, the shape of the errors.
std::optional<Appearance> appearance_of(const Observations& seen, const std::optional<PlanDifference>& plan,
                                        const std::optional<Candidate>& by_angle);

}  // namespace rope::diagnosis
