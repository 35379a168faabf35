#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/conformance/requirements.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/deadline_options.hpp"
#include "tools/command/demand_options.hpp"
#include "tools/command/golden_folder.hpp"
#include "tools/command/interrupt.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/python_options.hpp"
#include "tools/command/sandbox_options.hpp"
#include "tools/command/sanitizer_options.hpp"
#include "tools/command/subjects.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/report/numpy_snippet.hpp"
#include "tools/vectors/answers.hpp"
#include "tools/vectors/subject_name.hpp"

namespace rope {
namespace {

// A traceback has several lines. None of them is empty: the first empty line is where the numpy program begins.
std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? "\n            " : std::string(1, c);
  return result;
}

int replay_case(const std::string& id, const std::string& subject_name, const std::vector<std::string>& require,
                const WorkerOptions& worker) {
  Case c = case_from_text(id);
  const Requirement& requirement = requirement_called(c.requirement);
  c.requirement = requirement.id;  // as it is written
  const std::optional<Manifest> golden = find_golden();
  const std::optional<std::string> folder = vectors::folder_of(subject_name);
  const vectors::Vectors exported = folder ? vectors::read_vectors(*folder) : vectors::Vectors{};
  std::unique_ptr<Subject> subject;
  if (folder) {
    auto answers = std::make_unique<vectors::Answers>(exported, subject_name);
    answers->begin(c);
    subject = std::move(answers);
  } else {
    subject = open_subject(subject_name, worker);
  }
  Oracles oracles;
  Selection demanded;
  demand(require, demanded);
  const Finding finding = replay(requirement, c, *subject, oracles, golden ? &*golden : nullptr, demanded.grade);
  print_text(stdout, "{}  {}\n", requirement.id, requirement.sentence);
  print_text(stdout, "  spec      {}\n", to_flags(c.spec));
  print_text(stdout, "  found     {}\n", indented(explain(finding)));
  if (finding.element && finding.element->what != Compared::mean) {
    print_text(stdout, "  worst     {}\n", place(*finding.element, c));
    for (const auto& [label, text] : details(finding)) print_text(stdout, "  {:<9} {}\n", label, text);
  }
  if (!finding.decided) return exit_incomplete;
  print_text(stdout, "  {}\n", finding.passed() ? "pass" : "FAIL");
  const std::optional<std::string> snippet = numpy_snippet(finding, c);
  print_text(stdout, "\n{}", snippet ? *snippet : fmt::format("# No numpy program: {}.\n", why_no_snippet(finding)));
  return finding.passed() ? exit_conforms : exit_fails;
}

}  // namespace

Action add_replay(CLI::App& app) {
  auto id = std::make_shared<std::string>();
  auto subject = std::make_shared<std::string>();
  auto deadlines = std::make_shared<DeadlineOptions>();
  CLI::App* command = app.add_subcommand("replay", "Run one case again, as verify printed it");
  command->add_option("case", *id, "REQUIREMENT:field=value,..")->type_name("CASE")->required();
  command
      ->add_option(
          "--subject", *subject,
          "built-in, lib.so#kernel, python:package.module:function, \"cmd:PROGRAM ARGUMENTS\" or vectors:FOLDER")
      ->type_name(kinds::subject)
      ->required();
  auto require = std::make_shared<std::vector<std::string>>();
  takes_list_of(command->add_option("--require", *require, "as it was for verify; here only a grade matters"),
                kinds::demand);
  deadlines->add_to(*command);
  auto sanitizer = std::make_shared<SanitizerOptions>();
  sanitizer->add_to(*command);
  auto sandbox = std::make_shared<SandboxOptions>();
  sandbox->add_to(*command);
  auto python = std::make_shared<PythonOptions>();
  python->add_to(*command);
  return [=]() -> int {
    if (!command->parsed()) return -1;
    WorkerOptions worker = deadlines->worker_options();
    worker.stop = &stop_on_signal();
    sanitizer->apply_to(worker);
    sandbox->apply_to(worker);
    return replay_case(*id, python->named({*subject}).front(), *require, worker);
  };
}

}  // namespace rope
