#include <CLI/CLI.hpp>
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
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/report_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/command/sanitizer_options.hpp"
#include "tools/command/selection_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/diagnose/diagnose.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/judge/run/conforms_without.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/orphans.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

constexpr double share_of_diagnosis = 1.0 / 3;  // of a budget, if something fails

struct VerifyOptions {
  std::vector<std::string> subjects;
  SelectionOptions selection{"full"};
  DeadlineOptions deadlines;
  TimeLimit time_limit;
  SanitizerOptions sanitizer;
  SandboxOptions sandbox;
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

// Calls all of them before the first is judged, so that a slip in the last name is told at once. What cannot be started
// is refused.
CallableSubjects callable_subjects(const std::vector<std::string>& names, const WorkerOptions& worker,
                                   Oracles& oracles, const Selection& selection) {
  ExpandedSubjects expanded = expand_subjects(names, worker);
  tell_refused(expanded.refused);
  CallableSubjects callable{{}, std::move(expanded.refused), expanded.subjects.size() > 1};
  const Open open = [&](const std::string& name) { return open_callable(name, worker, oracles, selection); };
  for (const ExpandedSubject& subject : expanded.subjects) {
    if (!callable.are_known || open_or_refuse(subject, open, callable.refused)) callable.names.push_back(subject.name);
  }
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
  report.diagnosis = diagnosis::diagnose(report, subject, oracles, suite.golden, end, suite.stop);
} catch (const Interrupted&) {
  report.interrupted = true;
} catch (const std::exception& error) {
  report.interrupted = true;
  report.ended_by = fmt::format("no diagnosis: {}", error.what());
}

SubjectReport judge(Subject& subject, Oracles& oracles, SuiteOptions suite, const VerifyOptions& options,
                    const Stop& stop) {
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
  if (!options.no_diagnosis && !report.interrupted && !report.fails_only_by_lack_of_support()) {
    progress.show(fmt::format("{}  looking for what it computes instead", subject.name()));
    diagnose(report, judged, subject, oracles, suite);
  }
  progress.clear();
  if (report.interrupted && report.ended_by.empty()) report.ended_by = options.time_limit.ended_by(stop);
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

// One run: what is judged, and what came of it until now.
class VerifyRun {
 public:
  explicit VerifyRun(const VerifyOptions& options) : options_(options) {
    run_.time_limit = options.time_limit.seconds();
  }

  int exit_code() {
    for (Selection& selection : selections_) demand(options_.require, selection);
    if (golden_) load_all(*golden_);  // now, not when GLD's turn comes after everything else
    if (const std::optional<ModelConfig>& model = options_.selection.model()) {
      for (const std::string& sentence : model->assumed) print_text(text_, "{}\n", sentence);
    }
    try {
      judge_all();
    } catch (const Interrupted&) {
      run_.not_judged = titles_from(run_.subjects.size(), subjects_, selections_);
    } catch (const SubjectError& error) {
      // The only subject. Who reads the reports would else take a missing one for none that was wanted.
      run_.refused.push_back({subjects_.front(), error.what()});
      options_.reports.write(run_);
      throw;
    }
    if (!golden_) {
      print_text(text_, "no golden files were found, so GLD was not run; set ROPECHECK_GOLDEN to their folder\n");
    }
    worker::end_strangers();
    run_.sandbox = sandbox_words(worker_);
    if (options_.output.verbose() && run_.sandbox) print_text(text_, "{}", sentences(*run_.sandbox));
    options_.reports.write(run_);
    options_.expected_failures.write(expected_, run_, text_);
    const int code = with_refused(exit_code_of(run_.subjects), run_.refused);
    if (run_.not_judged.empty()) return code;
    const std::size_t judged = run_.subjects.size();
    print_text(text_, "{}: {} of {} subjects were judged\n", options_.time_limit.words(stop_), judged,
               judged + run_.not_judged.size());
    return code == exit_fails ? exit_fails : exit_incomplete;
  }

 private:
  void judge_all() {
    options_.sanitizer.apply_to(worker_);
    options_.sandbox.apply_to(worker_, options_.reports.folders());
    worker_.stop = &stop_;
    const CallableSubjects callable = callable_subjects(subjects_, worker_, oracles_, selections_.front());
    subjects_ = callable.names;
    run_.refused = callable.refused;
    std::vector<std::string> named = subjects_;
    for (const RefusedSubject& one : run_.refused) named.push_back(one.subject);
    expected_.check_subjects(named, selections_);
    for (const std::string& name : subjects_) judge_or_refuse(name, callable.are_known);
  }

  // An error that is not the kernel's must not lose what was judged before it, nor keep later subjects from their turn.
  void judge_or_refuse(const std::string& name, bool is_known) try {
    throw_if_requested(&stop_);
    const std::unique_ptr<Subject> subject =
        is_known ? open_subject(name, worker_) : open_callable(name, worker_, oracles_, selections_.front());
    for (const Selection& selection : selections_) {
      throw_if_requested(&stop_);
      run_.subjects.push_back(judge(*subject, oracles_, suite_for(name, selection), options_, stop_));
      print_last();
    }
  } catch (const BusyMachine& error) {
    run_.subjects.emplace_back();
    run_.subjects.back().subject = name;
    run_.subjects.back().selection = selections_.front();
    run_.subjects.back().interrupted = true;
    run_.subjects.back().ended_by = error.what();
    print_last();
  } catch (const SubjectError& error) {
    if (subjects_.size() == 1 && run_.subjects.empty() && run_.refused.empty()) throw;
    refuse(name, error.what());
  } catch (const std::exception& error) {
    if (run_.subjects.empty()) throw;
    refuse(name, error.what());
  }

  void print_last() const {
    print_text(text_, "{}", terminal_report(run_.subjects.back(), options_.output.style(text_)));
    std::fflush(text_);
  }

  void refuse(const std::string& name, const char* why) {
    run_.refused.push_back({name, why});
    tell_refused({run_.refused.back()});
  }

  SuiteOptions suite_for(const std::string& name, const Selection& selection) const {
    SuiteOptions suite;
    suite.selection = selection;
    suite.golden = golden_ ? &*golden_ : nullptr;
    suite.stop = &stop_;
    suite.fail_fast = options_.fail_fast;
    suite.jobs = options_.jobs > 0 ? options_.jobs : cpu_count();
    suite.expected_failures = expected_.of(name, selection);
    if (options_.budget) {
      suite.budget = {std::chrono::duration<double>(*options_.budget), options_.no_diagnosis ? 0 : share_of_diagnosis,
                      most_telling_first()};
    }
    return suite;
  }

  const VerifyOptions& options_;
  std::FILE* text_ = options_.reports.on_stdout() ? stderr : stdout;
  ExpectedFailures expected_ = options_.expected_failures.list(options_.fail_fast);
  std::vector<Selection> selections_ = options_.selection.selections();
  std::vector<std::string> subjects_ = options_.python.named(options_.subjects);  // until their libraries are looked into
  std::optional<Manifest> golden_ = find_golden();
  WorkerOptions worker_ = options_.deadlines.worker_options();
  Oracles oracles_;
  RunReport run_ = begun_run(ROPECHECK_VERSION);
  const Stop& stop_ = options_.time_limit.start();  // last: until now a signal ends the process, as nothing was judged
};

int verify(const VerifyOptions& options) {
  options.reports.check();
  return VerifyRun(options).exit_code();
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
  options->time_limit.add_to(*command);
  options->sanitizer.add_to(*command);
  options->sandbox.add_to(*command);
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
  options->output.add_verbose_to(*command,
                                 "every requirement and each failure by itself; and what the sandbox does and lacks");
  options->reports.add_to(*command);
  return [options, command]() -> int { return command->parsed() ? verify(*options) : -1; };
}

}  // namespace rope
