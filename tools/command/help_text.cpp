#include "tools/command/help_text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <memory>
#include <sstream>

namespace rope {
namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t text_column = 26;

// Words that begin at a column; the first line has `used` columns already.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t used) {
  std::string lines;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph); used = columns) {
    std::istringstream words(paragraph);
    for (std::string word; words >> word;) {
      const bool breaks = used > indent && used + 1 + word.size() > columns;
      if (breaks) {
        lines += "\n" + std::string(indent, ' ');
        used = indent;
      } else if (used > indent) {
        lines += ' ';
        ++used;
      }
      lines += word;
      used += word.size();
    }
  }
  return lines + "\n";
}

std::string help_entry(const std::string& heading, const std::string& sentence) {
  std::string line = "  " + heading;
  if (sentence.empty()) return line + "\n";
  line += line.size() + 2 > text_column ? "\n" + std::string(text_column, ' ')
                                        : std::string(text_column - line.size(), ' ');
  return line + wrapped(sentence, text_column, text_column);
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::vector<std::string> path;
    for (const CLI::App* at = app; at->get_parent() != nullptr; at = at->get_parent()) {
      path.insert(path.begin(), at->get_name());
    }
    return help_text(described(*app, std::move(path)));
  }
};

}  // namespace

std::string help_text(const CommandRow& command) {
  std::string text = wrapped(command.help, 0, 0) + "\n" + wrapped("Usage: " + usage_of(command), 2, 0);
  if (!command.commands.empty()) text += "\nCommands:\n";
  for (const CommandRow& below : command.commands) text += help_entry(below.path.back(), below.help);
  if (!command.arguments.empty()) text += "\nArguments:\n";
  for (const OptionRow& argument : command.arguments) text += help_entry(heading_of(argument), sentence_of(argument));
  for (const OptionGroup& group : command.groups) {
    text += "\n" + wrapped(group.title + ":", 0, 0);
    for (const OptionRow& option : group.options) text += help_entry(heading_of(option), sentence_of(option));
  }
  return text;
}

void use_help_text(CLI::App& app) { app.formatter(std::make_shared<HelpFormatter>()); }

}  // namespace rope
