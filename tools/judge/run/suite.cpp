#include "tools/judge/run/suite.hpp"

#include <rapidcheck/Shrinkable.h>
#include <rapidcheck/seq/Operations.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Operations.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/missing_claim.hpp"
#include "tools/judge/verdict/variants.hpp"

namespace rope {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
    case Verdict::note: return "note";
    case Verdict::not_claimed: return "not claimed";
    case Verdict::expected_failure: return "expected failure";
    case Verdict::unexpected_pass: return "unexpected pass";
  }
  return "?";
}

std::int64_t SubjectReport::executed() const {
  std::int64_t sum = 0;
  for (const RequirementResult& result : results) sum += result.cases;
  return sum;
}

double SubjectReport::kernel_seconds() const {
  double sum = 0;
  for (const RequirementResult& result : results) sum += result.kernel_seconds;
  return sum;
}

std::int64_t SubjectReport::count(Verdict verdict) const {
  return std::count_if(results.begin(), results.end(),
                       [=](const RequirementResult& r) { return r.verdict == verdict; });
}

bool SubjectReport::conforms() const {
  return executed() > 0 && count(Verdict::fail) + count(Verdict::expected_failure) == 0 && !interrupted;
}

bool SubjectReport::as_expected() const {
  return executed() > 0 && count(Verdict::fail) + count(Verdict::unexpected_pass) == 0 && !interrupted;
}

namespace {

// A kernel that keeps dying or hanging costs seconds per case. After this many deaths a requirement is decided.
constexpr std::int64_t most_deaths = 3;
constexpr int most_shrink_steps = 400;

// A hang costs two whole deadlines. So the first hang decides, and only the first of a run is shrunk, in few steps.
constexpr int most_hanging_steps = 3;

// A case that fails rarely cannot be replayed. If it fails this many more times in a row, it can.
constexpr int more_failures = 4;

// Each step starts a new process.
constexpr int most_dying_steps = 20;

// If the failure itself kills nothing but simpler cases do, this many such cases end the shrinking.
constexpr int most_deaths_in_shrinking = most_dying_steps;
constexpr int most_slow_deaths_in_shrinking = 4;

// A new process takes a compiled kernel a few milliseconds, but an interpreter that loads its framework seconds. There,
// the first death decides a requirement, and only the first of a run is shrunk. If one failure occurred in a new
// process by itself, others of its kind are assumed not to need earlier calls either.
bool starts_slowly(const Claims& claims) { return !claims.compiled; }

// What a check found, and whether a process died of it. Much misbehaviour kills, for example a write beyond a page.
struct Outcome {
  Finding finding;
  bool died = false;

  int shrink_steps() const {
    if (finding.kind == FailureKind::timeout) return most_hanging_steps;
    return died ? most_dying_steps : most_shrink_steps;
  }
};

Outcome outcome_of(const Requirement& requirement, const Case& c, Examiner& examiner) {
  const std::int64_t before = examiner.subject().deaths();
  Outcome outcome{requirement.check(c, examiner)};
  const FailureKind kind = outcome.finding.kind;
  outcome.died = kind == FailureKind::crash || kind == FailureKind::timeout || examiner.subject().deaths() != before;
  // Run by itself, each of its cases takes a process too.
  outcome.died = outcome.died || (requirement.prepare != nullptr && !outcome.finding.passed());
  return outcome;
}

bool is_valid(const Case& c, const Claims& claims) {
  try {
    validate(c.spec);
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;  // shrinking broke the spec, for example a list of factors that no longer fits
  }
}

Failure shrink(const Requirement& requirement, const Case& failing, const Outcome& outcome, const Selection& selection,
               bool renews, Examiner& examiner) {
  const Finding& finding = outcome.finding;
  Failure failure{failing, finding, to_text(failing)};
  int steps = outcome.shrink_steps();
  const bool by_chance = requirement.handling.by_chance;
  const Claims& claims = examiner.subject().claims();
  const int deaths_allowed = starts_slowly(claims) ? most_slow_deaths_in_shrinking : most_deaths_in_shrinking;
  const auto smaller = [&](const Case& c) {
    std::vector<Case> candidates = simpler(c);
    std::erase_if(candidates, [&](const Case& s) {
      return !is_valid(s, claims) || (selection.spec && to_json(s.spec) != to_json(*selection.spec));
    });
    return rc::seq::fromContainer(std::move(candidates));
  };
  const auto shrinkable = rc::shrinkable::shrinkRecur(failing, smaller);
  rc::shrinkable::findLocalMin(shrinkable, [&](const Case& c) {
    if (--steps < 0) return false;
    const std::int64_t deaths = examiner.subject().deaths();
    Finding found = requirement.check(c, examiner);
    if (!outcome.died && examiner.subject().deaths() != deaths) steps -= most_shrink_steps / deaths_allowed;
    // A different kind of failure is a different failure.
    const auto same_failure = [&] { return !found.passed() && found.kind == finding.kind; };
    for (int i = 0; i < more_failures && by_chance && !outcome.died && same_failure(); ++i) {
      found = requirement.check(c, examiner);
    }
    if (!same_failure()) return false;
    failure.minimal = c;
    failure.finding = found;
    return true;
  });
  // Repeating a hang would cost its deadlines again. A kernel that takes wrong calls takes them in any process.
  const bool takes_wrong_call = starts_slowly(claims) && failing.fault != Fault::none;
  if (renews && !takes_wrong_call && finding.kind != FailureKind::timeout && !by_chance && examiner.subject().renew()) {
    failure.needs_earlier_calls = requirement.check(failure.minimal, examiner).passed();
  }
  return failure;
}

using GradeUse = std::map<DType, PerGrade<double>>;

void collect(GradeUse& uses, DType dtype, const Finding& finding) {
  if (finding.graded == 0) return;
  PerGrade<double>& use = uses[dtype];
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      use[a][w] = std::max(use[a][w], finding.use_by_grade[a][w]);
    }
  }
}

