// How long a call may take once another one of the same kernel hung.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>

namespace rope::worker {

// A kernel that hangs in one kind of call hangs in hundreds. Calls that it answered tell how long the next one may
// need. For all processes of one kernel, and from several threads.
class AdaptiveDeadline {
 public:
  using Time = std::chrono::duration<double>;

  // Of a call that hung for certain.
  void lose() { is_lost_ = true; }
  bool is_lost() const { return is_lost_; }

  // Of an answered call: the bytes of its tensors. `first`: it was the first one of its process, which may load code.
  void learn(bool first, std::size_t bytes, Time took);

  // 20 times as long as answered calls took per byte, or as a first one took, and at least 1 s; at most `usual`.
  // `usual` for a first call, if no first call was answered.
  std::chrono::milliseconds after_a_hang(bool first, std::size_t bytes, std::chrono::milliseconds usual) const;

 private:
  std::atomic<bool> is_lost_ = false;
  mutable std::mutex mutex_;  // of what follows
  Time slowest_first_{};
  Time slowest_byte_{};
};

}  // namespace rope::worker
