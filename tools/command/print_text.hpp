// What the command says: print_text for a person, print_data for a program that reads it.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "tools/report/terminal_text.hpp"

namespace rope {

// As fmt::print, but words of others are escaped, wherever they are in it. A full disk or a reader that has gone ends
// nothing: main tells of it at the end.
template <class... Arguments>
void print_text(std::FILE* file, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::fputs(on_terminal(fmt::format(format, std::forward<Arguments>(arguments)...)).c_str(), file);
}

// As it is, on stdout: JSON, a page, a script. Its reader knows how to take it.
inline void print_data(const std::string& text) { std::fputs(text.c_str(), stdout); }

}  // namespace rope
