#include "tools/diagnose/plan_difference.hpp"

#include <cmath>
#include <set>

#include "reference/rotation_plan.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::size_t most_ways = 4;  // each takes a third of a second at most

// The minimal case with enough pairs to determine a base, if the claims have it; else the case that failed first.
Case wide(const Failure& failure, const Claims& claims) {
  const Case first_seen = case_from_text(failure.first_seen);
  Case c = failure.minimal;
  const bool lists = !lists_of(c.spec.scaling).empty() || c.spec.axes.count() > 1;
  if (lists || c.spec.head_dim >= 64) return first_seen;
  c.spec.rotary_dim = c.spec.rotary_dim < c.spec.head_dim ? 32 : 64;
  c.spec.head_dim = 64;
  keep_in_head(c.spec);
  return uncovered(c, claims).empty() ? c : first_seen;
}

PairsSeen pairs_of(const ExecutedPlan& plan) {
  PairsSeen seen{plan.way.spec.head_dim, {}, {}};
  for (const RotatedPair& pair : compile(plan.way.spec, plan.sequence_length).pairs) {
    seen.asked.push_back({pair.first, pair.second, pair.theta.to_double()});
  }
  const bool is_known = plan.way.source != AngleSource::tables;
  for (const ExecutedPair& pair : plan.pairs) {
    seen.executed.push_back({pair.features.first, pair.features.second, is_known ? pair.theta : std::nan("")});
  }
  return seen;
}

}  // namespace

std::optional<PlanDifference> plan_difference(const SubjectReport& report, Subject& subject, Oracles& oracles) {
  std::set<std::string> tried;
  for (const RequirementResult& r : report.results) {
    if (r.verdict != Verdict::fail || !r.failure || r.failure->finding.kind != FailureKind::value) continue;
    if (!r.failure->minimal.golden.empty() || tried.size() == most_ways) continue;
    Case way = wide(*r.failure, subject.claims());
    way.batch = way.seq = way.heads = 1;
    way.start = 0;
    way.seed = 1;
    way.requirement = "ROT-01";
    way.input = InputKind::spread;
    if (!tried.insert(to_text(way)).second) continue;
    const ExecutedPlan plan = identify(subject, way, oracles);
    if (!plan.problem.empty()) continue;
    std::vector<Difference> found = differences(plan);
    if (!found.empty()) return PlanDifference{called(plan), std::move(found), pairs_of(plan)};
  }
  return std::nullopt;
}

}  // namespace rope::diagnosis
