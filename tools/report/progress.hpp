// A line of progress on a terminal; nothing at all in a pipe.
#pragma once

#include <chrono>
#include <string>

#include "tests/conformance/suite.hpp"

namespace rope {

class ProgressLine {
 public:
  explicit ProgressLine(bool on_terminal) : on_terminal_(on_terminal) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  // At most ten times a second.
  void show(const std::string& subject, const RequirementResult& result, std::size_t index, std::size_t count);
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace rope