// The tightest angle grade for which some arithmetic grade holds, then the tightest arithmetic grade.
MeasuredGrade measured(DType dtype, const PerGrade<double>& use) {
  MeasuredGrade result{dtype, "", use.back().back()};
  for (std::size_t a = 0; a < angle_grades; ++a) {
    if (use[a].back() > 1) continue;
    const auto w = static_cast<std::size_t>(
        std::find_if(use[a].begin(), use[a].end(), [](double u) { return u <= 1; }) - use[a].begin());
    result.grade = name(Grade{static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w)});
    result.use = use[a][w];
    return result;
  }
  return result;
}

class Run {
 public:
  Run(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements, const SuiteOptions& options)
      : requirements_(requirements),
        options_(options),
        examiner_(subject, oracles, options.golden, options.selection.grade) {}

  SubjectReport report() {
    const auto start = std::chrono::steady_clock::now();
    SubjectReport report;
    report.subject = examiner_.subject().name();
    report.selection = options_.selection;
    std::vector<Task> tasks = all_tasks();
    bool decided = false;
    for (std::size_t i = 0; i < tasks.size() && !stopped() && !decided; ++i) {
      report.results.push_back(judge(tasks[i], i, tasks.size()));
      decided = options_.fail_fast && report.results.back().verdict == Verdict::fail;
    }
    for (const auto& [dtype, use] : uses_) report.grades.push_back(measured(dtype, use));
    report.permitted_variants = permitted_variants(examiner_.subject().claims());
    report.claims_note = examiner_.subject().claims_note();
    const bool wanted = std::ranges::any_of(tasks, [](const Task& t) { return t.requirement.handling.with_horizon; });
    if (wanted && !decided && options_.cases == nullptr && !stopped())
      report.horizons = measure_horizons(examiner_, options_.selection);
    report.calls = examiner_.calls();
    const Claims& claims = examiner_.subject().claims();
    if (report.executed() == 0) report.missing_claim = missing_claim(claims, options_.selection);
    report.only_position_0 = claims.capabilities.max_position == 0;
    report.interrupted = stopped();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  struct Task {
    Requirement requirement;
    std::vector<Case> cases;
  };

  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  // Makes all cases before the first is run, so that the total is known.
  std::vector<Task> all_tasks() {
    std::vector<Task> tasks;
    for (const Requirement& requirement : requirements_) {
      if (stopped() || !options_.selection.wants(requirement.id)) continue;
      tasks.push_back({requirement, cases_of(requirement)});
      all_cases_ += static_cast<std::int64_t>(tasks.back().cases.size());
    }
    return tasks;
  }

  std::vector<Case> cases_of(const Requirement& requirement) {
    if (options_.cases != nullptr) {
      std::vector<Case> chosen;
      std::copy_if(options_.cases->begin(), options_.cases->end(), std::back_inserter(chosen),
                   [&](const Case& c) { return c.requirement == requirement.id; });
      return chosen;
    }
    CaseList list(requirement.id, examiner_.subject().claims(), options_.selection, options_.golden);
    requirement.cases(list);
    return list.take();
  }

  // Applies the list of expected failures to a verdict. A note stays one: it does not hold, as the list says.
  void expect(RequirementResult& result) const {
    const auto listed = options_.expected_failures.find(result.id);
    if (listed == options_.expected_failures.end()) return;
    const ExpectedFailure& known = listed->second;
    if (result.verdict == Verdict::pass && known.may_pass) return;
    result.reason = known.reason;
    if (result.verdict == Verdict::fail) result.verdict = Verdict::expected_failure;
    // A requirement that was cut short, or undecided in some case, has not passed.
    if (result.verdict == Verdict::pass && !stopped() && result.undecided.empty())
      result.verdict = Verdict::unexpected_pass;
  }

  RequirementResult judge(const Task& task, std::size_t index, std::size_t count) {
    const auto start = std::chrono::steady_clock::now();
    const double kernel_seconds = examiner_.kernel_seconds();
    const Requirement& requirement = task.requirement;
    RequirementResult result;
    result.id = requirement.id;
    result.sentence = requirement.sentence;
    result.is_must = requirement.is_must();
    const bool decides = rope::decides(requirement, options_.selection.demands, examiner_.subject().claims());
    // An expected failure does not end the run, so there is time to shrink it.
    const bool goes_on = !options_.fail_fast || options_.expected_failures.contains(result.id);
    const bool shrinks = goes_on && options_.cases == nullptr && options_.shrinks;
    const bool slow = starts_slowly(examiner_.subject().claims());
    std::int64_t deaths = 0;
    if (requirement.prepare != nullptr && !stopped()) requirement.prepare(task.cases, examiner_);
    for (const Case& c : task.cases) {
      if (stopped() || deaths >= most_deaths || (result.failed > 0 && !goes_on)) break;
      if (options_.before_case) options_.before_case(c);
      const Outcome outcome = outcome_of(requirement, c, examiner_);
      const Finding& finding = outcome.finding;
      if (!finding.decided) {
        if (result.undecided.empty()) result.undecided = finding.message;
        continue;
      }
      ++result.cases;
      if (options_.after_case && decides) options_.after_case(c, finding.passed());
      // Only MUSTs count for the grade: other cases may lie outside of every bound.
      if (requirement.is_must()) collect(uses_, c.dtype, finding);
      if (!result.worst || finding.use > result.worst->use) {
        result.worst = finding;
        result.worst_case = to_text(c);
      }
      if (!finding.passed()) {
        const bool hangs = finding.kind == FailureKind::timeout;
        deaths += hangs || (slow && outcome.died) ? most_deaths : outcome.died ? 1 : 0;
        if (result.failed++ == 0) {
          const bool known = (hangs && has_hung_) || (slow && outcome.died && has_died_);
          const bool renews = !slow || !failed_alone_.contains(finding.kind) || requirement.handling.of_state;
          result.failure = shrinks && !known ? shrink(requirement, c, outcome, options_.selection, renews, examiner_)
                                             : Failure{c, finding, to_text(c)};
          const bool alone = shrinks && renews && !requirement.handling.by_chance && c.fault == Fault::none &&
                             !result.failure->needs_earlier_calls;
          if (alone) failed_alone_.insert(finding.kind);
        }
        has_hung_ = has_hung_ || hangs;
        has_died_ = has_died_ || outcome.died;
      }
      ++cases_;
      if (options_.progress) options_.progress({result, index, count, cases_, all_cases_});
    }
    cases_ += static_cast<std::int64_t>(task.cases.size()) - result.cases;  // the cases that were left out or undecided
    if (result.cases > 0) result.verdict = Verdict::pass;
    if (result.failed > 0) result.verdict = decides ? Verdict::fail : Verdict::note;
    expect(result);
    result.kernel_seconds = examiner_.kernel_seconds() - kernel_seconds;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

  std::span<const Requirement> requirements_;
  const SuiteOptions& options_;
  Examiner examiner_;
  GradeUse uses_;
  bool has_hung_ = false;
  bool has_died_ = false;
  std::set<FailureKind> failed_alone_;  // in a new process
  std::int64_t cases_ = 0;
  std::int64_t all_cases_ = 0;
};

}  // namespace

SubjectReport run_suite(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements,
                        const SuiteOptions& options) {
  return Run(subject, oracles, requirements, options).report();
}

Finding replay(const Requirement& requirement, const Case& c, Subject& subject, Oracles& oracles,
               const Manifest* golden, Grade required) {
  const std::string why = uncovered(c, subject.claims());
  if (!why.empty()) throw InputError("the case does not apply to " + subject.name() + ": " + why);
  Examiner examiner(subject, oracles, golden, required);
  return requirement.check(c, examiner);
}

}  // namespace rope
