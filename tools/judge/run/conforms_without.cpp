#include "tools/judge/run/conforms_without.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/narrower_claims.hpp"
#include "tools/judge/run/position_limit.hpp"

namespace rope {
namespace {

// Of each requirement; more would only take time.
constexpr std::size_t most_failing = 1000, most_passing = 100;

// That what failed holds by chance. Some 60 claims are looked at, so one false answer in 10,000 kernels is left.
constexpr double largest_chance = 1e-6;

// Fewer claims make other cases, which may show what more to drop.
constexpr int most_rounds = 4;

// A subject that claims less.
class Narrowed final : public Subject {
 public:
  Narrowed(Subject& subject, Claims claims) : subject_(subject), claims_(std::move(claims)) {}

  const std::string& name() const override { return subject_.name(); }
  const Claims& claims() const override { return claims_; }
  Reply apply(Call& call) override { return subject_.apply(call); }
  bool renew() override { return subject_.renew(); }
  std::int64_t deaths() const override { return subject_.deaths(); }
  Reply apply_at_start(Call& call) override { return subject_.apply_at_start(call); }
  std::optional<Reply> apply_concurrently(Call& call, Call& companion) override {
    return subject_.apply_concurrently(call, companion);
  }
  SanitizerReport apply_under(SanitizerTool tool, std::span<Call> calls) override {
    return subject_.apply_under(tool, calls);
  }
  Opener opener() const override {
    Opener open = subject_.opener();
    if (!open) return {};
    return [open = std::move(open), claims = claims_] {
      std::unique_ptr<Subject> opened = open();
      auto narrowed = std::make_unique<Narrowed>(*opened, claims);
      narrowed->opened_ = std::move(opened);
      return narrowed;
    };
  }

