// What tells of the commands themselves: help, completion and man.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/completion.hpp"
#include "tools/command/help_text.hpp"
#include "tools/command/man_page.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"

namespace rope {
namespace {

int print_help(const CLI::App& app, const std::vector<std::string>& words) {
  CommandRow at = described(app);
  for (const std::string& word : words) {
    std::vector<std::string> names;
    for (const CommandRow& below : at.commands) names.push_back(below.path.back());
    const auto next = std::ranges::find(names, word);
    if (names.empty()) throw InputError(fmt::format("help: {} has no commands; leave \"{}\" out", name_of(at), word));
    if (next == names.end()) throw InputError("help: " + not_known(word, {names.begin(), names.end()}));
    CommandRow below = at.commands[static_cast<std::size_t>(next - names.begin())];
    at = std::move(below);
  }
  print_text(stdout, "{}", help_text(at));
  return exit_conforms;
}

}  // namespace

Action add_help(CLI::App& app) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("help", "Print the help of a command");
  command->add_option("command", *words, "such as verify, or vectors export; default: ropecheck")
      ->type_name(kinds::command);
  return [=, &app]() -> int { return command->parsed() ? print_help(app, *words) : -1; };
}

Action add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a script with which a shell completes commands, options and values");
  takes_one_of(command->add_option("shell", *shell, "whose script"), completed_shells())->required();
  return [=, &app]() -> int {
    if (!command->parsed()) return -1;
    print_data(completion_for(*shell, described(app)));
    return exit_conforms;
  };
}

Action add_man(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page, as in: ropecheck man > ropecheck.1");
  return [=, &app]() -> int {
    if (!command->parsed()) return -1;
    print_data(man_page(described(app), ROPECHECK_VERSION));
    return exit_conforms;
  };
}

}  // namespace rope
