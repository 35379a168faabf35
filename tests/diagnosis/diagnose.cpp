#include "tests/diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tests/diagnosis/bug_class.hpp"
#include "tests/diagnosis/large_angles.hpp"
#include "tests/diagnosis/measure.hpp"
#include "tests/diagnosis/other_evidence.hpp"
#include "tests/diagnosis/plan_difference.hpp"
#include "tests/diagnosis/trigger.hpp"

namespace rope::diagnosis {
namespace {

// Below this a cause explains less than it leaves open, and what else is known is named first.
constexpr double worth_naming = 0.3;
// A second candidate as close as this cannot be told apart: a fit is a share of at most some hundred rows, of which one
// more or less is chance.
constexpr double a_tie = 0.02;
constexpr double certain = 0.9;
constexpr double worth_a_line = 0.1;
constexpr double most_calls = 0.5;
// A plan is measured, in the circumstances of one failure. Not certain: it is not held against the other ones.
constexpr double weight_of_a_plan = 0.6;
constexpr double nearly_all = 0.9;  // of the failing requirements
constexpr std::size_t most_candidates = 5;
constexpr std::int64_t most_deaths = 6;
constexpr std::size_t most_decisive = 8;  // cases that are made to part two rivals

class Diagnosing {
 public:
  Diagnosing(const SubjectReport& report, Subject& subject, Oracles& oracles, const Manifest* golden)
      : report_(report), examiner_(subject, oracles, golden, report.selection.grade) {}

