#include "tools/command/output_options.hpp"

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
  quiet_option_ = command.add_flag("-q,--quiet", quiet_, "only failures and the verdict of each subject");
  takes_one_of(command.add_option("--color", colour_, "auto: on a terminal, without NO_COLOR and TERM=dumb"),
               {"auto", "always", "never"})
      ->capture_default_str();
}

void OutputOptions::add_verbose_to(CLI::App& command) {
  command.add_flag("-v,--verbose", verbose_, "also what the sandbox of the subjects does, and what it lacks here")
      ->excludes(quiet_option_);
}

TerminalStyle OutputOptions::style(std::FILE* text) const {
  const bool wanted = colour_ == "always" || (colour_ == "auto" && is_terminal(text) && value_of("NO_COLOR").empty());
  return {.colour = wanted, .quiet = quiet_};
}

}  // namespace rope
