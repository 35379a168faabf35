#include "tools/report/html/templates.hpp"

#include <stdexcept>
#include <string>

namespace rope::html {

std::string_view part_called(std::string_view name) {
  struct Part {
    std::string_view name, text;
  };
  static constexpr Part parts[] = {
#include "html_parts.inc"
  };
  for (const Part& part : parts) {
    if (part.name == name) return part.text;
  }
  throw std::out_of_range(std::string(name) + " is not a part of tools/report/html");
}

}  // namespace rope::html
