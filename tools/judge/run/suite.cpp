#include "tools/judge/run/suite.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <set>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/missing_claim.hpp"
#include "tools/judge/run/no_case.hpp"
#include "tools/judge/run/run_end.hpp"
#include "tools/judge/run/shrink.hpp"
#include "tools/judge/run/task.hpp"
#include "tools/judge/verdict/variants.hpp"

namespace rope {
namespace {

// A kernel that keeps dying or hanging costs seconds per case. After this many deaths a requirement is decided.
constexpr std::int64_t most_deaths = 3;

// What runs in one process of the kernel at a time, and what that has shown.
struct Lane {
  Subject* subject = nullptr;
  std::unique_ptr<Subject> opened;  // the first lane has the subject of the run
  bool is_closed = false;  // it could not be opened
  bool has_hung = false;
  bool has_died = false;
  bool is_spoiled = false;  // it served a wrong call, and may have written anywhere
  std::set<FailureKind> failed_alone;  // in a new process
};

class Run {
 public:
  Run(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements, const SuiteOptions& options)
      : subject_(subject),
        oracles_(oracles),
        requirements_(requirements),
        options_(options),
        clock_(options.budget),
        end_(options.stop) {}

  SubjectReport report() {
    const auto start = std::chrono::steady_clock::now();
    SubjectReport report;
    report.subject = subject_.name();
    report.selection = options_.selection;
    report.budget = options_.budget;
    list_tasks();
    clock_.start();  // what the cases are does not depend on the time
    judge_all();
    GradeUse uses;
    std::set<DType> failed;
    ClaimsSeen claims_seen;
    TriedCalls tried_calls;
    SupportSeen support;
    say_why_no_case(tasks_, subject_.claims(), options_, [&](const Task& task) { return is_dropped(task); });
    for (Task& task : tasks_) {
      if (task.begun || options_.budget) {
        claims_seen.add(task.claims_seen);
        tried_calls.add(task.tried_calls);
        support.add(task.result.id, task.result.failed, task.support);
        join(task, uses, failed, report);
      }
      if (task.index == last_) break;
    }
    report.grades = uses.measured(failed);
    report.permitted_variants = permitted_variants(subject_.claims());
    measure_along(report);
    judge_whole_run(report);
    const Claims& claims = subject_.claims();
    report.claims = claims_seen.of(claims);
    report.tried = tried_calls.of(claims);
    report.unsupported = support.of(claims);
    report.claims_note = subject_.claims_note();
    if (report.executed() == 0) report.missing_claim = missing_claim(claims, options_.selection);
    report.only_position_0 = claims.capabilities.max_position == 0;
    report.interrupted = stopped();
    if (report.executed() == 0) end_.throw_error();
    report.ended_by = end_.words();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  bool stopped() const { return end_.has_come(); }

  // Whether there is time for what is measured along with some requirements, and one of them was judged.
  bool measures(bool RunnerTraits::* along) const {
    return std::ranges::any_of(tasks_, [&](const Task& t) { return t.requirement.handling.*along; }) && last_ == none &&
           options_.cases == nullptr && !stopped() && !clock_.is_over();
  }

  Examiner examiner_of(Subject& subject, Oracles& oracles) const {
    return Examiner(subject, oracles, options_.golden, options_.selection.grade);
  }

  // Horizons, and heatmaps beside them, by a process of their own if there may be two.
  void measure_along(SubjectReport& report) {
    const bool wants_horizons = measures(&RunnerTraits::with_horizon);
    const bool hangs = std::ranges::any_of(report.results, &RequirementResult::hangs);  // it would hang again
    const bool wants_maps = measures(&RunnerTraits::with_heatmap) && !hangs;
    const std::int64_t most_calls = report.calls / 20;  // each has its own number of calls
    Lane second;
    const bool both =
        wants_horizons && wants_maps && processes() == Processes::several && is_open(second, lane_opener());
    Oracles oracles;
    Examiner one = examiner_of(subject_, oracles_);
    Examiner other = both ? examiner_of(*second.subject, oracles) : examiner_of(subject_, oracles_);
    run_lanes(both ? Lanes{{0}, {1}} : Lanes{{0, 1}}, options_.jobs, [&](std::size_t task, std::size_t, std::size_t) {
      if (task == 0 && wants_horizons) {
        report.horizons = measured([&] { return measure_horizons(one, options_.selection); });
      } else if (task == 1 && wants_maps) {
        report.heatmaps = measured([&] { return measure_heatmaps(other, options_.selection, most_calls); });
      }
    });
    report.calls += one.calls();
    report.recovered_hangs += one.recovered_hangs() + other.recovered_hangs();
  }

  // Empty if the run ends meanwhile.
  template <class Measure>
  auto measured(const Measure& measure) -> decltype(measure()) try {
    return measure();
  } catch (const Interrupted&) {
    return {};
  } catch (...) {
    end_.note_error(RunEnd::after_all_tasks);
    return {};
  }

  // Whether nobody wants the task's result any more, or has time for it.
  bool is_dropped(const Task& task) const { return end_.has_come_for(task.index) || task.index > last_; }
  bool is_over(const Task& task) const { return is_dropped(task) || clock_.is_over(); }

  // The run ends with this task: the results of later ones are dropped.
  void end_with(const Task& task) {
    std::size_t last = last_;
    while (task.index < last && !last_.compare_exchange_weak(last, task.index)) {
    }
  }

  // Makes all cases before the first is run, so that the total is known.
  void list_tasks() try {
    tasks_ = tasks_of(requirements_, options_.selection, options_.jobs,
                      [&](const Requirement& requirement) { return cases_of(requirement); });
    for (Task& task : tasks_) {
      note_left_out(task);
      all_cases_ += static_cast<std::int64_t>(task.cases.size());
    }
  } catch (const Interrupted&) {
    // There is nothing to judge.
  }

  std::vector<Case> cases_of(const Requirement& requirement) {
    if (options_.cases != nullptr) {
      std::vector<Case> chosen;
      std::copy_if(options_.cases->begin(), options_.cases->end(), std::back_inserter(chosen),
                   [&](const Case& c) { return c.requirement == requirement.id; });
      return chosen;
    }
    CaseList list(requirement.id, subject_.claims(), options_.selection, options_.golden, options_.stop);
    requirement.cases(list);
    return list.take();
  }

  // None if the run tells of each case before it: it can tell of one at a time.
  Opener lane_opener() const { return options_.before_case ? Opener() : subject_.opener(); }

  Processes processes() const {
    if (!lane_opener()) return Processes::one;
    return subject_.claims().starts_slowly() ? Processes::few : Processes::several;
  }

  // Lanes depend on the claims and the cases, not on the number of jobs: the report must not, either.
  void judge_all() {
    const Opener opener = lane_opener();
    const Lanes lanes = share_out(tasks_, processes(), options_.budget.has_value());
    std::vector<Turn> turns = options_.budget ? turns_of_budget(tasks_, *options_.budget) : turns_in_order(tasks_);
    const Lanes turns_of_lanes = turns_of(lanes, turns);
    std::vector<Lane> states(std::max<std::size_t>(lanes.size(), 1));
    states[0].subject = &subject_;
    // They only save work, so it does not matter which tasks share them.
    std::vector<Oracles> oracles(std::min(options_.jobs, lanes.size()));
    // More cases of a requirement that failed tell less than the first ones of others.
    for (const bool of_failed : {false, true}) {
      run_lanes(turns_of_lanes, options_.jobs, [&](std::size_t i, std::size_t lane, std::size_t thread) {
        Turn& turn = turns[i];
        Task& task = tasks_[turn.task];
        if (turn.is_done || is_over(task) || (task.result.failed > 0 && !of_failed)) return;
        if (is_open(states[lane], opener)) run(turn, task, states[lane], thread > 0 ? oracles[thread] : oracles_);
      });
    }
    for (Turn& turn : turns) {
      Task& task = tasks_[turn.task];
      if (!turn.is_done && !is_over(task)) run(turn, task, states[0], oracles_);
    }
  }

  // Opens the lane's subject before its first task. If it cannot be opened next to the others, its tasks wait for the
  // first lane.
  static bool is_open(Lane& lane, const Opener& opener) try {
    if (lane.subject == nullptr && !lane.is_closed) lane.opened = opener();
    if (lane.opened) lane.subject = lane.opened.get();
    return lane.subject != nullptr;
  } catch (const Interrupted&) {
    return false;
  } catch (const std::exception&) {
    lane.is_closed = true;
    return false;
  }

  void run(Turn& turn, Task& task, Lane& lane, Oracles& oracles) {
    Examiner examiner = examiner_of(*lane.subject, oracles);
    const bool asks_wrongly = task.requirement.handling.shown_by == ShownBy::status;
    try {
      turn.is_done = task.begun = true;
      // With a budget, turns of wrong and right calls alternate: a slow start each time would use it up.
      const bool renews = !asks_wrongly && !(options_.budget && subject_.claims().starts_slowly());
      if (lane.is_spoiled && renews) lane.is_spoiled = !lane.subject->renew();
      judge(turn, task, lane, examiner);
      lane.is_spoiled = lane.is_spoiled || (asks_wrongly && task.result.failed > 0);
    } catch (...) {
      end_.note_error(task.index);
    }
    lane.subject->give_back_memory();
    oracles.give_back_memory();
    task.claims_seen.add(std::span(task.cases).subspan(turn.begin, std::max(task.executed, turn.begin) - turn.begin));
    if (!options_.budget) give_back_cases(task);  // with one, the task may go on
    task.tried_calls.add(examiner.tried_calls());
    task.calls += examiner.calls();
    task.recovered_hangs += examiner.recovered_hangs();
    const bool fails = task.result.verdict == Verdict::fail;
    if (fails) clock_.note_failure();
    if (options_.fail_fast && fails) options_.budget ? clock_.end() : end_with(task);
  }

  static void join(Task& task, GradeUse& uses, std::set<DType>& failed, SubjectReport& report) {
    report.results.push_back(std::move(task.result));
    report.calls += task.calls;
    report.recovered_hangs += task.recovered_hangs;
    failed.merge(task.failed);
    uses.add(task.uses);
  }

  // Where the requirement's own cases passed, or failed as they may. Counted as one more failed case: the first.
  void judge_whole_run(SubjectReport& report) const {
    for (const Task& task : tasks_) {
      const Requirement& requirement = task.requirement;
      const auto result = std::ranges::find(report.results, requirement.id, &RequirementResult::id);
      if (requirement.in_run == nullptr || result == report.results.end() || result->cases == 0) continue;
      const Finding finding = requirement.in_run({report.calls, report.recovered_hangs});
      if (finding.passed() || result->failed > 0) continue;
      result->failed = 1;
      result->failure = Failure{task.cases.front(), finding, to_text(task.cases.front())};
      settle(requirement, *result);
    }
  }

  void settle(const Requirement& requirement, RequirementResult& result) const {
    if (result.cases > 0) result.verdict = Verdict::pass;
    if (result.failed > 0) {
      const bool decides = rope::decides(requirement, options_.selection.demands, subject_.claims());
      result.verdict = decides ? Verdict::fail : Verdict::note;
    }
    expect(result);
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
    if (result.verdict == Verdict::pass && !stopped() && result.undecided.empty() && result.left_out == 0)
      result.verdict = Verdict::unexpected_pass;
  }

  void note_left_out(Task& task) const {
    if (!options_.budget) return;
    task.result.left_out = static_cast<std::int64_t>(task.cases.size() - task.asked);
    if (task.result.left_out > 0 && task.result.cases == 0) task.result.verdict = Verdict::not_judged;
  }

  void judge(const Turn& turn, Task& task, Lane& lane, Examiner& examiner) {
    const auto start = std::chrono::steady_clock::now();
    const Requirement& requirement = task.requirement;
    RequirementResult& result = task.result;
    const std::int64_t cases_before = result.cases;
    const bool decides = rope::decides(requirement, options_.selection.demands, subject_.claims());
    try {
      judge_cases(turn, task, lane, examiner, decides);
    } catch (const Interrupted&) {
      // The case at hand has no result. Those before it do.
    } catch (...) {
      end_.note_error(task.index);
    }
    if (!task.cases.empty()) result.verdict = Verdict::not_judged;
    note_left_out(task);
    settle(requirement, result);
    result.kernel_seconds += examiner.kernel_seconds();
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::scoped_lock lock(progress_);
    // The cases that were left out or undecided.
    cases_ += static_cast<std::int64_t>(turn.end - turn.begin) - (result.cases - cases_before);
    if (turn.end == task.cases.size()) ++judged_;
  }

  void judge_cases(const Turn& turn, Task& task, Lane& lane, Examiner& examiner, bool decides) {
    const Requirement& requirement = task.requirement;
    RequirementResult& result = task.result;
    // An expected failure does not end the run, so there is time to shrink it.
    const bool goes_on = !options_.fail_fast || options_.expected_failures.contains(result.id);
    const bool shrinks = goes_on && options_.cases == nullptr && options_.shrinks;
    const bool slow = subject_.claims().starts_slowly();
    if (requirement.prepare != nullptr && !stopped()) requirement.prepare(task.cases, examiner);
    for (std::size_t i = turn.begin; i < turn.end; ++i) {
      const Case& c = task.cases[i];
      if (task.deaths >= most_deaths) task.asked = task.cases.size();  // it is decided
      if (is_over(task) || task.deaths >= most_deaths || (result.failed > 0 && !goes_on)) break;
      if (options_.before_case) options_.before_case(c);
      const Outcome outcome = outcome_of(requirement, c, examiner);
      task.asked = task.executed = i + 1;
      const Finding& finding = outcome.finding;
      if (!finding.decided) {
        if (result.undecided.empty()) result.undecided = finding.message;
        continue;
      }
      ++result.cases;
      result.note_position(c, finding);
      const bool lacks_support = task.support.note(c, finding, decides);
      if (options_.after_case && decides) options_.after_case(c, finding.passed());
      // Only MUSTs count for the grade: other cases may lie outside of every bound.
      if (requirement.is_must()) task.uses.add(c.dtype, finding);
      if (!result.worst || finding.use > result.worst->use) {
        result.worst = finding;
        result.worst_case = to_text(c);
      }
      if (!finding.passed()) {
        // Values that miss a demanded grade may hold at another: the user wants to know which. The measured grade
        // tells.
        const bool by_demand = options_.selection.grade != Grade{} && is_of_values(finding.kind);
        if (decides && !by_demand) task.failed.insert(c.dtype);
        const bool hangs = finding.kind == FailureKind::timeout;
        task.deaths += hangs || (slow && outcome.died) ? most_deaths : outcome.died ? 1 : 0;
        if (result.failed++ == 0 || (!lacks_support && result.failed == task.support.unsupported() + 1)) {
          const bool known = lacks_support || (hangs && lane.has_hung) || (slow && outcome.died && lane.has_died);
          const bool renews = !slow || !lane.failed_alone.contains(finding.kind) || requirement.handling.of_state;
          // Where a process is dear, only the first of those that die alike is repeated.
          const bool is_told = lacks_support || (known && (hangs || lane.failed_alone.contains(finding.kind)));
          result.failure = Failure{c, finding, to_text(c)};  // it was seen, whatever becomes of the subject next
          if (shrinks && !is_told) {
            result.failure = shrink(requirement, c, outcome, options_.selection,
                                    {!known, renews, clock_.end_of_shrinking()}, examiner);
          }
          const bool alone = shrinks && !lacks_support && renews && !requirement.handling.by_chance &&
                             c.fault == Fault::none && !result.failure->needs_earlier_calls &&
                             result.failure->held_again == 0;
          if (alone) lane.failed_alone.insert(finding.kind);
        }
        lane.has_hung = lane.has_hung || hangs;
        lane.has_died = lane.has_died || outcome.died;
      }
      show_progress(task);
    }
  }

  void show_progress(const Task& task) {
    const std::scoped_lock lock(progress_);
    ++cases_;
    if (options_.progress) options_.progress({task.result, judged_, tasks_.size(), cases_, all_cases_});
  }

  Subject& subject_;
  Oracles& oracles_;
  std::span<const Requirement> requirements_;
  const SuiteOptions& options_;
  BudgetClock clock_;
  RunEnd end_;
  std::vector<Task> tasks_;  // in the order of the requirements
  std::atomic<std::size_t> last_ = none;
  std::mutex progress_;  // for all below
  std::size_t judged_ = 0;
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
  return checked(requirement, c, examiner);
}

}  // namespace rope
