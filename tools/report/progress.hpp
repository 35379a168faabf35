// A line of progress on a terminal; nothing at all in a pipe.
#pragma once

#include <chrono>
#include <string>

namespace rope {

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
