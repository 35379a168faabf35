#include "tools/command/output_options.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdlib>

#include "tools/command/option_values.hpp"

namespace rope {
namespace {

std::string_view value_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_terminal(std::FILE* file) { return isatty(fileno(file)) != 0 && value_of("TERM") != "dumb"; }

}  // namespace

bool can_show_progress() { return is_terminal(stderr); }

void OutputOptions::add_to(CLI::App& command) {
  quiet_option_ = command.add_flag("-q,--quiet", quiet_, "only the verdict of each subject, and why");
  takes_one_of(command.add_option("--color", colour_, "auto: on a terminal, without NO_COLOR and TERM=dumb"),
               {"auto", "always", "never"})
      ->capture_default_str();
}

void OutputOptions::add_verbose_to(CLI::App& command, const char* help) {
  command.add_flag("-v,--verbose", verbose_, help)->excludes(quiet_option_);
}

TerminalStyle OutputOptions::style(std::FILE* text) const {
  const bool wanted = colour_ == "always" || (colour_ == "auto" && is_terminal(text) && value_of("NO_COLOR").empty());
  return {.colour = wanted,
          .detail = quiet_     ? TerminalDetail::quiet
                    : verbose_ ? TerminalDetail::verbose
                               : TerminalDetail::normal};
}

}  // namespace rope
