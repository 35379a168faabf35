// Text of others, for people: of kernels, files and paths.
#pragma once

#include <string>
#include <string_view>

namespace rope {

// What a terminal would obey, or would turn around, is written out: "\x1b" for a control character or a byte that is
// not UTF-8, "\u202e" for a mark that sets the direction of text. The characters in `kept` stay.
std::string escaped(std::string_view text, std::string_view kept = "");

bool is_utf8(std::string_view text);

}  // namespace rope
