#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/claims_options.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/demand_options.hpp"
#include "tools/command/expected_failures_options.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/output_options.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/report_options.hpp"
#include "tools/command/selection_options.hpp"
#include "tools/report/begun_run.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/terminal.hpp"
#include "tools/vectors/answers.hpp"
#include "tools/vectors/export.hpp"
#include "tools/vectors/subject_name.hpp"

namespace rope {
namespace {

struct ExportCommandOptions {
  std::string folder;
  SelectionOptions selection{"quick"};
  ClaimsOptions claims;
  bool expected = false;
  std::size_t most_kilobytes = 4000;
};

struct VerifyVectorsOptions {
  std::string folder;
  std::vector<std::string> require;
  std::vector<std::string> only;
  bool fail_fast = false;
  TimeLimit time_limit;
  ExpectedFailuresOptions expected_failures;
  OutputOptions output;
  ReportOptions reports;
};

constexpr std::size_t most_named = 5;  // files that a terminal lists one by one; the JSON report has all

Selection the_selection(const SelectionOptions& options) {
  const std::vector<Selection> selections = options.selections();
  if (selections.size() == 1) return selections.front();
  std::vector<std::string> layers;
  for (const Selection& selection : selections) layers.push_back(selection.layers);
  throw InputError(
      fmt::format("--model-config: this model has several ropes; export one by --layers: {}", fmt::join(layers, ", ")));
}

int export_to(const ExportCommandOptions& options) {
  vectors::ExportOptions exporting;
  exporting.selection = the_selection(options.selection);
  exporting.claims = options.claims.claims(exporting.selection);
  const std::optional<Manifest> golden = find_golden();
  exporting.golden = golden ? &*golden : nullptr;
  exporting.expected = options.expected;
  exporting.most_bytes = options.most_kilobytes * 1000;
  exporting.version = ROPECHECK_VERSION;
  exporting.stop = &stop_on_signal();
  ProgressLine progress(can_show_progress());
  const auto start = std::chrono::steady_clock::now();
  exporting.progress = [&](const std::string& requirement, std::size_t done, std::size_t all) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    progress.show(
        fmt::format("{}  {} of {} cases{}", requirement, done, all,
                    time_left(elapsed.count(), static_cast<std::int64_t>(done), static_cast<std::int64_t>(all))));
  };
  if (const std::optional<ModelConfig>& model = options.selection.model()) {
    for (const std::string& sentence : model->assumed) print_text(stdout, "{}\n", sentence);
  }
  Oracles oracles;
  const vectors::Exported exported = vectors::export_vectors(options.folder, oracles, exporting);
  progress.clear();
  if (exported.interrupted) {
    print_text(stdout, "interrupted: nothing was written\n");
    return exit_incomplete;
  }
  print_text(stdout, "{}: {} of {}, {}, {:.1f} MB\n", options.folder, counted(exported.calls, "call"),
             counted(exported.cases, "case"), counted(exported.files, "file"),
             static_cast<double>(exported.bytes) / 1e6);
  for (const vectors::LeftOut& left : exported.left_out) {
    print_text(stdout, "  left out  {}, {}: {}\n", left.requirement, counted(left.cases, "case"), left.reason);
  }
  if (!golden) {
    print_text(stdout, "no golden files were found, so GLD is left out; set ROPECHECK_GOLDEN to their folder\n");
  }
  print_text(stdout, "answer each call of manifest.json (docs/kernel-as-files.md), then: ropecheck vectors verify {}\n",
             options.folder);
  return exit_conforms;
}

void print_responses(std::FILE* text, const Responses& responses) {
  print_text(text, "{} asked for, {} missing, {} malformed\n", counted(responses.asked_for, "response"),
             responses.missing.size(), responses.malformed.size());
  const auto list = [&](const char* what, const std::vector<std::string>& lines) {
    for (std::size_t i = 0; i < std::min(lines.size(), most_named); ++i)
      print_text(text, "  {:<9}  {}\n", what, lines[i]);
    if (lines.size() > most_named) print_text(text, "  {:<9}  and {} more\n", what, lines.size() - most_named);
  };
  list("missing", responses.missing);
  list("malformed", responses.malformed);
}

const Manifest* golden_for(const vectors::Vectors& exported, const std::optional<Manifest>& golden) {
  const bool needed = std::any_of(exported.cases.begin(), exported.cases.end(),
                                  [](const vectors::CaseRecord& record) { return !record.c.golden.empty(); });
  if (needed && !golden) {
    throw InputError(
        "the export has golden cases, and no golden files were found; set ROPECHECK_GOLDEN to their folder");
  }
  return golden ? &*golden : nullptr;
}

int verify_folder(const VerifyVectorsOptions& options) {
  const vectors::Vectors exported = vectors::read_vectors(options.folder);
  const std::optional<Manifest> golden = find_golden();
  SuiteOptions suite;
  suite.selection = exported.selection;
  demand(options.require, suite.selection);
  if (!options.only.empty()) suite.selection.only.clear();
  for (const std::string& text : options.only) suite.selection.only.push_back(known_requirement(text));
  suite.golden = golden_for(exported, golden);
  suite.fail_fast = options.fail_fast;
  const std::string name = vectors::subject_name(options.folder);
  const ExpectedFailures listed = options.expected_failures.list(options.fail_fast);
  listed.check_subjects({name}, {suite.selection});
  suite.expected_failures = listed.of(name, suite.selection);
  options.reports.check();
  std::FILE* text = options.reports.on_stdout() ? stderr : stdout;

  const Responses responses = vectors::look_at_responses(exported);
  if (static_cast<std::int64_t>(responses.missing.size()) == responses.asked_for) {
    throw InputError(fmt::format(
        "{}: not one of {} responses is there, the first would be {}; run the program that is to be judged on "
        "manifest.json first",
        options.folder, responses.asked_for, responses.missing.front()));
  }
  if (!options.output.quiet()) print_responses(text, responses);
  std::vector<Case> cases;
  for (const vectors::CaseRecord& record : exported.cases) cases.push_back(record.c);
  suite.cases = &cases;
  vectors::Answers answers(exported, name);
  suite.before_case = [&](const Case& c) { answers.begin(c); };
  const Stop& stop = options.time_limit.start();
  suite.stop = &stop;
  ProgressLine progress(options.output.shows_progress());
  suite.progress = [&](const Progress& at) {
    progress.show(fmt::format("{}  {} of {} cases", at.requirement.id, at.cases, at.all_cases));
  };
  Oracles oracles;
  RunReport run = begun_run(ROPECHECK_VERSION);
  run.time_limit = options.time_limit.seconds();
  run.subjects.push_back(run_suite(answers, oracles, all_requirements(), suite));
  progress.clear();
  SubjectReport& report = run.subjects.front();
  report.responses = responses;
  if (report.interrupted && report.ended_by.empty()) report.ended_by = options.time_limit.ended_by(stop);
  print_text(text, "{}", terminal_report(report, options.output.style(text)));
  options.reports.write(run);
  options.expected_failures.write(listed, run, text);
  if (report.count(Verdict::fail) + report.count(Verdict::unexpected_pass) > 0) return exit_fails;
  if (report.interrupted) return exit_incomplete;
  return report.executed() == 0 ? exit_bad_input : exit_conforms;
}

}  // namespace

