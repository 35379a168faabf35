#include "tools/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tools/diagnose/angle_evidence.hpp"
#include "tools/diagnose/appearance.hpp"
#include "tools/diagnose/cause_class.hpp"
#include "tools/diagnose/other_evidence.hpp"
#include "tools/diagnose/rivals.hpp"
#include "tools/diagnose/predicted_outcome.hpp"
#include "tools/diagnose/trigger.hpp"
#include "tools/diagnose/wrong_rows.hpp"

namespace rope::diagnosis {
namespace {

// Below this fit a cause explains less than it leaves open. Then other evidence is named first.
constexpr double worth_naming = 0.3;
constexpr double certain = 0.95;  // leaves less than two cases of 40 open
constexpr double worth_a_line = 0.1;
constexpr double most_calls = 0.5;
constexpr double nearly_all = 0.9;  // of the failing requirements
constexpr std::size_t most_candidates = 5;
constexpr std::int64_t most_deaths = 6;
constexpr int rounds_of_rivals = 6;            // the later ones if another cause or another limit then fits as well
constexpr int rounds_of_confirming = 3;        // the later ones if the condition became narrower
constexpr std::int64_t calls_of_a_plan = 200;  // roughly

class Diagnosing {
 public:
  Diagnosing(const SubjectReport& report, Subject& subject, Oracles& oracles, const Manifest* golden,
             std::optional<std::chrono::steady_clock::time_point> end, const Stop* stop)
      : report_(report),
        end_(end),
        stop_(stop),
        scales_(stop),
        examiner_(subject, oracles, golden, report.selection.grade) {}

  Diagnosis run() {
    const std::optional<PlanDifference> plan = has_time_for(calls_of_a_plan)
                                                   ? plan_difference(report_, examiner_.subject(), examiner_.oracles())
                                                   : std::nullopt;
    examiner_.subject().renew();
    observe_all();
    unusual_ = needs_unusual_inputs(seen_);
    look_for_state();
    weighed_ = scales_.weigh(seen_, decides_by_state() ? SearchEffort::quick : SearchEffort::thorough);
    if (!decides_by_state()) discriminate();
    gather_pointers();
    Diagnosis result;
    result.wrong_rows = wrong_rows(seen_);
    const std::optional<Candidate> by_angle = told_by_angle(seen_);
    if (is_by_value(by_angle) && !says_less_than(plan)) {
      name_causes(result);
      explain_requirements(result);
    } else {
      name_by_other_evidence(plan, by_angle, result);
    }
    if (plan) add_plan(*plan, result);
    const std::optional<Trigger> found = has_time_for(1) ? trigger() : std::nullopt;
    const bool has_condition = result.first() != nullptr && !result.first()->condition.empty();
    // That any call fails is of another failure than the one that needs a condition.
    if (found && !(found->any_call && has_condition)) result.trigger = words_of(*found);
    return result;
  }

 private:
  // At the speed of the calls until now.
  bool has_time_for(std::int64_t calls) const {
    if (!end_) return true;
    const auto made = static_cast<double>(std::max<std::int64_t>(1, report_.calls));
    const double seconds = report_.seconds * static_cast<double>(calls) / made;
    return std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds) < *end_;
  }

  void observe_all() {
    const Subject& subject = examiner_.subject();
    const std::int64_t before = subject.deaths();
    std::int64_t crashes = 0;
    for (const Case& c : cases_to_observe(report_, subject.claims())) {
      // A forbidden write says much; if a process starts quickly, it may be observed often.
      if ((subject.claims().starts_slowly() ? subject.deaths() - before : crashes) >= most_deaths) break;
      if (!seen_.empty() && !has_time_for(1)) break;
      seen_.push_back(observe(c, examiner_));
      const FailureKind kind = seen_.back()->problem.kind;
      if (auto beyond = observe_beyond(*seen_.back(), examiner_)) seen_.push_back(std::move(beyond));
      if (kind == FailureKind::timeout) break;
      crashes += kind == FailureKind::crash ? 1 : 0;
    }
  }

  void look_for_state() {
    repeated_ = repeated(report_, seen_, examiner_);
    state_ = repeated_ == Repeated::changing ||
             (repeated_ == Repeated::same && depends_on_earlier_calls(report_, seen_, examiner_));
  }

  // No value of a call explains what other calls decide.
  bool decides_by_state() const { return state_ || repeated_ == Repeated::irregular; }

