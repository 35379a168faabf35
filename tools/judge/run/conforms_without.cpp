#include "tools/judge/run/conforms_without.hpp"

#include <algorithm>

#include "tools/judge/case/narrower_claims.hpp"

namespace rope {
namespace {

// Of each requirement; more would only take time.
constexpr std::size_t most_failing = 1000, most_passing = 100;

// Fewer claims make other cases, which may show what more to drop.
constexpr int most_rounds = 2;

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

 private:
  Subject& subject_;
  Claims claims_;
};

}  // namespace

void JudgedCases::note(const Case& c, bool passed) {
  const std::scoped_lock lock(mutex_);
  std::vector<Case>& cases = (passed ? passing_ : failing_)[c.requirement];
  if (cases.size() < (passed ? most_passing : most_failing)) cases.push_back(c);
}

void JudgedCases::add_to(std::vector<Case>& failing, std::vector<Case>& passing, const SubjectReport& report) const {
  const auto add = [](std::vector<Case>& all, const auto& by_requirement, const std::string& id) {
    const auto found = by_requirement.find(id);
    if (found != by_requirement.end()) all.insert(all.end(), found->second.begin(), found->second.end());
  };
  for (const RequirementResult& result : report.results) {
    add(failing, failing_, result.id);
    add(passing, passing_, result.id);
  }
}

std::optional<ConformsWithout> conforms_without(const SubjectReport& report, const JudgedCases& judged,
                                                Subject& subject, Oracles& oracles,
                                                std::span<const Requirement> requirements, SuiteOptions options) {
  if (report.count(Verdict::fail) == 0 || report.interrupted || report.left_out() > 0) return std::nullopt;
  // A kernel that hangs now and then hangs less often in fewer calls, whatever it claims.
  if (report.recovered_hangs > 0 || std::ranges::any_of(report.results, &RequirementResult::hangs)) return std::nullopt;
  ConformsWithout result;
  for (const RequirementResult& one : report.results) {
    if (one.verdict == Verdict::fail) result.judged_again.push_back(one.id);
  }
  options.selection.only = result.judged_again;
  options.shrinks = false;
  options.progress = {};
  std::vector<Case> failing, passing;
  judged.add_to(failing, passing, report);
  for (int round = 0; round < most_rounds; ++round) {
    std::optional<NarrowerClaims> narrower = narrower_claims(subject.claims(), failing, passing);
    if (!narrower) return std::nullopt;
    JudgedCases again;
    options.after_case = [&](const Case& c, bool passed) { again.note(c, passed); };
    Narrowed less(subject, std::move(narrower->claims));
    const SubjectReport report_again = run_suite(less, oracles, requirements, options);
    if (report_again.interrupted || report_again.left_out() > 0) return std::nullopt;
    if (report_again.count(Verdict::fail) == 0) {
      result.claims = std::move(narrower->dropped);
      return result;
    }
    again.add_to(failing, passing, report_again);
  }
  return std::nullopt;
}

}  // namespace rope
