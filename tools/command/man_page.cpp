#include "tools/command/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/command/environment.hpp"

namespace rope {
namespace {

// As it is, for troff: no hyphens in place of minus signs, no requests at the beginning of a line.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') || result.starts_with('\'') ? "\\&" + result : result;
}

std::string paragraphs(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += (begin == 0 ? "" : ".PP\n") + plain(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string man_entry(const std::string& heading, const std::string& sentence) {
  return fmt::format(".TP\n.B {}\n{}\n", plain(heading), plain(sentence));
}

std::string section_of(const CommandRow& command) {
  std::string text;
  if (!command.path.empty()) {
    text = fmt::format(".SS {}\n{}.PP\n.B {}\n", plain(name_of(command)), paragraphs(command.help),
                       plain(usage_of(command)));
  }
  for (const OptionRow& argument : command.arguments) text += man_entry(heading_of(argument), sentence_of(argument));
  for (const OptionGroup& group : command.groups) {
    if (group.title != "Options") text += fmt::format(".PP\n{}:\n", plain(group.title));
    for (const OptionRow& option : group.options) text += man_entry(heading_of(option), sentence_of(option));
  }
  return text;
}

}  // namespace

std::string man_page(const CommandRow& root, const std::string& version) {
  std::string text = fmt::format(
      ".TH ROPECHECK 1 \"\" \"ropecheck {}\" \"User Commands\"\n.SH NAME\nropecheck \\- conformance tests for rotary "
      "position embedding kernels\n.SH SYNOPSIS\n.B {}\n.SH DESCRIPTION\n{}",
      version, plain(usage_of(root)), paragraphs(root.help));
  text += ".SH OPTIONS\n" + section_of(root) + ".SH COMMANDS\n";
  for (const CommandRow* command : all_of(root)) {
    if (!command->path.empty()) text += section_of(*command);
  }
  text += ".SH ENVIRONMENT\n";
  for (const Variable& variable : variables()) text += man_entry(std::string(variable.name), std::string(variable.meaning));
  return text;
}

}  // namespace rope
