#include <fmt/format.h>

#include <chrono>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/callable_subject.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/cpu_count.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/demand_options.hpp"
#include "tools/command/expected_failures_options.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/output_options.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/report_options.hpp"
#include "tools/command/sanitizer_options.hpp"
#include "tools/command/selection_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/diagnose/diagnose.hpp"
#include "tools/judge/run/conforms_without.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

constexpr double share_of_diagnosis = 1.0 / 3;  // of a budget, if something fails

struct VerifyOptions {
  std::vector<std::string> subjects;
  SelectionOptions selection{"full"};
  DeadlineOptions deadlines;
  SanitizerOptions sanitizer;
  PythonOptions python;
  std::vector<std::string> require;
  bool fail_fast = false;
  std::size_t jobs = 0;  // 0: as many as there are CPUs
  std::optional<double> budget;  // seconds
  bool no_diagnosis = false;
  ExpectedFailuresOptions expected_failures;
  OutputOptions output;
  ReportOptions reports;
};

int exit_code_of(const std::vector<SubjectReport>& reports) {
  int code = exit_conforms;
  for (const SubjectReport& report : reports) {
    if (report.count(Verdict::fail) + report.count(Verdict::unexpected_pass) > 0) return exit_fails;
    if (report.interrupted || report.left_out() > 0) code = exit_incomplete;
    if (!report.interrupted && report.executed() == 0) code = std::max<int>(code, exit_bad_input);
  }
  return code;
}

struct CallableSubjects {
  std::vector<std::string> names;
  std::vector<RefusedSubject> refused;
  bool are_known = false;  // each was opened
};

// Calls all of them before the first is judged: a typo in the last name should not cost the wait for the others. A kernel
// of a whole library is refused, and the others are judged.
CallableSubjects callable_subjects(const std::vector<std::string>& names, const WorkerOptions& worker,
                                   Oracles& oracles, const Selection& selection) {
  ExpandedSubjects expanded = expand_subjects(names, worker);
  CallableSubjects callable{{}, std::move(expanded.refused), expanded.subjects.size() > 1};
  for (const ExpandedSubject& subject : expanded.subjects) {
    try {
      if (callable.are_known) open_callable(subject.name, worker, oracles, selection);
      callable.names.push_back(subject.name);
    } catch (const SubjectError& error) {
      if (!subject.is_of_whole_library) throw;
      callable.refused.push_back({subject.name, error.what()});
    }
  }
  if (callable.names.empty()) throw SubjectError(callable.refused.front().why);
  return callable;
}

void diagnose(SubjectReport& report, const JudgedCases& judged, Subject& subject, Oracles& oracles,
              SuiteOptions suite) try {
  std::optional<std::chrono::steady_clock::time_point> end;
  if (suite.budget) {
    suite.budget->time *= share_of_diagnosis;
    end = std::chrono::steady_clock::now() +
          std::chrono::duration_cast<std::chrono::steady_clock::duration>(suite.budget->time);
    suite.budget->time *= 0.5;
  }
  report.conforms_without = conforms_without(report, judged, subject, oracles, all_requirements(), suite);
  report.diagnosis = diagnosis::diagnose(report, subject, oracles, suite.golden, end);
} catch (const Interrupted&) {
  report.interrupted = true;
}

SubjectReport judge(Subject& subject, Oracles& oracles, SuiteOptions suite, const VerifyOptions& options) {
  ProgressLine progress(options.output.shows_progress());
  const auto start = std::chrono::steady_clock::now();
  suite.progress = [&](const Progress& at) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    progress.show(fmt::format("[{}/{}] {}  {}  {} cases{}", at.index + 1, at.count, subject.name(), at.requirement.id,
                              at.requirement.cases, time_left(elapsed.count(), at.cases, at.all_cases)));
  };
  JudgedCases judged;
  if (!options.no_diagnosis) suite.after_case = [&](const Case& c, bool passed) { judged.note(c, passed); };
  SubjectReport report = run_suite(subject, oracles, all_requirements(), suite);
  if (!options.no_diagnosis && !report.interrupted) {
    progress.show(fmt::format("{}  looking for what it computes instead", subject.name()));
    diagnose(report, judged, subject, oracles, suite);
  }
  progress.clear();
  return report;
}

// What is left when the first `judged` runs are done: each subject has one for each selection.
std::vector<std::string> titles_from(std::size_t judged, const std::vector<std::string>& subjects,
                                     const std::vector<Selection>& selections) {
  std::vector<std::string> titles;
  for (const std::string& subject : subjects) {
    for (const Selection& selection : selections) titles.push_back(title_of(subject, selection));
  }
  titles.erase(titles.begin(), titles.begin() + static_cast<std::ptrdiff_t>(judged));
  return titles;
}