  // If other causes fit as well as the best, or if the best fits so well that it would be certain, runs cases that
  // decide, if the claims have such cases.
  void discriminate() {
    if (weighed_.empty() || weighed_[0].fit < worth_naming) return;
    Rivals rivals(report_, seen_, examiner_);
    for (int round = 0; round < rounds_of_rivals; ++round) {
      if (!observe_more(rivals.deciding(weighed_, certain))) break;
      weighed_ = scales_.weigh(seen_, SearchEffort::thorough);
      if (weighed_.empty()) return;
    }
    tie_ = rivals.has_tie(weighed_);
    confirm(rivals);
  }

  // Whether any was run: there may be no time left, or too many ended a process that starts slowly.
  bool observe_more(const std::vector<Case>& cases) {
    bool is_any = false;
    for (const Case& c : cases) {
      const std::int64_t before = examiner_.subject().deaths();
      if (!has_time_for(1) || slow_deaths_ >= most_deaths) break;
      seen_.push_back(observe(c, examiner_));
      seen_.back()->decisive = is_any = true;
      if (examiner_.subject().claims().starts_slowly()) slow_deaths_ += examiner_.subject().deaths() - before;
      throw_if_requested(stop_);
    }
    return is_any;
  }

  // Tries the best cause in cases that have little more in common than what it needs. If all go as it says under a
  // narrower condition, that is the condition.
  void confirm(Rivals& rivals) {
    const std::size_t before = seen_.size();
    for (int round = 0; round < rounds_of_confirming && weighed_[0].fit >= certain; ++round) {
      ScoredHypothesis& best = weighed_[0];
      if (!observe_more(rivals.confirming(best))) break;
      ScoredHypothesis again = scales_.weigh_again(best, seen_);
      is_confirmed_ = again.fit >= certain && again.contradicted == 0;
      if (!is_confirmed_) break;
      const bool is_settled = std::ranges::equal(again.condition, best.condition);
      best = std::move(again);
      if (is_settled) break;
    }
    further_ = seen_.size() - before;
    otherwise_ = std::count_if(seen_.begin() + static_cast<std::ptrdiff_t>(before), seen_.end(),
                               [&](const auto& one) { return !PredictedOutcome(*one, weighed_[0]).is_so(); });
  }

  // The plan was measured with one call. What it shows beside a certain cause is an effect of it: several bugs make
  // frequencies look other. So it says what both say.
  static void add_plan(const PlanDifference& plan, Diagnosis& result) {
    std::vector<std::string> agreed;
    for (const Difference& d : plan.found) {
      const bool agrees = !result.certain || !d.bug_class || *d.bug_class == result.candidates[0].bug_class;
      if (agrees) agreed.push_back(d.words);
    }
    if (agreed.empty()) return;
    result.plan.push_back(plan.asked);
    result.plan.insert(result.plan.end(), agreed.begin(), agreed.end());
    result.pairs = plan.pairs;
  }

  // Collects what requirements and answers say, the most telling first; and whether values can say anything.
  void gather_pointers() {
    pointers_ = from_requirements(report_, seen_, examiner_);
    if (auto answers = from_answers(report_, seen_)) add_answers(std::move(*answers));
    if (auto exceptions = from_exceptions(report_, seen_)) {
      raised_ = exceptions->candidate;
      add_answers(std::move(*exceptions));
    }
    if (repeated_ != Repeated::same) pointers_.insert(pointers_.begin(), cause_of(repeated_));
  }

  // If most calls end early, the requirements fail because of that. Then only the way they end is known.
  void add_answers(Pointer answers) {
    if (answers.candidate.fit < most_calls) {
      pointers_.push_back(std::move(answers));
      return;
    }
    std::erase_if(pointers_,
                  [&](const Pointer& other) { return !other.quoted.empty() && other.quoted == answers.quoted; });
    pointers_.insert(pointers_.begin(), std::move(answers));
  }

  // A race between two writers leaves whole rows unchanged. Anything else is a value that nobody set.
  Pointer cause_of(Repeated again) const {
    const bool rows_survive = std::any_of(weighed_.begin(), weighed_.end(), [](const ScoredHypothesis& w) {
      return w.hypothesis->unrotated && w.with == nullptr && w.explained > 0.9;
    });
    Pointer p{{BugClass::strides_memory_race, different_each_time, "", 1}, {}, ""};
    if (again == Repeated::changing) {
      p.candidate.bug_class = BugClass::table_cache;
      p.candidate.sentence = changed_by_each_call;
    } else if (rows_survive) {
      p.candidate.sentence = "some rows keep the input or old content, different rows each time: two writers race";
    }
    for (const RequirementResult& r : report_.results) {
      if (r.verdict == Verdict::fail) p.requirements.push_back(r.id);
    }
    return p;
  }

