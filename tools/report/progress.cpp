#include "tools/report/progress.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "reference/escaped_text.hpp"

namespace rope {

std::string time_left(double elapsed_seconds, std::int64_t done, std::int64_t all) {
  if (elapsed_seconds < 1 || done <= 0 || done > all) return "";
  const double left = elapsed_seconds / static_cast<double>(done) * static_cast<double>(all - done);
  if (left < 1) return "  less than 1 s left";
  return left < 120 ? fmt::format("  about {:.0f} s left", left) : fmt::format("  about {:.0f} min left", left / 60);
}

void ProgressLine::show(const std::string& line) {
  if (!on_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\x1b[K{}", escaped(line));
  std::fflush(stderr);
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rope
