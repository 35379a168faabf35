#include <fmt/format.h>
#include <unistd.h>

#include <charconv>

#include "reference/input_error.hpp"
#include "tests/conformance/suite.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/spec_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/report/json.hpp"
#include "tools/report/progress.hpp"
#include "tools/report/terminal.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

struct VerifyOptions {
  std::vector<std::string> subjects;
  SpecOptions spec;
  std::vector<std::string> dtypes;
  std::string level = "full";
  std::uint64_t seed = 1;
  std::string json;
};

// CLI11 would take -1 for the largest seed, and what is too large for it as well.
std::string seed_error(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("\"{}\" is no seed; it must be a whole number from 0 to 2^64 - 1", text);
}

Level level_called(const std::string& text) {
  if (text == "quick") return Level::quick;
  if (text == "full") return Level::full;
  if (text == "exhaustive") return Level::exhaustive;
  throw InputError(fmt::format("--level: \"{}\" is not known; use quick, full or exhaustive", text));
}

Selection selection_of(const VerifyOptions& options) {
  Selection selection;
  selection.spec = options.spec.spec();
  if (selection.spec && selection.spec->xpos) {
    throw InputError(
        "xpos: no kernel can be asked for it through the contract, so nothing can be judged; leave it out");
  }
  selection.pairing = options.spec.pairing();
  for (const std::string& text : options.dtypes) {
    const std::optional<DType> dtype = dtype_from_name(text);
    if (!dtype || !is_floating(*dtype)) {
      throw InputError(fmt::format("--dtype: \"{}\" is not known; use f64, f32, f16 or bf16", text));
    }
    selection.dtypes.push_back(*dtype);
  }
  selection.level = level_called(options.level);
  selection.seed = options.seed;
  return selection;
}

int exit_code_of(const std::vector<SubjectReport>& reports) {
  int code = exit_conforms;
  for (const SubjectReport& report : reports) {
    const bool failed = std::any_of(report.results.begin(), report.results.end(),
                                    [](const RequirementResult& r) { return r.verdict == Verdict::fail; });
    if (failed) return exit_fails;
    if (report.interrupted) code = exit_incomplete;
    if (!report.interrupted && report.executed() == 0) code = std::max<int>(code, exit_bad_input);
  }
  return code;
}

// All at once before the first is judged: a slip in the last name should not cost the wait for the others.
std::vector<std::string> subjects_that_open(const std::vector<std::string>& names) {
  std::vector<std::string> subjects = expand_subjects(names);
  if (subjects.size() > 1) {
    for (const std::string& subject : subjects) open_subject(subject);
  }
  return subjects;
}

int verify(const VerifyOptions& options) {
  const Selection selection = selection_of(options);
  const std::optional<Manifest> golden = find_golden();
  if (golden) check_arrays(*golden);  // now, not when GLD's turn comes and the rest is judged
  const bool json_to_stdout = options.json == "-";
  if (!options.json.empty() && !json_to_stdout) check_can_write(options.json);
  std::FILE* text = json_to_stdout ? stderr : stdout;
  const bool colour = isatty(fileno(text)) != 0;
  const std::atomic<bool>& stop_requested = stop_on_signal();

  Oracles oracles;
  std::vector<SubjectReport> reports;
  const std::vector<std::string> subjects = subjects_that_open(options.subjects);
  for (const std::string& name : subjects) {
    if (stop_requested) break;
    const std::unique_ptr<Subject> subject = open_subject(name);
    ProgressLine progress(isatty(STDERR_FILENO) != 0);
    SuiteOptions suite;
    suite.selection = selection;
    suite.golden = golden ? &*golden : nullptr;
    suite.stop = &stop_requested;
    suite.progress = [&](const RequirementResult& result, std::size_t index, std::size_t count) {
      progress.show(fmt::format("[{}/{}] {}  {}  {} cases", index + 1, count, name, result.id, result.cases));
    };
    reports.push_back(run_suite(*subject, oracles, suite));
    progress.clear();
    fmt::print(text, "{}", terminal_report(reports.back(), {colour}));
    std::fflush(text);
  }
  if (!golden) {
    fmt::print(text, "no golden files were found, so GLD was not run; set ROPECHECK_GOLDEN to their folder\n");
  }
  const std::string json = json_report(reports, ROPECHECK_VERSION);
  if (json_to_stdout) {
    fmt::print("{}", json);
  } else if (!options.json.empty()) {
    write_file(options.json, json);
  }
  const int code = exit_code_of(reports);
  if (reports.size() == subjects.size() || code == exit_fails) return code;
  fmt::print(text, "interrupted: {} of {} subjects were judged\n", reports.size(), subjects.size());
  return exit_incomplete;
}

}  // namespace

Action add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Judge subjects: built-ins by name, or any shared library that exports rope_kernel.h");
  command->add_option("subjects", options->subjects, "built-in, lib.so or lib.so#kernel; default: every built-in");
  options->spec.add_to(*command);
  command->add_option("--dtype", options->dtypes, "only these: f64, f32, f16, bf16")->delimiter(',');
  command->add_option("--level", options->level, "quick (a second), full (ten), exhaustive")->capture_default_str();
  command->add_option("--seed", options->seed, "of the random cases")->capture_default_str()->check(seed_error, "");
  command->add_option("--json", options->json, "write the report here (- is stdout), tools/report/report.schema.json");
  return [options, command]() -> int { return command->parsed() ? verify(*options) : -1; };
}

}  // namespace rope