  Diagnosis run() {
    const std::optional<PlanDifference> plan = plan_difference(report_, examiner_.subject(), examiner_.oracles());
    examiner_.subject().renew();
    observe_all();
    unusual_ = needs_unusual_inputs(seen_);
    std::vector<Weighed> weighed = weigh(seen_);
    if (part_rivals(weighed)) weighed = weigh(seen_);
    std::vector<Pointer> pointers = from_requirements(report_, seen_, examiner_);
    for (Pointer& p : from_answers(report_, seen_)) {
      // Where most calls end, the requirements fail for that, and how they end is what is known.
      const bool first = p.candidate.fit >= most_calls;
      if (first) {
        std::erase_if(pointers, [&](const Pointer& other) {
          return other.candidate.sentence.find(p.candidate.sentence) != std::string::npos;
        });
      }
      pointers.insert(first ? pointers.begin() : pointers.end(), std::move(p));
    }
    const bool irregular = is_irregular(report_, seen_, examiner_);
    const bool state = !irregular && depends_on_earlier_calls(report_, seen_, examiner_);
    if (irregular) pointers.insert(pointers.begin(), irregular_cause(weighed));
    const std::optional<Candidate> large_angles = beyond_an_angle(seen_);
    const double least_fit = large_angles ? large_angles->fit : worth_naming;
    const bool by_value = !weighed.empty() && weighed[0].fit >= least_fit && !state && !irregular;
    Diagnosis result;
    if (plan) {
      result.plan.push_back(plan->asked);
      for (const Difference& d : plan->found) result.plan.push_back(d.words);
    }
    if (by_value) {
      name_causes(weighed, result);
    } else {
      std::stable_partition(pointers.begin(), pointers.end(),
                            [](const Pointer& p) { return p.candidate.fit >= nearly_all; });
      for (const Pointer& p : pointers) result.candidates.push_back(p.candidate);
      for (const Weighed& w : weighed) result.candidates.push_back(candidate(w));
      // Wrong values make nearly every requirement fail: unless only those of one kind do, it says less which ones do
      // than what the values look like.
      // And what turned by another angle was not left out by a launch.
      std::optional<Candidate> shape = measured(seen_);
      bool planned = false;
      const bool speaks = shape && (shape->sentence == never_written || shape->sentence == turned_again);
      if (std::optional<Candidate> executed = telling(plan); executed && !speaks) {
        shape = std::move(executed);
        planned = true;
      }
      if (large_angles) shape = large_angles;
      // A plan says more of wrong angles than that they are wrong.
      const auto is_overruled = [&](const Candidate& c) {
        return (c.bug_class == "launch-limits" && shape && shape->bug_class == "frequency-base") ||
               (c.bug_class == "precision" && planned && !large_angles);
      };
      const bool of_one_kind =
          !pointers.empty() && pointers[0].candidate.fit >= nearly_all && !is_overruled(pointers[0].candidate);
      if (shape && !of_one_kind && !state && !irregular) result.candidates.insert(result.candidates.begin(), *shape);
      for (std::size_t i = result.candidates.size(); i-- > 1;) {
        if (result.candidates[i].fit < worth_a_line)
          result.candidates.erase(result.candidates.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    if (result.candidates.size() > most_candidates) result.candidates.resize(most_candidates);
    if (by_value) {
      explain_requirements(weighed[0], result);
    } else if (!pointers.empty() && result.candidates[0].sentence == pointers[0].candidate.sentence) {
      for (const RequirementResult& r : report_.results) {
        if (r.verdict != Verdict::fail) continue;
        const auto& named = pointers[0].requirements;
        const bool is_named = state || std::find(named.begin(), named.end(), r.id) != named.end();
        (is_named ? result.explained : result.unexplained).push_back(r.id);
      }
      result.evidence = fmt::format("failed: {}", fmt::join(result.explained, ", "));
      result.certain = result.unexplained.empty();
    }
    result.trigger = trigger();
    return result;
  }

 private:
  void observe_all() {
    const Subject& subject = examiner_.subject();
    const std::int64_t before = subject.deaths();
    std::int64_t crashes = 0;
    for (const Case& c : cases_to_observe(report_, subject.claims())) {
      // A write where none may be says much, and where a process starts at once it may be seen often.
      if ((subject.claims().compiled ? crashes : subject.deaths() - before) >= most_deaths) break;
      seen_.push_back(observe(c, examiner_));
      const FailureKind kind = seen_.back()->problem.kind;
      if (auto beyond = observe_beyond(*seen_.back(), examiner_)) seen_.push_back(std::move(beyond));
      if (kind == FailureKind::timeout) break;
      crashes += kind == FailureKind::crash ? 1 : 0;
    }
  }

  // Where another class fits as well as the best: runs cases on which the two say different things, if the claims have
  // such. True where there is more evidence now.
  bool part_rivals(const std::vector<Weighed>& weighed) {
    if (weighed.empty() || weighed[0].fit < worth_naming) return false;
    const auto rival = std::find_if(weighed.begin() + 1, weighed.end(), [&](const Weighed& w) {
      return w.fit >= weighed[0].fit - a_tie && class_of(w) != class_of(weighed[0]);
    });
    if (rival == weighed.end()) return false;
    std::size_t made = 0;
    for (const Case& c : random_cases(report_, examiner_.subject().claims(), 78, 120)) {
      if (made == most_decisive) break;
      const Call call = examiner_.build(c);
      const Expectation expectation(call, c.spec, examiner_.oracles());
      if (!differ(predict(call, expectation, change_of(weighed[0], call)),
                  predict(call, expectation, change_of(*rival, call)))) {
        continue;
      }
      seen_.push_back(observe(c, examiner_));
      seen_.back()->decisive = true;
      ++made;
    }
    return made > 0;
  }

  static bool differ(const Prediction& a, const Prediction& b) {
    for (std::size_t i = 0; i < a.value.size(); ++i) {
      if (a.written[i] != b.written[i] || std::fabs(a.value[i] - b.value[i]) > a.bound[i] + b.bound[i]) return true;
    }
    return false;
  }

  // What was seen to be executed instead, where it is a bug of one class: a plan says more than the shape of its
  // errors.
  static std::optional<Candidate> telling(const std::optional<PlanDifference>& plan) {
    if (!plan) return std::nullopt;
    for (const Difference& d : plan->found) {
      if (*d.bug_class != '\0') return Candidate{d.bug_class, d.words, "", weight_of_a_plan};
    }
    return std::nullopt;
  }

  // A race between two writers leaves whole rows as they were; anything else is a value that nobody set.
  Pointer irregular_cause(const std::vector<Weighed>& weighed) const {
    const bool rows_survive = std::any_of(weighed.begin(), weighed.end(), [](const Weighed& w) {
      return w.hypothesis->unrotated && w.with == nullptr && w.explained > 0.9;
    });
    Pointer p{
        {"special-values", "the same call gives other results each time: a race, or memory that nobody set", "", 1},
        {}};
    if (rows_survive) {
      p.candidate.bug_class = "strides-memory-race";
      p.candidate.sentence =
          "the input, or what stood there, survives in some rows, others each time: two writers race";
    }
    for (const RequirementResult& r : report_.results) {
      if (r.verdict == Verdict::fail) p.requirements.push_back(r.id);
    }
    return p;
  }

  Candidate candidate(const Weighed& w) const {
    std::string sentence = w.hypothesis->sentence;
    if (w.with != nullptr) sentence += "; and " + w.with->sentence;
    std::string condition = words_of(w.condition);
    if (is_of_large_positions(w) && w.hypothesis->bug_class != "precision") {
      sentence = "angles of large positions are too far off, as if " + sentence;
    }
    if (!unusual_) return {class_of(w), sentence, condition, std::max(w.fit, 0.0)};
    // A cause that explains all says of itself which inputs show it.
    if (w.fit < certain) {
      condition = condition.empty() ? "only inputs of an unusual size" : condition + ", inputs of an unusual size";
    }
    return {"special-values", sentence, condition, std::max(w.fit, 0.0)};
  }

  void name_causes(const std::vector<Weighed>& weighed, Diagnosis& result) const {
    const Weighed& best = weighed[0];
    for (const Weighed& w : weighed) {
      // Of what fits far worse nobody wants to hear.
      if (w.fit >= std::max(0.5 * best.fit, worth_a_line)) result.candidates.push_back(candidate(w));
    }
    const std::string& first = result.candidates[0].bug_class;
    const bool tie = std::any_of(result.candidates.begin(), result.candidates.end(),
                                 [&](const Candidate& c) { return c.bug_class != first && c.fit >= best.fit - a_tie; });
    result.certain = best.fit >= certain && !tie;
    result.evidence = fmt::format("{} of {} wrong rows come out as it says, in {} cases, and {} right ones", best.rows,
                                  best.all_rows, best.cases, best.right_rows);
  }

  void explain_requirements(const Weighed& best, Diagnosis& result) const {
    for (const RequirementResult& r : report_.results) {
      if (r.verdict != Verdict::fail || !r.failure) continue;
      Case c = r.failure->minimal;
      c.requirement = "ROT-01";
      const std::string text = to_text(c);
      const auto found = std::find_if(seen_.begin(), seen_.end(),
                                      [&](const auto& s) { return s->answered() && to_text(s->c) == text; });
      bool explained = false;
      if (found != seen_.end() && (*found)->failed()) {
        const Observation& s = **found;
        const Prediction said = predict(s.before, *s.expectation, change_of(best, s.before));
        explained = true;
        for (std::size_t i = 0; i < s.elements(); ++i) explained = explained && agrees(s, said, i);
      }
      (explained ? result.explained : result.unexplained).push_back(r.id);
    }
  }

  // Of the first failing requirement whose failure can be had in a single case.
  std::string trigger() {
    for (const RequirementResult& r : report_.results) {
      if (r.verdict != Verdict::fail || !r.failure) continue;
      const Failure& failure = *r.failure;
      const FailureKind kind = failure.finding.kind;
      const bool quick = kind != FailureKind::timeout && kind != FailureKind::crash;
      if (!quick || failure.needs_earlier_calls || !failure.minimal.golden.empty()) continue;
      if (failure.minimal.fault != Fault::none) continue;
      return words_of(isolate(failure.minimal, examiner_));
    }
    return "";
  }

  const SubjectReport& report_;
  Examiner examiner_;
  Observations seen_;
  bool unusual_ = false;  // all that failed has inputs of an unusual size
};

}  // namespace

std::optional<Diagnosis> diagnose(const SubjectReport& report, Subject& subject, Oracles& oracles,
                                  const Manifest* golden) {
  if (report.count(Verdict::fail) == 0) return std::nullopt;
  return Diagnosing(report, subject, oracles, golden).run();
}

}  // namespace rope::diagnosis
