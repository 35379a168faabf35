#include "tools/command/application.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "tools/command/help_text.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/report/leftovers.hpp"

namespace rope {
namespace {

// "vectors export": the command that was given, down to the last word of it.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.front());
}

std::string path_of(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return above == nullptr || above->get_parent() == nullptr ? command.get_name()
                                                            : path_of(*above) + " " + command.get_name();
}

std::vector<std::string> names_below(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands({})) names.push_back(below->get_name());
  return names;
}

// An option or a word that the command does not know.
std::string unknown_word(const CLI::App& command, const std::string& word) {
  if (!word.starts_with('-')) return fmt::format("unexpected argument \"{}\"", word);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("unknown option \"{}\"{}", word,
                     did_you_mean(word.substr(0, word.find('=')), {names.begin(), names.end()}, "; ", ""));
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
  const std::vector<std::string> names = names_below(command);
  return fmt::format("\"{}\" is not a command; {}the commands are {}", word,
                     did_you_mean(word, {names.begin(), names.end()}), fmt::join(names, ", "));
}

}  // namespace

Application::Application()
    : app_("Conformance tests for rotary position embedding (RoPE) kernels.\n"
           "Exit codes: 0 conforms; 1 does not conform; 2 usage or bad input; 3 the subject could not be started; "
           "4 incomplete.",
           "ropecheck") {
  use_help_text(app_);
  app_.set_help_flag("-h,--help", "print this help");
  app_.set_version_flag("-V,--version", ROPECHECK_VERSION, "print the version");
  app_.require_subcommand(1);
  for (const auto& add : {add_verify, add_identify, add_plan, add_replay, add_golden, add_vectors, add_report, add_compare,
                          add_certify, add_certificate, add_list, add_help, add_completion, add_man}) {
    actions_.push_back(add(app_));
  }
}

void Application::parse(const std::vector<std::string>& words) {
  std::vector<std::string> reversed = with_joined_lists(app_, words);  // the order that CLI11 asks for
  std::ranges::reverse(reversed);
  app_.parse(std::move(reversed));
}

std::string Application::usage_error(const CLI::ParseError& error) const {
  const CLI::App& command = innermost(app_);
  if (&command == &app_) {
    const std::vector<std::string> rest = app_.remaining();
    if (rest.empty()) {
      return fmt::format("no command was given; the commands are {}", fmt::join(names_below(app_), ", "));
    }
    return rest.front().starts_with('-') ? unknown_word(app_, rest.front()) : unknown_command(app_, rest.front());
  }
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::string extra = app_.remaining(true).front();
    const bool is_command = !extra.starts_with('-') && !names_below(command).empty();
    what = is_command ? unknown_command(command, extra) : unknown_word(command, extra);
  } else if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !names_below(command).empty()) {
    const std::vector<std::string> rest = command.remaining();
    what = rest.empty() ? fmt::format("one of its commands is required: {}", fmt::join(names_below(command), ", "))
                        : unknown_command(command, rest.front());
  }
  for (const CLI::Option* option : command.get_options()) {
    if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && what.find(option->get_name()) != what.npos) {
      what += fmt::format("; expected {}", option->get_type_name());
    }
  }
  const std::string path = path_of(command);
  return fmt::format("{}: {}{} see `ropecheck {} --help`", path, what, what.ends_with('?') ? "" : ";", path);
}

int Application::run(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const CLI::ParseError& error) {
    if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) {
      print_text(stdout, "{}", app_.help());
      return exit_conforms;
    }
    if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
      print_text(stdout, "{}\n", error.what());
      return exit_conforms;
    }
    print_text(stderr, "ropecheck: {}\n", usage_error(error));
    return exit_bad_input;
  }
  remove_leftovers(".");
  for (const Action& action : actions_) {
    if (const int code = action(); code >= 0) return code;
  }
  return exit_bad_input;
}

}  // namespace rope
