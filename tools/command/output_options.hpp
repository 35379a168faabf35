// How much is written for a person, and in colour or not: --quiet, --verbose and --color.
#pragma once

#include <cstdio>
#include <string>

#include "tools/command/cli_fwd.hpp"
#include "tools/report/terminal.hpp"

namespace rope {

// Whether stderr is a terminal that can take a line away again.
bool can_show_progress();

class OutputOptions {
 public:
  void add_to(CLI::App& command);

  void add_verbose_to(CLI::App& command, const char* help);  // after add_to(); only where requirements are judged

  TerminalStyle style(std::FILE* text) const;
  bool verbose() const { return verbose_; }
  bool quiet() const { return quiet_; }
  bool shows_progress() const { return !quiet_ && can_show_progress(); }

 private:
  CLI::Option* quiet_option_ = nullptr;
  bool quiet_ = false;
  bool verbose_ = false;
  std::string colour_ = "auto";
};

}  // namespace rope
