// Text on its way to a terminal. Words of others may be anywhere in it, so none of it is trusted but our own styles.
#pragma once

#include <string>
#include <string_view>

namespace rope {

// Our own sequence of a style, such as "\x1b[1m", as text that on_terminal() knows again. Nobody else can make such
// text.
std::string own_style(std::string_view sequence);

// What goes to the terminal: everything is escaped but ends of lines, tabs and our own styles.
std::string on_terminal(std::string_view text);

}  // namespace rope
