// What ends a run of the suite before its end: a stop from outside, or an error that is not the kernel's, such as too
// little memory for a call. What was judged until then counts.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include "tools/judge/call/stop.hpp"

namespace rope {

class RunEnd {
 public:
  static constexpr std::size_t after_all_tasks = std::numeric_limits<std::size_t>::max() - 1;

  explicit RunEnd(const Stop* stop) : stop_(stop) {}

  bool has_come() const { return is_requested(stop_) || task_ != none; }

  // Tasks before the one with the error go on: so the error of the first task counts, however many run at once.
  bool has_come_for(std::size_t task) const { return is_requested(stop_) || task > task_; }

  // In a handler: notes the error of this task. By any thread.
  void note_error(std::size_t task);

  void throw_error() const {
    if (error_) std::rethrow_exception(error_);
  }
  std::string words() const;  // of the error; empty if there was none

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  const Stop* stop_;
  std::mutex mutex_;
  std::atomic<std::size_t> task_{none};
  std::exception_ptr error_;
};

}  // namespace rope
