#include "tools/command/expected_failures_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/report/write_file.hpp"

namespace rope {

void ExpectedFailuresOptions::add_to(CLI::App& command) {
  command
      .add_option("--expected-failures", read_,
                  "a file, a line each: [SUBJECT-PATTERN] REQUIREMENT [at LEVEL,..] [# reason]; one that passes is a "
                  "failure")
      ->type_name(kinds::file);
  command
      .add_option("--write-expected-failures", written_,
                  "write such a file of what fails in this run; the file of --expected-failures is brought up to date")
      ->type_name(kinds::file);
}

ExpectedFailures ExpectedFailuresOptions::list(bool fail_fast) const {
  if (!written_.empty()) {
    if (fail_fast) throw InputError("--write-expected-failures needs the whole run; leave --fail-fast out");
    std::error_code ignored;
    const bool updates = !read_.empty() && std::filesystem::equivalent(read_, written_, ignored);
    if (!updates && std::filesystem::is_regular_file(written_, ignored)) {
      throw InputError(fmt::format(
          "--write-expected-failures: {} exists; to bring it up to date, add --expected-failures with the same file",
          written_));
    }
    check_can_write(written_);
  }
  return read_.empty() ? ExpectedFailures() : ExpectedFailures(read_);
}

void ExpectedFailuresOptions::write(const ExpectedFailures& list, const RunReport& run, std::FILE* text) const {
  if (written_.empty()) return;
  const bool cut_short = std::ranges::any_of(run.subjects, &SubjectReport::interrupted);
  if (cut_short || !run.not_judged.empty()) {
    print_text(text, "{} was not written: the run was interrupted\n", written_);
    return;
  }
  if (std::ranges::any_of(run.subjects, [](const SubjectReport& report) { return report.left_out() > 0; })) {
    print_text(text, "{} was not written: the budget left no time for some cases\n", written_);
    return;
  }
  const ExpectedFailures::Update update = list.updated(run);
  write_file(written_, update.text);
  print_text(text, "{}: written; new failures: {}, lines taken off: {}\n", written_, update.added, update.removed);
}

}  // namespace rope
