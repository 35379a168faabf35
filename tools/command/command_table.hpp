// The commands and their options as data, read from the parser. --help, the man page and the shells' completions are
// written from it, so they never differ.
#pragma once

#include <string>
#include <vector>

#include "tools/command/cli_fwd.hpp"

namespace rope {

struct OptionRow {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional argument only its name
  std::string type;                // "quick|full", "FILE"; empty: the option takes no value
  std::string default_value;
  std::string help;
  bool is_list = false;  // of several values
  bool may_be_bare = false;  // its value may be left out
  bool required = false;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionRow> options;
};

struct CommandRow {
  std::vector<std::string> path;  // {"vectors", "export"}; empty: ropecheck itself
  std::string help;
  std::vector<OptionRow> arguments;
  std::vector<OptionGroup> groups;
  std::vector<CommandRow> commands;
  bool needs_command = false;  // one of them has to be given
};

// The table of this command and those below it. `path` leads to it.
CommandRow described(const CLI::App& command, std::vector<std::string> path = {});

// "ropecheck vectors export"
std::string name_of(const CommandRow& command);

// "ropecheck verify [OPTIONS] [SUBJECT ..]"
std::string usage_of(const CommandRow& command);

// "--level quick|full|exhaustive", "-q, --quiet", "--json [FILE]"; of an argument "SUBJECT".
std::string heading_of(const OptionRow& option);

// Its help and its default.
std::string sentence_of(const OptionRow& option);

// The command and all below it, each before its own.
std::vector<const CommandRow*> all_of(const CommandRow& command);

}  // namespace rope
