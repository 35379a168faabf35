#include "reference/foreign_json.hpp"

#include <fmt/format.h>

namespace rope {

std::string unreadable_json(std::string_view text) {
  if (text.size() > longest_json) {
    return fmt::format("{} bytes are more than the {} that are read", text.size(), longest_json);
  }
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json) return fmt::format("byte {}: nested more than {} deep", i, deepest_json);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return "";
}

}  // namespace rope
