// A command line in words, as a POSIX shell splits it. No shell is run: $, *, | and the like are plain characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rope {

// Blanks separate; '..' keeps all as it is, ".." too but for \" \\ \$ \` and an escaped newline; elsewhere a backslash
// keeps the character after it. Throws InputError for a quote that is not closed and a backslash at the end.
std::vector<std::string> command_words(std::string_view text);

}  // namespace rope