 private:
  std::unique_ptr<Subject> opened_;  // of a lane
  Subject& subject_;
  Claims claims_;
};

// Positions that end where calls begin to fail, in place of those that the cases happened to ask for.
bool find_limit(NarrowerClaims& narrower, std::span<const Case> failing, Subject& subject, Oracles& oracles,
                std::span<const Requirement> requirements, const SuiteOptions& options) {
  if (!narrower.has_fewer_positions) return true;
  Claims all_positions = narrower.claims;
  all_positions.capabilities.max_position = subject.claims().capabilities.max_position;
  std::vector<Case> late;
  std::ranges::copy_if(failing, std::back_inserter(late),
                       [&](const Case& c) { return uncovered(c, all_positions).empty(); });
  Examiner examiner(subject, oracles, options.golden, options.selection.grade);
  const std::optional<std::int64_t> limit = position_limit(late, requirements, examiner);
  if (!limit) return false;
  narrower.claims.capabilities.max_position = *limit;
  narrower.dropped.push_back(fmt::format("positions beyond {}", *limit));
  return true;
}

bool is_feature(const std::string& claim) {
  return std::ranges::any_of(feature_needs(), [&](const FeatureNeed& need) { return claim == need.what; });
}

// Whether every requirement that had cases has some again, or is about a feature that was dropped.
bool keeps_cases(const std::vector<RequirementResult>& again, const std::vector<std::string>& dropped) {
  return std::ranges::all_of(again, [&](const RequirementResult& r) {
    const bool is_dropped = r.verdict == Verdict::not_claimed && is_feature(r.lacks) &&
                            std::ranges::find(dropped, r.lacks) != dropped.end();
    return r.cases > 0 || is_dropped;
  });
}

// The chance that so many cases would hold without the claims, if they made no difference: each requirement's cases
// would fail as often as those did that needed the claims.
double chance_of_holding(const std::vector<RequirementResult>& again, const JudgedCases& judged,
                         const Claims& narrower) {
  double exponent = 0;
  for (const RequirementResult& result : again) {
    const JudgedCases::OfRequirement& before = judged.of(result.id);
    const auto needs = [&](const Case& c) { return !uncovered(c, narrower).empty(); };
    const auto failed = static_cast<double>(before.failing.size());
    const auto passed = static_cast<double>(before.stride * std::ranges::count_if(before.passing, needs));
    if (failed > 0) exponent += static_cast<double>(result.cases) * std::log1p(-failed / (failed + passed));
  }
  return std::exp(exponent);
}

std::vector<std::string> ids_of(const SubjectReport& report, bool failed) {
  std::vector<std::string> ids;
  for (const RequirementResult& one : report.results) {
    if (one.cases > 0 && (one.verdict == Verdict::fail) == failed) ids.push_back(one.id);
  }
  return ids;
}

}  // namespace

void JudgedCases::note(const Case& c, bool passed) {
  const std::scoped_lock lock(mutex_);
  OfRequirement& of = by_requirement_[c.requirement];
  if (!passed) {
    if (of.failing.size() < most_failing) of.failing.push_back(c);
    return;
  }
  if (of.noted++ % of.stride != 0) return;
  of.passing.push_back(c);
  if (of.passing.size() < 2 * most_passing) return;
  for (std::size_t i = 0; i < most_passing; ++i) of.passing[i] = std::move(of.passing[2 * i]);
  of.passing.resize(most_passing);
  of.stride *= 2;
}

const JudgedCases::OfRequirement& JudgedCases::of(const std::string& requirement) const {
  static const OfRequirement none;
  const auto found = by_requirement_.find(requirement);
  return found == by_requirement_.end() ? none : found->second;
}

void JudgedCases::add_to(std::vector<Case>& failing, std::vector<Case>& passing, const SubjectReport& report) const {
  for (const RequirementResult& result : report.results) {
    const OfRequirement& one = of(result.id);
    failing.insert(failing.end(), one.failing.begin(), one.failing.end());
    passing.insert(passing.end(), one.passing.begin(), one.passing.end());
  }
}

std::optional<ConformsWithout> conforms_without(const SubjectReport& report, const JudgedCases& judged,
                                                Subject& subject, Oracles& oracles,
                                                std::span<const Requirement> requirements, SuiteOptions options) {
  if (report.count(Verdict::fail) == 0 || report.interrupted || report.left_out() > 0) return std::nullopt;
  // What ends by a deadline says little about claims: fewer calls, or another machine, and it does not.
  if (report.recovered_hangs > 0 || std::ranges::any_of(report.results, &RequirementResult::hangs)) return std::nullopt;
  options.shrinks = false;
  options.progress = {};
  ++options.selection.seed;  // claims that were chosen to fit some cases are tried on others
  std::vector<Case> failing, passing;
  judged.add_to(failing, passing, report);
  for (int round = 0; round < most_rounds; ++round) {
    std::optional<NarrowerClaims> narrower = narrower_claims(subject.claims(), failing, passing);
    if (!narrower || !find_limit(*narrower, failing, subject, oracles, requirements, options)) return std::nullopt;
    JudgedCases again;
    options.after_case = [&](const Case& c, bool passed) { again.note(c, passed); };
    Narrowed less(subject, narrower->claims);
    std::vector<RequirementResult> results;
    // First what failed: where it fails again, the rest need not be judged. Each by itself: one may be left without a case.
    std::vector<std::vector<std::string>> turns;
    for (const std::string& id : ids_of(report, true)) turns.push_back({id});
    const std::size_t failed_before = turns.size();
    if (std::vector<std::string> passed = ids_of(report, false); !passed.empty()) turns.push_back(std::move(passed));
    bool fails = false;
    for (std::size_t turn = 0; turn < turns.size() && !(fails && turn >= failed_before); ++turn) {
      options.selection.only = turns[turn];
      const SubjectReport part = run_suite(less, oracles, requirements, options);
      if (part.interrupted || part.left_out() > 0 || part.recovered_hangs > 0) return std::nullopt;
      if (std::ranges::any_of(part.results, &RequirementResult::hangs)) return std::nullopt;
      results.insert(results.end(), part.results.begin(), part.results.end());
      again.add_to(failing, passing, part);
      if (!keeps_cases(part.results, narrower->dropped)) return std::nullopt;
      fails = fails || part.count(Verdict::fail) > 0;
    }
    if (fails) continue;
    if (chance_of_holding(results, judged, narrower->claims) > largest_chance) return std::nullopt;
    ConformsWithout found{std::move(narrower->dropped), {}};
    for (const RequirementResult& result : results) {
      if (result.cases > 0) found.judged_again.push_back(result.id);
    }
    return found;
  }
  return std::nullopt;
}

}  // namespace rope
