// A command line in words, as a POSIX shell splits it. No shell is run: $, *, | and the like are plain characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rope {

// Blanks separate words. '..' keeps everything as it is; ".." does too, except \" \\ \$ \` and an escaped newline.
// Elsewhere a backslash keeps the next character. Throws InputError for an unclosed quote and a backslash at the end.
std::vector<std::string> command_words(std::string_view text);

}  // namespace rope
