#include "tools/command/completion.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tools/command/option_values.hpp"

namespace rope {
namespace {

// 'text' as one word of a shell.
std::string shell_word(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::vector<std::string> commands_below(const CommandRow& command) {
  std::vector<std::string> names;
  for (const CommandRow& below : command.commands) names.push_back(below.path.back());
  return names;
}

// What may stand where an argument is: words, and files too if it is a subject, a file or a folder. Words that only
// another program knows are what a shell command prints.
struct Offer {
  std::vector<std::string> words;
  bool files = false;
  std::string command = {};
};

constexpr const char* conventions_command = "ropecheck list conventions 2>/dev/null | sed -n 's/^\\([a-z_]*\\) .*/\\1/p'";

Offer offer_for(const OptionRow& row, const CommandRow& root) {
  if (row.type == kinds::command) return {commands_below(root)};
  if (row.type == kinds::convention) return {.words = {}, .command = conventions_command};
  return {words_of(row.type), row.type == kinds::subject || row.type == kinds::file || row.type == kinds::folder};
}

Offer offer_for_arguments(const CommandRow& command, const CommandRow& root) {
  if (!command.commands.empty()) return {commands_below(command)};
  return command.arguments.empty() ? Offer{} : offer_for(command.arguments.front(), root);
}

std::string bash_offer(const Offer& offer) {
  if (!offer.command.empty()) return fmt::format("words=$({})", offer.command);
  return fmt::format("words={}{}", shell_word(joined(offer.words)), offer.files ? " files=1" : "");
}

std::string for_bash(const CommandRow& root) {
  std::string paths, values, options, arguments;
  for (const CommandRow* command : all_of(root)) {
    const std::string path = fmt::format("{}", fmt::join(command->path, "/"));
    const std::string at = command->path.empty() ? "" : "/" + path;
    for (const CommandRow& below : command->commands) {
      paths += fmt::format("{}{}/{}", paths.empty() ? "" : " | ", at, below.path.back());
    }
    std::vector<std::string> names;
    for (const OptionGroup& group : command->groups) {
      for (const OptionRow& option : group.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
        if (option.type.empty()) continue;
        values += fmt::format("    '{} {}') {} ;;\n", at, option.names.back(), bash_offer(offer_for(option, root)));
      }
    }
    options += fmt::format("    '{}') words={} ;;\n", at, shell_word(joined(names)));
    arguments += fmt::format("    '{}') {} ;;\n", at, bash_offer(offer_for_arguments(*command, root)));
  }
  return fmt::format(R"(# Completion of ropecheck for bash 4 and later: source <(ropecheck completion bash)
_ropecheck() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command= words= files= i
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command/${{COMP_WORDS[i]}}" in
    {})
      command+=/${{COMP_WORDS[i]}} ;;
    esac
  done
  COMPREPLY=()
  case "$command $previous" in
{}    *)
      if [[ $current == -* ]]; then
        case "$command" in
{}        esac
      else
        case "$command" in
{}        esac
      fi ;;
  esac
  local before=
  if [[ $current == *,* ]]; then  # a list: its last part is completed
    before=${{current%,*}},
    current=${{current##*,}}
  fi
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$words" -- "$current")
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    local file
    while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$current")
  fi
}}
complete -F _ropecheck ropecheck
)",
                     paths, values, options, arguments);
}

