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
#include "tools/command/python_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/judge/run/golden_report.hpp"
#include "tools/judge/verdict/source_use.hpp"
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
  const Manifest golden = needed_golden();
  const std::size_t arrays = check_arrays(golden);
  fmt::print("{}, {} in {}: all as the manifest says\n", counted(std::ssize(golden.cases), "case"),
             counted(static_cast<std::int64_t>(arrays), "array"), golden.folder.string());
  return exit_conforms;
}

struct VerifyGoldenOptions {
  std::vector<std::string> subjects;
  std::string only;
  bool list = false;
  PythonOptions python;
};

std::string_view word(GoldenVerdict verdict) {
  switch (verdict) {
    case GoldenVerdict::identical: return "bit for bit";
    case GoldenVerdict::within_bound: return "within bound";
    case GoldenVerdict::fail: return "FAIL";
    case GoldenVerdict::not_claimed: return "not claimed";
  }
  return "";
}

// Where a call's angles came from, in words.
std::string_view word(AngleSource source) {
  switch (source) {
    case AngleSource::tables: return "stored tables";
    case AngleSource::frequencies: return "stored frequencies";
    case AngleSource::computed: return "base and scaling";
  }
  return "";
}

void print(const GoldenReport& report, bool list) {
  fmt::print("{}\n", report.subject);
  for (const GoldenOutcome& o : report.outcomes) {
    if (list || o.verdict == GoldenVerdict::fail) {
      fmt::print("  {:<40} {:<19} {}{}{}\n", o.id, word(o.source), word(o.verdict), o.not_claimed.empty() ? "" : ": ",
                 o.not_claimed);
    }
    if (o.verdict == GoldenVerdict::fail)
      fmt::print("{}{}", finding_lines(o.finding, o.c), replay_line(o.c, report.subject));
  }
  for (AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    fmt::print("  from {:<19} {:>3} bit for bit, {:>3} within the bound, {:>3} failed, {:>3} not claimed\n",
               word(source), report.count(source, GoldenVerdict::identical),
               report.count(source, GoldenVerdict::within_bound), report.count(source, GoldenVerdict::fail),
               report.count(source, GoldenVerdict::not_claimed));
  }
  const std::size_t failed = report.count(GoldenVerdict::fail);
  fmt::print("  {}: {} ran, {} passed, {} failed, {} not claimed; {} golden cases are beyond the contract\n",
             report.subject, report.executed(), report.executed() - failed, failed,
             report.count(GoldenVerdict::not_claimed), report.inexpressible);
}

int verify_sources() {
  const Manifest golden = needed_golden();
  Oracles oracles;
  int code = exit_conforms;
  for (const SourceUse& use : judge_sources(golden, oracles)) {
    if (use.grade.empty()) code = exit_fails;
    fmt::print("{:<22} {:<4} from {:<19} {:>3} cases  {:<8}  {:.2f} of its bound used, by {}\n", use.package,
               name(use.dtype), word(use.source), use.cases, use.grade.empty() ? "NO GRADE" : "grade " + use.grade,
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
  const std::atomic<bool>& stop_requested = stop_on_signal();
  Oracles oracles;
  int code = exit_conforms;
  for (const std::string& name : expand_subjects(options.python.named(options.subjects))) {
    const std::unique_ptr<Subject> subject = open_subject(name);
    ProgressLine progress(can_show_progress());
    const GoldenReport report = verify_golden(
        *subject, oracles, golden_requirements(), golden, options.only,
        [&](const GoldenOutcome& outcome) { progress.show(fmt::format("{}  {}", name, outcome.id)); }, &stop_requested);
    progress.clear();
    print(report, options.list);
    if (report.count(GoldenVerdict::fail) > 0) code = exit_fails;
    if (code != exit_fails && report.executed() == 0) code = exit_bad_input;
    if (report.interrupted) return code == exit_fails ? exit_fails : exit_incomplete;
  }
  return code;
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
  options->python.add_to(*kernels);
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
