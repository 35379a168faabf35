// A line of progress on a terminal; nothing at all in a pipe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rope {

// "  about 8 s left", if the speed stays the same; empty in the first second, which tells too little.
std::string time_left(double elapsed_seconds, std::int64_t done, std::int64_t all);

class ProgressLine {
 public:
  explicit ProgressLine(bool on_terminal) : on_terminal_(on_terminal) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  // At most ten times a second.
  void show(const std::string& line);
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace rope
