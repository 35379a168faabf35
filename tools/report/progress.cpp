#include "tools/report/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace rope {

void ProgressLine::show(const std::string& line) {
  if (!on_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{}", line);
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rope
