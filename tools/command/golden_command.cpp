#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/output_options.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/command/report_files.hpp"
#include "tools/command/subjects.hpp"
#include "tools/judge/run/golden_report.hpp"
#include "tools/judge/verdict/source_use.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/golden_json.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/words.hpp"
#include "tools/worker/client/program_files.hpp"

namespace rope {
namespace {

// Python does the rest in its own virtual environment. It replaces this process, so its progress, its interrupts and
// its exit code are the command's.
int regenerate(const std::vector<std::string>& arguments) {
  const std::string script = program_file("golden/regenerate/bootstrap.py").string();
  if (std::error_code absent; !std::filesystem::exists(script, absent)) {
    throw InputError(fmt::format(
        "golden regenerate: {} is missing: only a checkout of ropecheck holds the programs that make golden files; "
        "clone it and run tools/run golden regenerate there",
        script));
  }
  std::vector<std::string> words{"python3", script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  throw InputError(fmt::format("golden regenerate: python3 cannot be started: {}", std::strerror(errno)));
}

Manifest needed_golden() {
  std::optional<Manifest> golden = find_golden();
  if (!golden) throw InputError("no golden files were found; set ROPECHECK_GOLDEN to their folder");
  return std::move(*golden);
}

int check_files() {
  Manifest golden = needed_golden();
  const std::size_t arrays = load_all(golden);
  print_text(stdout, "{}, {} in {}: all as the manifest says\n", counted(std::ssize(golden.cases), "case"),
             counted(static_cast<std::int64_t>(arrays), "array"), golden.folder.string());
  return exit_conforms;
}

struct VerifyGoldenOptions {
  std::vector<std::string> subjects;
  std::string only;
  bool list = false;
  PythonOptions python;
  TimeLimit time_limit;
  SandboxOptions sandbox;
  JsonAndHtml reports{"all that is known; tools/report/golden_report.schema.json"};
};

std::string_view shown(GoldenVerdict verdict) { return verdict == GoldenVerdict::fail ? "FAIL" : name(verdict); }

void print(std::FILE* text, const GoldenReport& report, bool list) {
  print_text(text, "{}\n", report.subject);
  for (const GoldenOutcome& o : report.outcomes) {
    if (list || o.verdict == GoldenVerdict::fail) {
      print_text(text, "  {:<40} {:<19} {}{}{}\n", o.id, golden_source_words(o.source), shown(o.verdict), o.not_claimed.empty() ? "" : ": ",
                 o.not_claimed);
    }
    if (o.verdict == GoldenVerdict::fail)
      print_text(text, "{}{}", finding_lines(o.finding, o.c), replay_line(o.c, report.subject));
  }
  for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    print_text(text, "  from {:<19} {:>3} bit for bit, {:>3} within the bound, {:>3} failed, {:>3} not claimed\n",
               golden_source_words(source), report.count(source, GoldenVerdict::identical),
               report.count(source, GoldenVerdict::within_bound), report.count(source, GoldenVerdict::fail),
               report.count(source, GoldenVerdict::not_claimed));
  }
  const std::size_t failed = report.count(GoldenVerdict::fail);
  print_text(text, "  {}: {} ran, {} passed, {} failed, {} not claimed; {} golden cases are beyond the contract\n",
             report.subject, report.executed(), report.executed() - failed, failed,
             report.count(GoldenVerdict::not_claimed), report.inexpressible);
}

int verify_sources() {
  const Manifest golden = needed_golden();
  Oracles oracles;
  int code = exit_conforms;
  for (const SourceUse& use : judge_sources(golden, oracles)) {
    if (use.grade.empty()) code = exit_fails;
    print_text(stdout, "{:<22} {:<4} from {:<19} {:>3} cases  {:<8}  {:.2f} of its bound used, by {}\n", use.package,
               name(use.dtype), golden_source_words(use.source), use.cases, use.grade.empty() ? "NO GRADE" : "grade " + use.grade,
               use.use, use.worst);
  }
  return code;
}

int verify_golden_cases(const VerifyGoldenOptions& options) {
  const Manifest golden = needed_golden();
  const auto chosen = [&](const GoldenCase& c) { return c.id.starts_with(options.only); };
  if (std::none_of(golden.cases.begin(), golden.cases.end(), chosen)) {
    throw InputError(
        fmt::format("--only: no golden case begins with \"{}\"; see ropecheck list goldens", options.only));
  }
  WorkerOptions worker;
  options.sandbox.apply_to(worker, options.reports.folders());
  options.reports.check();
  const Stop& stop = options.time_limit.start();
  worker.stop = &stop;
  std::FILE* text = options.reports.on_stdout() ? stderr : stdout;
  const RunReport begun = begun_run(ROPECHECK_VERSION);
  std::vector<GoldenReport> reports;
  Oracles oracles;
  int code = exit_conforms;
  bool is_cut_short = false;
  const auto write = [&](bool interrupted) {
    if (options.reports.wanted()) options.reports.write(golden_json(reports, begun, interrupted));
  };
  try {
    ExpandedSubjects expanded = expand_subjects(options.python.named(options.subjects), worker);
    tell_refused(expanded.refused);
    const Open open = [&](const std::string& name) { return open_subject(name, worker); };
    for (const ExpandedSubject& one : expanded.subjects) {
      const std::unique_ptr<Subject> subject = open_or_refuse(one, open, expanded.refused);
      if (!subject) continue;
      ProgressLine progress(can_show_progress());
      reports.push_back(verify_golden(
          *subject, oracles, golden_requirements(), golden, options.only,
          [&](const GoldenOutcome& outcome) { progress.show(fmt::format("{}  {}", one.name, outcome.id)); }, worker.stop));
      progress.clear();
      const GoldenReport& report = reports.back();
      print(text, report, options.list);
      if (report.count(GoldenVerdict::fail) > 0) code = exit_fails;
      is_cut_short = is_cut_short || report.interrupted;
      if (!report.ended_by.empty()) print_text(text, "  ended early: {}\n", report.ended_by);
      throw_if_requested(&stop);
      if (code != exit_fails && report.executed() == 0) code = exit_bad_input;
    }
    code = with_refused(code, expanded.refused);
  } catch (const Interrupted&) {
    print_text(text, "{}: not every case was judged\n", options.time_limit.words(stop));
    is_cut_short = true;
  } catch (const std::exception& error) {
    if (reports.empty()) throw;
    print_text(stderr, "ropecheck: {}\n", error.what());
    is_cut_short = true;
  }
  write(is_cut_short);
  return is_cut_short && code != exit_fails ? int{exit_incomplete} : code;
}

}  // namespace

Action add_golden(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("golden", "The golden files: check them, judge kernels by them, or make them again");
  command->require_subcommand(1);
  CLI::App* files = command->add_subcommand("check-files", "Check every file against the manifest");
  auto options = std::make_shared<VerifyGoldenOptions>();
  CLI::App* kernels = command->add_subcommand(
      "verify", "Every golden case on a kernel: from stored tables, stored frequencies, and base and scaling");
  kernels
      ->add_option(
          "subjects", options->subjects,
          "built-in, lib.so, lib.so#kernel, python:package.module:function or \"cmd:PROGRAM ARGUMENTS\"; default: "
          "every built-in")
      ->type_name(kinds::subject);
  kernels->add_option("--only", options->only, "cases whose id begins so, for example labml/");
  kernels->add_flag("--list", options->list, "a line for every case, not only for failures");
  options->time_limit.add_to(*kernels);
  options->python.add_to(*kernels);
  options->sandbox.add_to(*kernels);
  options->reports.add_to(*kernels);
  CLI::App* sources = command->add_subcommand(
      "sources", "What the sources computed against our bounds: which grade each has, and how much of it is used");
  CLI::App* again = command->add_subcommand("regenerate",
                                            "Run the real packages again (needs Python; makes its own "
                                            "environment); --check compares instead of writing");
  again->allow_extras();
  again->prefix_command();
  again->set_help_flag();
  return [=]() -> int {
    if (files->parsed()) return check_files();
    if (sources->parsed()) return verify_sources();
    if (kernels->parsed()) return verify_golden_cases(*options);
    if (again->parsed()) return regenerate(again->remaining());
    return -1;
  };
}

}  // namespace rope
