#include "tools/command/command_table.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rope {
namespace {

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  if (option.get_positional()) row.names = {option.get_name(true)};
  row.is_list = option.get_delimiter() != '\0' || option.get_items_expected_max() > 1;
  const std::string type = option.get_type_name();  // "INT:POSITIVE" where CLI11 checks the number
  if (option.get_items_expected_max() > 0) row.type = type.substr(0, type.find(':'));
  row.may_be_bare = !row.type.empty() && option.get_items_expected_min() == 0;
  row.default_value = option.get_default_str();
  row.help = option.get_description();
  row.required = option.get_required();
  return row;
}

}  // namespace

CommandRow described(const CLI::App& command, std::vector<std::string> path) {
  CommandRow row{std::move(path), command.get_description(), {}, {}, {}};
  row.needs_command = command.get_require_subcommand_min() > 0;
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_positional()) {
      row.arguments.push_back(row_of(*option));
      continue;
    }
    const std::string& title = option->get_group();
    auto group = std::ranges::find(row.groups, title, &OptionGroup::title);
    if (group == row.groups.end()) group = row.groups.insert(row.groups.end(), {title, {}});
    group->options.push_back(row_of(*option));
  }
  for (const CLI::App* below : command.get_subcommands({})) {
    std::vector<std::string> to = row.path;
    to.push_back(below->get_name());
    row.commands.push_back(described(*below, std::move(to)));
  }
  return row;
}

std::string name_of(const CommandRow& command) {
  return fmt::format("ropecheck{}{}", command.path.empty() ? "" : " ", fmt::join(command.path, " "));
}

std::string usage_of(const CommandRow& command) {
  std::string text = name_of(command);
  if (!command.groups.empty()) text += " [OPTIONS]";
  if (!command.commands.empty()) text += command.needs_command ? " COMMAND" : " [COMMAND]";
  for (const OptionRow& argument : command.arguments) {
    const std::string word = heading_of(argument) + (argument.is_list ? " .." : "");
    text += argument.required ? " " + word : fmt::format(" [{}]", word);
  }
  return text;
}

std::string heading_of(const OptionRow& option) {
  if (!option.names.front().starts_with('-')) {
    std::string name = option.names.front();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
  }
  std::string text = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.type.empty()) return text;
  return text + (option.may_be_bare ? fmt::format(" [{}]", option.type) : " " + option.type);
}

std::string sentence_of(const OptionRow& option) {
  std::string text = option.help;
  const bool is_argument = !option.names.front().starts_with('-');
  if (is_argument && option.type.find('|') != option.type.npos) text += ": " + option.type;
  if (!option.default_value.empty()) text += fmt::format("; default: {}", option.default_value);
  return text;
}

std::vector<const CommandRow*> all_of(const CommandRow& command) {
  std::vector<const CommandRow*> all{&command};
  for (const CommandRow& below : command.commands) {
    const std::vector<const CommandRow*> more = all_of(below);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace rope