  bool is_by_value(const std::optional<Candidate>& by_angle) const {
    const double least_fit = std::max(by_angle ? by_angle->fit : worth_naming, raised_ ? raised_->fit : 0);
    return !weighed_.empty() && weighed_[0].fit >= least_fit && !decides_by_state();
  }

  // What the kernel does was measured where it fails, and the best cause fits less and predicts less than half of the
  // wrong rows.
  bool says_less_than(const std::optional<PlanDifference>& plan) const {
    const ScoredHypothesis& best = weighed_[0];
    const auto says_what = [](const Difference& d) { return d.bug_class && !d.is_open; };
    const bool says_little = best.fit < fit_of_a_plan && 2 * best.rows < best.all_rows;
    return plan && std::ranges::any_of(plan->found, says_what) && says_little;
  }

  Candidate candidate(const ScoredHypothesis& w) const {
    std::string sentence = w.hypothesis->sentence;
    if (w.with != nullptr) sentence += "; and " + w.with->sentence;
    if (is_of_large_positions(w) && w.hypothesis->bug_class != BugClass::precision) {
      sentence = "angles at large positions are inaccurate, as if " + sentence;
    }
    const double fit = std::max(w.fit, 0.0);
    if (!unusual_) return {class_of(w), sentence, words_of(w.condition), fit};
    Condition condition = w.condition;
    // A cause that explains everything implies by itself which inputs show it.
    if (w.fit < certain) condition.push_back({Circumstance::unusual_inputs});
    return {BugClass::special_values, sentence, words_of(condition), fit};
  }

  // Nobody wants to read about a much worse fit.
  static double least_beside(double best_fit) { return std::max(0.5 * best_fit, worth_a_line); }

  void name_causes(Diagnosis& result) const {
    const ScoredHypothesis& best = weighed_[0];
    for (const ScoredHypothesis& w : weighed_) {
      // Beside the cause of one rule, the same of several rules says less.
      if (w.hypothesis->several_rules && &w != &best) continue;
      if (w.fit >= least_beside(best.fit)) result.candidates.push_back(candidate(w));
    }
    if (raised_ && raised_->fit >= worth_a_line) result.candidates.insert(result.candidates.begin() + 1, *raised_);
    const BugClass first = result.candidates[0].bug_class;
    const bool tie = tie_ || std::any_of(result.candidates.begin(), result.candidates.end(), [&](const Candidate& c) {
                       return c.bug_class != first && c.fit >= best.fit - a_tie;
                     });
    keep_best(result);
    // Wrong rows outside of its condition: that is another condition, or the kernel has another fault as well. What
    // holds at one head, token or batch only says nothing of the others, and may follow from another rule.
    const bool is_of_one_place = std::ranges::any_of(best.condition, &Literal::names_one_place);
    result.certain = best.fit >= certain && is_confirmed_ && !tie && best.rows_outside == 0 && !is_of_one_place &&
                     !Rivals::has_open_limit(best) && !has_gap(best.condition, seen_);
    result.evidence = evidence_for(best);
    if (!result.certain && otherwise_ > 0) {
      result.evidence += fmt::format("; {} of {} cases drawn to test it went otherwise", otherwise_, further_);
    }
  }

  static std::string evidence_for(const ScoredHypothesis& cause) {
    if (cause.rows == 0) {
      return fmt::format("predicts where {} of {} calls leave their tensors, and {} right rows", cause.ends,
                         cause.all_ends, cause.right_rows);
    }
    return fmt::format("predicts {} of {} wrong rows in {} cases, and {} right rows", cause.rows, cause.all_rows,
                       cause.cases, cause.right_rows);
  }

  static void keep_best(Diagnosis& result) {
    if (result.candidates.size() > most_candidates) result.candidates.resize(most_candidates);
  }

  void explain_requirements(Diagnosis& result) const {
    for (const RequirementResult& r : report_.results) {
      if (r.verdict != Verdict::fail || !r.failure) continue;
      const std::optional<bool> explained = is_explained(r.failure->minimal, weighed_[0]);
      if (explained) (*explained ? result.explained : result.unexplained).push_back(r.id);
    }
  }

  // Whether a failing case is as a cause says. Nullopt if the case was not run again, as golden cases are not, or if
  // its values hold in that run.
  std::optional<bool> is_explained(Case c, const ScoredHypothesis& cause) const {
    c.requirement = "ROT-01";
    const std::string text = to_text(c);
    const auto found =
        std::find_if(seen_.begin(), seen_.end(), [&](const auto& s) { return s->answered() && to_text(s->c) == text; });
    if (found == seen_.end() || !(*found)->failed()) return std::nullopt;
    return PredictedOutcome(**found, cause).is_so();
  }

