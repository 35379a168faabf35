#include "reference/printable.hpp"

#include <fmt/format.h>

namespace rope {

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    // U+0080 .. U+009F, which terminals obey as they obey ESC, are 0xc2 and a byte in UTF-8.
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace rope
