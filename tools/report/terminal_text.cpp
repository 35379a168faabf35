#include "tools/report/terminal_text.hpp"

#include <fmt/format.h>

#include <random>

#include "reference/escaped_text.hpp"

namespace rope {
namespace {

constexpr char escape = '\x1b';

// Stands for an escape of ours. Of 128 bits from the system: no kernel and no file can guess it.
const std::string& secret() {
  static const std::string text = [] {
    std::random_device random;
    return fmt::format("{}{:08x}{:08x}{:08x}{:08x}", escape, random(), random(), random(), random());
  }();
  return text;
}

}  // namespace

std::string own_style(std::string_view sequence) {
  std::string text;
  for (const char c : sequence) text += c == escape ? secret() : std::string(1, c);
  return text;
}

std::string on_terminal(std::string_view text) {
  std::string shown;
  for (;;) {
    const std::size_t at = text.find(secret());
    shown += escaped(text.substr(0, at), "\n\t");
    if (at == text.npos) return shown;
    shown += escape;
    text.remove_prefix(at + secret().size());
  }
}

}  // namespace rope
