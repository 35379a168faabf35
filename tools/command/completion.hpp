// Scripts that complete ropecheck's commands, options and values in a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/command/command_table.hpp"

namespace rope {

std::vector<std::string_view> completed_shells();

// `root` is the table of all commands. Throws InputError for a shell that is not among these.
std::string completion_for(std::string_view shell, const CommandRow& root);

}  // namespace rope