Action add_vectors(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "vectors", "Calls and answers as .npy files, for programs that ropecheck cannot start; docs/kernel-as-files.md");
  command->require_subcommand(1);
  auto exporting = std::make_shared<ExportCommandOptions>();
  CLI::App* to = command->add_subcommand("export", "Write the calls into a new folder");
  to->add_option("folder", exporting->folder, "is made; it must not hold anything yet")
      ->type_name(kinds::folder)
      ->required();
  exporting->selection.add_to(*to);
  exporting->claims.add_to(*to);
  to->add_flag("--expected", exporting->expected, "also write the exact values and their bounds");
  to->add_option("--most-kb", exporting->most_kilobytes, "leave out calls with more kilobytes of arrays; 0: none")
      ->capture_default_str();

  auto judging = std::make_shared<VerifyVectorsOptions>();
  CLI::App* from = command->add_subcommand("verify", "Judge the responses in a folder that `vectors export` made");
  from->add_option("folder", judging->folder, "with manifest.json and responses/")
      ->type_name(kinds::folder)
      ->required();
  takes_list_of(from->add_option("--require", judging->require, demand_help()), kinds::demand);
  add_only(*from, judging->only);
  from->add_flag("--fail-fast", judging->fail_fast, "stop after the first requirement that fails");
  judging->time_limit.add_to(*from);
  judging->expected_failures.add_to(*from);
  judging->output.add_to(*from);
  judging->output.add_verbose_to(*from, "every requirement and each failure by itself");
  judging->reports.add_to(*from);
  return [=]() -> int {
    if (to->parsed()) return export_to(*exporting);
    if (from->parsed()) return verify_folder(*judging);
    return -1;
  };
}

}  // namespace rope
