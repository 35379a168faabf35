// The formats of a report, besides the text on the terminal. A new one is its own file and a row in
// formats.cpp; the options of the command follow.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tools/report/words.hpp"

namespace rope {

struct Format {
  std::string_view name;  // the option is --name
  std::string_view help;
  std::string (*written)(const RunReport& run);
};

std::span<const Format> formats();

}  // namespace rope
