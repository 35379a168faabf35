// The templates, the style and the script of a page: the files of this folder, which CMake copies into the program.
#pragma once

#include <string_view>

namespace rope::html {

// "subject.mustache", "style.css". Throws std::out_of_range for another name.
std::string_view part_called(std::string_view name);

}  // namespace rope::html
