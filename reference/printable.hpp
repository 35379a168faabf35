// Text of others, safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rope {

// Control characters as \x1b, so that a file cannot move the cursor, hide a line or add one.
std::string printable(std::string_view text);

}  // namespace rope
