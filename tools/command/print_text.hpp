// Text for a person, in a run whose reports matter more.
#pragma once

#include <fmt/format.h>

#include <cstdio>

namespace rope {

// As fmt::print, but a full disk or a reader that has gone ends nothing. main tells of it at the end.
template <class... Arguments>
void print_text(std::FILE* file, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  std::fputs(fmt::format(format, std::forward<Arguments>(arguments)...).c_str(), file);
}

}  // namespace rope
