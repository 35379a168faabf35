// --help, for a terminal of 80 columns. CLI11's own text differs from version to version and lists no values.
#pragma once

#include "tools/command/command_table.hpp"

namespace rope {

std::string help_text(const CommandRow& command);

// Makes CLI11 print it. Commands that are added later take it over.
void use_help_text(CLI::App& app);

}  // namespace rope