int verify(const VerifyOptions& options) {
  std::vector<Selection> selections = options.selection.selections();
  for (Selection& selection : selections) demand(options.require, selection);
  const std::optional<Manifest> golden = find_golden();
  if (golden) check_arrays(*golden);  // now, not when GLD's turn comes after everything else
  const ExpectedFailures expected = options.expected_failures.list(options.fail_fast);
  options.reports.check();
  std::FILE* text = options.reports.on_stdout() ? stderr : stdout;
  const Stop& stop = stop_on_signal();

  if (const std::optional<ModelConfig>& model = options.selection.model()) {
    for (const std::string& sentence : model->assumed) fmt::print(text, "{}\n", sentence);
  }
  WorkerOptions worker = options.deadlines.worker_options();
  options.sanitizer.apply_to(worker);
  worker.stop = &stop;
  Oracles oracles;
  RunReport run = begun_run(ROPECHECK_VERSION);
  std::vector<std::string> subjects = options.python.named(options.subjects);  // until their libraries are looked into
  try {
    const CallableSubjects callable = callable_subjects(subjects, worker, oracles, selections.front());
    subjects = callable.names;
    run.refused = callable.refused;
    tell_refused(run.refused);
    std::vector<std::string> named = subjects;
    for (const RefusedSubject& one : run.refused) named.push_back(one.subject);
    expected.check_subjects(named, selections);
    for (const std::string& name : subjects) {
      throw_if_requested(&stop);
      const std::unique_ptr<Subject> subject =
          callable.are_known ? open_subject(name, worker) : open_callable(name, worker, oracles, selections.front());
      for (const Selection& selection : selections) {
        throw_if_requested(&stop);
        SuiteOptions suite;
        suite.selection = selection;
        suite.golden = golden ? &*golden : nullptr;
        suite.stop = &stop;
        suite.fail_fast = options.fail_fast;
        suite.jobs = options.jobs > 0 ? options.jobs : cpu_count();
        suite.expected_failures = expected.of(name, selection);
        if (options.budget) {
          suite.budget = {std::chrono::duration<double>(*options.budget), options.no_diagnosis ? 0 : share_of_diagnosis,
                          most_telling_first()};
        }
        run.subjects.push_back(judge(*subject, oracles, suite, options));
        fmt::print(text, "{}", terminal_report(run.subjects.back(), options.output.style(text)));
        std::fflush(text);
      }
    }
  } catch (const Interrupted&) {
    run.not_judged = titles_from(run.subjects.size(), subjects, selections);
  }
  if (!golden) {
    fmt::print(text, "no golden files were found, so GLD was not run; set ROPECHECK_GOLDEN to their folder\n");
  }
  options.reports.write(run);
  options.expected_failures.write(expected, run, text);
  const int code = with_refused(exit_code_of(run.subjects), run.refused);
  if (run.not_judged.empty() || code == exit_fails) return code;
  const std::size_t judged = run.subjects.size();
  fmt::print(text, "interrupted: {} of {} subjects were judged\n", judged, judged + run.not_judged.size());
  return exit_incomplete;
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify",
      "Judge subjects: built-ins by name, any shared library that exports rope_kernel.h, functions in Python, or any "
      "program that speaks tools/worker/protocol/PROTOCOL.md");
  command
      ->add_option(
          "subjects", options->subjects,
          "built-in, lib.so, lib.so#kernel, python:package.module:function or \"cmd:PROGRAM ARGUMENTS\"; default: "
          "every built-in")
      ->type_name(kinds::subject);
  options->selection.add_to(*command);
  options->deadlines.add_to(*command);
  options->sanitizer.add_to(*command);
  options->python.add_to(*command);
  takes_list_of(command->add_option("--require", options->require, demand_help()), kinds::demand);
  command->add_flag("--fail-fast", options->fail_fast, "stop after the first requirement that fails");
  command
      ->add_option("--jobs", options->jobs,
                   "how many requirements are judged at once, on a CPU each; the report is the same for every number; "
                   "default: as many as there are CPUs, at most 4")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  takes_seconds(command->add_option("--budget", options->budget,
                                    "judge each subject for that long: what finds most comes first, the report says "
                                    "what was left out, and if nothing fails the exit code is then 4"),
                "a budget")
      ->type_name("SECONDS");
  command->add_flag("--no-diagnosis", options->no_diagnosis, "do not look for what a failing kernel computes instead");
  options->expected_failures.add_to(*command);
  options->output.add_to(*command);
  options->reports.add_to(*command);
  return [options, command]() -> int { return command->parsed() ? verify(*options) : -1; };
}

}  // namespace rope
