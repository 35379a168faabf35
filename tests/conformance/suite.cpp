#include "tests/conformance/suite.hpp"

#include <rapidcheck/Shrinkable.h>
#include <rapidcheck/seq/Operations.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Create.h>
#include <rapidcheck/shrinkable/Operations.h>

#include <algorithm>
#include <chrono>

#include "reference/input_error.hpp"
#include "tests/conformance/coverage.hpp"

namespace rope {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::fail: return "fail";
    case Verdict::not_claimed: return "not claimed";
  }
  return "?";
}

std::int64_t SubjectReport::executed() const {
  std::int64_t sum = 0;
  for (const RequirementResult& result : results) sum += result.cases;
  return sum;
}

bool SubjectReport::conforms() const {
  const bool failed = std::any_of(results.begin(), results.end(),
                                  [](const RequirementResult& r) { return r.verdict == Verdict::fail; });
  return executed() > 0 && !failed && !interrupted;
}

namespace {

// A kernel that dies or hangs again and again costs seconds a case; after this many of them a requirement is decided.
constexpr std::int64_t most_deaths = 3;
constexpr int most_shrink_steps = 400;

bool is_death(const Finding& finding) {
  return finding.kind == FailureKind::crash || finding.kind == FailureKind::timeout;
}

bool is_valid(const Case& c, const Claims& claims) {
  try {
    validate(c.spec);
    return uncovered(c, claims).empty();
  } catch (const InputError&) {
    return false;  // shrinking broke the spec, for example a list of factors that no longer fits
  }
}

Failure shrink(const Requirement& requirement, const Case& failing, const Finding& finding, const Selection& selection,
               Examiner& examiner) {
  Failure failure{failing, finding, to_text(failing)};
  int steps = is_death(finding) ? most_shrink_steps - 20 : 0;
  const Claims& claims = examiner.subject().claims();
  const auto smaller = [&](const Case& c) {
    std::vector<Case> candidates = simpler(c);
    std::erase_if(candidates, [&](const Case& s) {
      return !is_valid(s, claims) || (selection.spec && to_json(s.spec) != to_json(*selection.spec));
    });
    return rc::seq::fromContainer(std::move(candidates));
  };
  const auto shrinkable = rc::shrinkable::shrinkRecur(failing, smaller);
  rc::shrinkable::findLocalMin(shrinkable, [&](const Case& c) {
    if (++steps > most_shrink_steps) return false;
    const Finding found = requirement.check(c, examiner);
    if (found.passed()) return false;
    failure.minimal = c;
    failure.finding = found;
    return true;
  });
  return failure;
}

using GradeUse = std::map<DType, PerGrade<double>>;

void collect(GradeUse& uses, DType dtype, const Finding& finding) {
  PerGrade<double>& use = uses[dtype];
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) {
      use[a][w] = std::max(use[a][w], finding.use_by_grade[a][w]);
    }
  }
}

// The tightest angle grade that some arithmetic grade goes with, then the tightest arithmetic.
MeasuredGrade measured(DType dtype, const PerGrade<double>& use) {
  MeasuredGrade result{dtype, "", use.back().back()};
  for (std::size_t a = 0; a < angle_grades; ++a) {
    if (use[a].back() > 1) continue;
    const auto w = static_cast<std::size_t>(
        std::find_if(use[a].begin(), use[a].end(), [](double u) { return u <= 1; }) - use[a].begin());
    result.grade = grade_name(static_cast<AngleGrade>(a), static_cast<ArithmeticGrade>(w));
    result.use = use[a][w];
    return result;
  }
  return result;
}

class Run {
 public:
  Run(Subject& subject, Oracles& oracles, const SuiteOptions& options)
      : options_(options), examiner_(subject, oracles, options.golden) {}

  SubjectReport report() {
    const auto start = std::chrono::steady_clock::now();
    SubjectReport report;
    report.subject = examiner_.subject().name();
    report.selection = options_.selection;
    const std::vector<Requirement> requirements = all_requirements();
    for (std::size_t i = 0; i < requirements.size() && !stopped(); ++i) {
      report.results.push_back(judge(requirements[i], i, requirements.size()));
    }
    for (const auto& [dtype, use] : uses_) report.grades.push_back(measured(dtype, use));
    report.calls = examiner_.calls();
    report.interrupted = stopped();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  RequirementResult judge(const Requirement& requirement, std::size_t index, std::size_t count) {
    RequirementResult result;
    result.id = requirement.id;
    result.sentence = requirement.sentence;
    CaseList list(requirement.id, examiner_.subject().claims(), options_.selection, options_.golden);
    requirement.cases(list);
    std::int64_t deaths = 0;
    for (const Case& c : list.take()) {
      if (stopped() || deaths == most_deaths) break;
      const Finding finding = requirement.check(c, examiner_);
      ++result.cases;
      collect(uses_, c.dtype, finding);
      if (!result.worst || finding.use > result.worst->use) {
        result.worst = finding;
        result.worst_case = to_text(c);
      }
      if (!finding.passed()) {
        deaths += is_death(finding) ? 1 : 0;
        if (result.failed++ == 0) result.failure = shrink(requirement, c, finding, options_.selection, examiner_);
      }
      if (options_.progress) options_.progress(result, index, count);
    }
    if (result.cases > 0) result.verdict = result.failed > 0 ? Verdict::fail : Verdict::pass;
    return result;
  }

  const SuiteOptions& options_;
  Examiner examiner_;
  GradeUse uses_;
};

}  // namespace

SubjectReport run_suite(Subject& subject, Oracles& oracles, const SuiteOptions& options) {
  return Run(subject, oracles, options).report();
}

Finding replay(const Case& c, Subject& subject, Oracles& oracles, const Manifest* golden) {
  const std::string why = uncovered(c, subject.claims());
  if (!why.empty()) throw InputError("the case does not apply to " + subject.name() + ": " + why);
  Examiner examiner(subject, oracles, golden);
  return requirement_called(c.requirement).check(c, examiner);
}

}  // namespace rope
