#include "reference/escaped_text.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace rope {
namespace {

struct Character {
  std::uint32_t code;
  std::size_t bytes;  // 0: not UTF-8
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || bytes > text.size()) return {first, 0};
  std::uint32_t code = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {first, 0};
    code = (code << 6) | (byte(i) & 0x3fu);
  }
  const bool is_overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return is_overlong || is_surrogate || code > 0x10ffff ? Character{first, 0} : Character{code, bytes};
}

// Control characters of both blocks, ends of lines and paragraphs, and marks that set the direction of text.
bool is_unseen(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

}  // namespace

std::string escaped(std::string_view text, std::string_view kept) {
  std::string shown;
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    if (bytes > 0 && (!is_unseen(code) || kept.find(text[0]) != kept.npos)) {
      shown += text.substr(0, bytes);
    } else {
      shown += code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return shown;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t bytes = first_of(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace rope
