#include "tools/judge/run/suite.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <set>

#include "reference/input_error.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/missing_claim.hpp"
#include "tools/judge/run/lanes.hpp"
#include "tools/judge/run/shrink.hpp"
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

// How many processes of the kernel may share the requirements, and what a lane must cost to be worth its process.
constexpr std::size_t most_lanes = 4, most_slow_lanes = 2;
constexpr double least_cost_of_lane = 50, least_cost_of_slow_lane = 200;

// Roughly: a unit for the case, and one for each 2^14 elements.
double cost_of(std::span<const Case> cases) {
  double sum = 0;
  for (const Case& c : cases) {
    const double rows = double{1} * c.batch * c.seq * (c.heads + c.key_heads);
    sum += 1 + rows * c.spec.head_dim / (1 << 14);
  }
  return sum;
}

using GradeUse = std::map<DType, PerGrade<double>>;

void merge(PerGrade<double>& use, const PerGrade<double>& other) {
  for (std::size_t a = 0; a < angle_grades; ++a) {
    for (std::size_t w = 0; w < arithmetic_grades; ++w) use[a][w] = std::max(use[a][w], other[a][w]);
  }
}

void collect(GradeUse& uses, DType dtype, const Finding& finding) {
  if (finding.graded > 0) merge(uses[dtype], finding.use_by_grade);
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

// What runs in one process of the kernel at a time, and what that has shown.
struct Lane {
  Subject* subject = nullptr;
  std::unique_ptr<Subject> opened;  // the first lane has the subject of the run
  bool is_closed = false;  // it could not be opened
  bool has_hung = false;
  bool has_died = false;
  std::set<FailureKind> failed_alone;  // in a new process
};

// A requirement and its cases, and later what they gave.
struct Task {
  Requirement requirement;
  std::size_t index = 0;
  std::vector<Case> cases;
  bool begun = false;
  RequirementResult result;
  GradeUse uses;
  std::set<DType> failed;  // dtypes
  std::int64_t calls = 0;
  std::exception_ptr error;  // that ended the run
};

class Run {
 public:
  Run(Subject& subject, Oracles& oracles, std::span<const Requirement> requirements, const SuiteOptions& options)
      : subject_(subject), oracles_(oracles), requirements_(requirements), options_(options) {}

  SubjectReport report() {
    const auto start = std::chrono::steady_clock::now();
    SubjectReport report;
    report.subject = subject_.name();
    report.selection = options_.selection;
    list_tasks();
    judge_all();
    GradeUse uses;
    std::set<DType> failed;
    for (Task& task : tasks_) {
      if (task.error) std::rethrow_exception(task.error);
      if (task.begun) join(task, uses, failed, report);
      if (task.index == last_) break;
    }
    for (const auto& [dtype, use] : uses) {
      report.grades.push_back(failed.contains(dtype) ? MeasuredGrade{dtype, "", use.back().back()}
                                                     : measured(dtype, use));
    }
    report.permitted_variants = permitted_variants(subject_.claims());
    const bool wanted = std::ranges::any_of(tasks_, [](const Task& t) { return t.requirement.handling.with_horizon; });
    if (wanted && last_ == none && options_.cases == nullptr && !stopped()) {
      Examiner examiner(subject_, oracles_, options_.golden, options_.selection.grade);
      report.horizons = measure_horizons(examiner, options_.selection);
      report.calls += examiner.calls();
    }
    const Claims& claims = subject_.claims();
    report.claims_note = subject_.claims_note();
    if (report.executed() == 0) report.missing_claim = missing_claim(claims, options_.selection);
    report.only_position_0 = claims.capabilities.max_position == 0;
    report.interrupted = stopped();
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  bool stopped() const { return options_.stop != nullptr && *options_.stop; }

  // Whether nobody wants the task's result any more.
  bool is_over(const Task& task) const { return stopped() || task.index > last_; }

  // The run ends with this task: the results of later ones are dropped.
  void end_with(const Task& task) {
    std::size_t last = last_;
    while (task.index < last && !last_.compare_exchange_weak(last, task.index)) {
    }
  }

  // Makes all cases before the first is run, so that the total is known.
  void list_tasks() {
    for (const Requirement& requirement : requirements_) {
      if (stopped() || !options_.selection.wants(requirement.id)) continue;
      tasks_.push_back({requirement, tasks_.size(), cases_of(requirement), false, {}, {}, {}, 0, {}});
      all_cases_ += static_cast<std::int64_t>(tasks_.back().cases.size());
    }
  }

  std::vector<Case> cases_of(const Requirement& requirement) {
    if (options_.cases != nullptr) {
      std::vector<Case> chosen;
      std::copy_if(options_.cases->begin(), options_.cases->end(), std::back_inserter(chosen),
                   [&](const Case& c) { return c.requirement == requirement.id; });
      return chosen;
    }
    CaseList list(requirement.id, subject_.claims(), options_.selection, options_.golden);
    requirement.cases(list);
    return list.take();
  }

  // Lanes depend on the claims and the cases, not on the number of jobs: the report must not, either. What shows only
  // by chance runs last, by itself: a race needs CPUs that are free.
  void judge_all() {
    const Opener opener = options_.before_case ? Opener() : subject_.opener();  // it is told of one case at a time
    std::vector<std::size_t> shared;
    std::vector<double> costs;
    for (const Task& task : tasks_) {
      if (opener && task.requirement.handling.by_chance) continue;
      shared.push_back(task.index);
      costs.push_back(cost_of(task.cases));
    }
    const bool slow = starts_slowly(subject_.claims());
    const Lanes lanes = share_out(costs, !opener ? 1 : slow ? most_slow_lanes : most_lanes,
                                  slow ? least_cost_of_slow_lane : least_cost_of_lane);
    std::vector<Lane> states(std::max<std::size_t>(lanes.size(), 1));
    states[0].subject = &subject_;
    // They only save work, so it does not matter which tasks share them.
    std::vector<Oracles> oracles(std::min(options_.jobs, lanes.size()));
    run_lanes(lanes, options_.jobs, [&](std::size_t i, std::size_t lane, std::size_t thread) {
      Task& task = tasks_[shared[i]];
      if (is_over(task) || !is_open(states[lane], opener)) return;
      run(task, states[lane], thread > 0 ? oracles[thread] : oracles_);
    });
    for (Task& task : tasks_) {
      if (!task.begun && !is_over(task)) run(task, states[0], oracles_);
    }
  }

  // Opens the lane's subject before its first task. If it cannot be opened next to the others, its tasks wait for the
  // first lane.
  static bool is_open(Lane& lane, const Opener& opener) try {
    if (lane.subject == nullptr && !lane.is_closed) lane.opened = opener();
    if (lane.opened) lane.subject = lane.opened.get();
    return lane.subject != nullptr;
  } catch (const std::exception&) {
    lane.is_closed = true;
    return false;
  }

  void run(Task& task, Lane& lane, Oracles& oracles) {
    Examiner examiner(*lane.subject, oracles, options_.golden, options_.selection.grade);
    try {
      task.begun = true;
      judge(task, lane, examiner);
    } catch (...) {
      task.error = std::current_exception();
    }
    task.calls = examiner.calls();
    if (task.error || (options_.fail_fast && task.result.verdict == Verdict::fail)) end_with(task);
  }

  static void join(Task& task, GradeUse& uses, std::set<DType>& failed, SubjectReport& report) {
    report.results.push_back(std::move(task.result));
    report.calls += task.calls;
    failed.merge(task.failed);
    for (const auto& [dtype, use] : task.uses) merge(uses[dtype], use);
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

  void judge(Task& task, Lane& lane, Examiner& examiner) {
    const auto start = std::chrono::steady_clock::now();
    const double kernel_seconds = examiner.kernel_seconds();
    const Requirement& requirement = task.requirement;
    RequirementResult& result = task.result;
    result.id = requirement.id;
    result.sentence = requirement.sentence;
    result.is_must = requirement.is_must();
    const bool decides = rope::decides(requirement, options_.selection.demands, subject_.claims());
    // An expected failure does not end the run, so there is time to shrink it.
    const bool goes_on = !options_.fail_fast || options_.expected_failures.contains(result.id);
    const bool shrinks = goes_on && options_.cases == nullptr && options_.shrinks;
    const bool slow = starts_slowly(subject_.claims());
    std::int64_t deaths = 0;
    if (requirement.prepare != nullptr && !stopped()) requirement.prepare(task.cases, examiner);
    for (const Case& c : task.cases) {
      if (is_over(task) || deaths >= most_deaths || (result.failed > 0 && !goes_on)) break;
      if (options_.before_case) options_.before_case(c);
      const Outcome outcome = outcome_of(requirement, c, examiner);
      const Finding& finding = outcome.finding;
      if (!finding.decided) {
        if (result.undecided.empty()) result.undecided = finding.message;
        continue;
      }
      ++result.cases;
      if (options_.after_case && decides) options_.after_case(c, finding.passed());
      // Only MUSTs count for the grade: other cases may lie outside of every bound.
      if (requirement.is_must()) collect(task.uses, c.dtype, finding);
      if (!result.worst || finding.use > result.worst->use) {
        result.worst = finding;
        result.worst_case = to_text(c);
      }
      if (!finding.passed()) {
        // Values that miss a demanded grade may hold at another: the user wants to know which. The measured grade tells.
        const bool by_demand = options_.selection.grade != Grade{} && is_of_values(finding.kind);
        if (decides && !by_demand) task.failed.insert(c.dtype);
        const bool hangs = finding.kind == FailureKind::timeout;
        deaths += hangs || (slow && outcome.died) ? most_deaths : outcome.died ? 1 : 0;
        if (result.failed++ == 0) {
          const bool known = (hangs && lane.has_hung) || (slow && outcome.died && lane.has_died);
          const bool renews = !slow || !lane.failed_alone.contains(finding.kind) || requirement.handling.of_state;
          result.failure = shrinks && !known ? shrink(requirement, c, outcome, options_.selection, renews, examiner)
                                             : Failure{c, finding, to_text(c)};
          const bool alone = shrinks && renews && !requirement.handling.by_chance && c.fault == Fault::none &&
                             !result.failure->needs_earlier_calls;
          if (alone) lane.failed_alone.insert(finding.kind);
        }
        lane.has_hung = lane.has_hung || hangs;
        lane.has_died = lane.has_died || outcome.died;
      }
      show_progress(task);
    }
    if (result.cases > 0) result.verdict = Verdict::pass;
    if (result.failed > 0) result.verdict = decides ? Verdict::fail : Verdict::note;
    expect(result);
    result.kernel_seconds = examiner.kernel_seconds() - kernel_seconds;
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::scoped_lock lock(progress_);
    cases_ += static_cast<std::int64_t>(task.cases.size()) - result.cases;  // the cases that were left out or undecided
    ++judged_;
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