  void name_by_other_evidence(const std::optional<PlanDifference>& plan, const std::optional<Candidate>& by_angle,
                              Diagnosis& result) {
    std::stable_partition(pointers_.begin(), pointers_.end(),
                          [](const Pointer& p) { return p.candidate.fit >= nearly_all; });
    for (const Pointer& p : pointers_) result.candidates.push_back(p.candidate);
    if (!decides_by_state() || pointers_.empty()) {
      for (const ScoredHypothesis& w : weighed_) result.candidates.push_back(candidate(w));
    }
    const std::optional<Appearance> appearance = appearance_of(seen_, plan, by_angle);
    const bool by_appearance = appearance && !decides_by_state() && !is_of_one_kind(*appearance);
    if (by_appearance) result.candidates.insert(result.candidates.begin(), appearance->candidate);
    if (!result.candidates.empty()) {
      const double least = least_beside(result.candidates[0].fit);
      const auto others = std::remove_if(result.candidates.begin() + 1, result.candidates.end(),
                                         [&](const Candidate& c) { return c.fit < least; });
      result.candidates.erase(others, result.candidates.end());
    }
    keep_best(result);
    if (!by_appearance && !pointers_.empty()) account_for(pointers_[0], result);
  }

  // Wrong values make nearly every requirement fail. So which ones fail says less than how the values look, unless only
  // requirements of one kind fail.
  bool is_of_one_kind(const Appearance& appearance) const {
    if (pointers_.empty()) return false;
    double share = 0;  // of the failing requirements
    for (const Pointer& p : pointers_) {
      if (p.candidate.bug_class == pointers_[0].candidate.bug_class) share += p.candidate.fit;
    }
    return share >= nearly_all && !appearance.overrules(pointers_[0].candidate);
  }

  // Lists the requirements whose failure is explained by a cause from other evidence, the first candidate.
  void account_for(const Pointer& pointer, Diagnosis& result) const {
    for (const RequirementResult& r : report_.results) {
      if (r.verdict != Verdict::fail) continue;
      const auto& named = pointer.requirements;
      const bool is_named = state_ || std::find(named.begin(), named.end(), r.id) != named.end();
      (is_named ? result.explained : result.unexplained).push_back(r.id);
    }
    if (!result.explained.empty()) result.evidence = fmt::format("failed: {}", fmt::join(result.explained, ", "));
    result.certain = result.unexplained.empty() && !pointer.is_guess;
    // What explains them all has no failed requirement left open, whichever requirement showed it.
    if (result.unexplained.empty() && !result.candidates.empty()) result.candidates[0].fit = 1;
  }

  // Whether the case makes the calls itself that it needs. Then each try starts a process, which must be quick.
  bool is_replayable(const Failure& failure) {
    if (failure.minimal.before.empty()) return !failure.needs_earlier_calls;
    return !examiner_.subject().claims().starts_slowly();
  }

  // For the first failing requirement whose failure shows in a single case.
  std::optional<Trigger> trigger() {
    for (const RequirementResult& r : report_.results) {
      if (r.verdict != Verdict::fail || !r.failure) continue;
      const Failure& failure = *r.failure;
      const FailureKind kind = failure.finding.kind;
      const bool quick = kind != FailureKind::timeout && kind != FailureKind::crash;
      if (!quick || !is_replayable(failure) || !failure.minimal.golden.empty()) continue;
      if (failure.minimal.fault != Fault::none) continue;
      return isolate(failure.minimal, examiner_);
    }
    return std::nullopt;
  }

  const SubjectReport& report_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  const Stop* stop_;
  HypothesisRanking scales_;
  Examiner examiner_;
  Observations seen_;
  std::vector<ScoredHypothesis> weighed_;   // hypotheses, best first
  std::vector<Pointer> pointers_;  // causes from other evidence than values
  std::optional<Candidate> raised_;
  bool unusual_ = false;                          // all failures have inputs of an unusual size
  bool tie_ = false;                              // another cause fits as well as the best
  bool is_confirmed_ = true;                      // nothing that was seen speaks against the best cause
  std::size_t further_ = 0;                       // cases to confirm it
  std::int64_t otherwise_ = 0, slow_deaths_ = 0;  // of these that it does not predict; of slow processes
  Repeated repeated_ = Repeated::same;
  bool state_ = false;  // earlier calls decide
};

}  // namespace

std::optional<Diagnosis> diagnose(const SubjectReport& report, Subject& subject, Oracles& oracles,
                                  const Manifest* golden, std::optional<std::chrono::steady_clock::time_point> end,
                                  const Stop* stop) {
  if (report.count(Verdict::fail) == 0) return std::nullopt;
  return Diagnosing(report, subject, oracles, golden, end, stop).run();
}

}  // namespace rope::diagnosis
