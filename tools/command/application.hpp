// ropecheck's command line: all of its commands, how words are read, and the exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/command/commands.hpp"

namespace rope {

class Application {
 public:
  Application();

  const CLI::App& commands() const { return app_; }

  // The words after the program's name. Throws CLI::ParseError, also for --help and --version.
  void parse(const std::vector<std::string>& words);

  // Parses and runs the command. A wrong command line is answered on stderr. Throws what the command throws.
  int run(const std::vector<std::string>& words);

  // What is wrong, in which command, and where to look.
  std::string usage_error(const CLI::ParseError& error) const;

 private:
  CLI::App app_;
  std::vector<Action> actions_;
};

}  // namespace rope
