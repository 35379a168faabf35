// ropecheck.1, the manual page, in the macros of man(7).
#pragma once

#include "tools/command/command_table.hpp"

namespace rope {

std::string man_page(const CommandRow& root, const std::string& version);

}  // namespace rope
