#include "tools/diagnose/appearance.hpp"

#include "tools/diagnose/measure.hpp"

namespace rope::diagnosis {
namespace {

// The plan's difference, if it is a bug of one class.
std::optional<Candidate> executed_instead(const std::optional<PlanDifference>& plan) {
  if (!plan) return std::nullopt;
  for (const Difference& d : plan->found) {
    if (d.bug_class) return Candidate{*d.bug_class, d.words, "", fit_of_a_plan};
  }
  return std::nullopt;
}

}  // namespace

bool Appearance::overrules(const Candidate& pointed_to) const {
  // A launch that leaves rows out does not turn them by another angle.
  if (pointed_to.bug_class == BugClass::launch_limits) return candidate.bug_class == BugClass::frequency_base;
  // A plan says more about wrong angles than `precision` does.
  return pointed_to.bug_class == BugClass::precision && of_a_plan;
}

std::optional<Appearance> appearance_of(const Observations& seen, const std::optional<PlanDifference>& plan,
                                        const std::optional<Candidate>& by_angle) {
  if (by_angle) return Appearance{*by_angle};
  const std::optional<Measured> shape = measured(seen);
  const bool shape_says_more = shape && says_more_than_a_plan(shape->shape);
  const std::optional<Candidate> executed = executed_instead(plan);
  if (executed && !shape_says_more) return Appearance{*executed, true};
  return shape ? std::optional(Appearance{shape->candidate}) : std::nullopt;
}

}  // namespace rope::diagnosis