// Within the description of _arguments a bracket ends it, and a colon begins the next field.
std::string for_arguments(const std::string& text) {
  std::string result;
  for (const char c : text) result += std::string(c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + c;
  return result;
}

std::string zsh_action(const OptionRow& row, const CommandRow& root) {
  const Offer offer = offer_for(row, root);
  if (!offer.command.empty()) return fmt::format("{{compadd -- $({})}}", offer.command);
  if (offer.files) {
    return offer.words.empty() ? std::string("_files")
                               : fmt::format("{{_alternative 'words:word:({})' 'files:file:_files'}}",
                                             joined(offer.words));
  }
  if (offer.words.empty()) return "";
  return row.is_list ? fmt::format("_values -s , value {}", joined(offer.words))
                     : fmt::format("({})", joined(offer.words));
}

std::string zsh_function(const CommandRow& command) {
  return fmt::format("_ropecheck{}{}", command.path.empty() ? "" : "_", fmt::join(command.path, "_"));
}

std::string zsh_body(const CommandRow& command, const CommandRow& root) {
  std::string text = fmt::format("{}() {{\n  local line state\n  _arguments -C", zsh_function(command));
  for (const OptionGroup& group : command.groups) {
    for (const OptionRow& option : group.options) {
      for (const std::string& name : option.names) {
        std::string spec = fmt::format("{}{}[{}]", option.is_list ? "*" : "", name, for_arguments(option.help));
        if (!option.type.empty()) {
          spec += fmt::format(":{}:{}", for_arguments(option.type), zsh_action(option, root));
        }
        text += " \\\n    " + shell_word(spec);
      }
    }
  }
  if (!command.commands.empty()) {
    std::string commands;
    for (const CommandRow& below : command.commands) {
      commands += fmt::format(" {}\\:{}", below.path.back(), shell_word(for_arguments(below.help)));
    }
    text += " \\\n    " + shell_word(fmt::format("1:command:(({}))", commands.substr(1))) + " \\\n    '*::word:->below'";
  }
  for (const OptionRow& argument : command.arguments) {
    text += " \\\n    " + shell_word(fmt::format("{}:{}:{}", argument.is_list ? "*" : "", argument.names.front(),
                                             zsh_action(argument, root)));
  }
  text += "\n";
  if (!command.commands.empty()) {
    text += "  [[ $state == below ]] || return 0\n  case $words[1] in\n";
    for (const CommandRow& below : command.commands) {
      text += fmt::format("    {}) {} ;;\n", below.path.back(), zsh_function(below));
    }
    text += "  esac\n";
  }
  return text + "}\n";
}

std::string for_zsh(const CommandRow& root) {
  std::string text =
      "#compdef ropecheck\n# Completion of ropecheck for zsh: source <(ropecheck completion zsh), after compinit\n";
  for (const CommandRow* command : all_of(root)) text += zsh_body(*command, root);
  return text + "compdef _ropecheck ropecheck\n";
}

std::string for_fish(const CommandRow& root) {
  std::string text = "# Completion of ropecheck for fish: ropecheck completion fish | source\ncomplete -c ropecheck -f\n";
  for (const CommandRow* command : all_of(root)) {
    const std::vector<std::string> below = commands_below(*command);
    std::vector<std::string> others = below;  // that have not been given: commands below it, and beside the first word
    for (const std::string& word : commands_below(root)) {
      if (command->path.size() == 1 && word != command->path.front()) others.push_back(word);
    }
    std::string where;
    for (const std::string& word : command->path) where += fmt::format("__fish_seen_subcommand_from {}; and ", word);
    where += others.empty() ? "true" : fmt::format("not __fish_seen_subcommand_from {}", joined(others));
    const std::string begin = fmt::format("complete -c ropecheck -n {}", shell_word(where));
    for (const CommandRow& one : command->commands) {
      text += fmt::format("{} -a {} -d {}\n", begin, one.path.back(), shell_word(one.help));
    }
    if (command->commands.empty()) {
      const Offer offer = offer_for_arguments(*command, root);
      if (!offer.words.empty() || offer.files) {
        text += fmt::format("{}{} -a {}\n", begin, offer.files ? " -F" : "", shell_word(joined(offer.words)));
      }
    }
    for (const OptionGroup& group : command->groups) {
      for (const OptionRow& option : group.options) {
        text += begin;
        for (const std::string& name : option.names) {
          text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        }
        if (!option.type.empty()) {
          const Offer offer = offer_for(option, root);
          text += offer.files ? " -r -F" : " -x";
          if (!offer.words.empty()) text += " -a " + shell_word(joined(offer.words));
          if (!offer.command.empty()) text += " -a " + shell_word("(" + offer.command + ")");
        }
        text += fmt::format(" -d {}\n", shell_word(option.help));
      }
    }
  }
  return text;
}

const struct {
  std::string_view shell;
  std::string (*script)(const CommandRow& root);
} scripts[] = {{"bash", for_bash}, {"zsh", for_zsh}, {"fish", for_fish}};

}  // namespace

std::vector<std::string_view> completed_shells() {
  std::vector<std::string_view> names;
  for (const auto& [shell, script] : scripts) names.push_back(shell);
  return names;
}

std::string completion_for(std::string_view shell, const CommandRow& root) {
  for (const auto& [known, script] : scripts) {
    if (known == shell) return script(root);
  }
  throw InputError("completion: " + not_known(shell, completed_shells()));
}

}  // namespace rope
