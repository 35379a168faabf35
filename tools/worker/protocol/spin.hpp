// Waking a halted CPU costs 85-140 us, more than everything else in a small call. So both sides poll for a while before
// they block: the median of a small call is 8 us on two free CPUs. With one CPU, polling keeps the other side from
// running. On busy CPUs it does not, because it lets others run after each poll. In long calls it gains nothing.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>

namespace rope::worker {

class Spin {
 public:
  Spin() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) longest_ = {};
  }

  // Calls `ready` until it returns true or the time is over, at most `limit`; returns its last result. After some
  // failures most of the next polls are left out, and false is returned at once.
  template <class Ready>
  bool until(std::chrono::nanoseconds limit, Ready&& ready) {
    const std::chrono::nanoseconds duration = std::min(longest_, limit);
    if (duration.count() <= 0 || (in_vain_ >= enough && ++in_vain_ % tried_each != 0)) return false;
    const auto end = std::chrono::steady_clock::now() + duration;
    do {
      if (ready()) {
        in_vain_ = 0;
        return true;
      }
      sched_yield();
    } while (std::chrono::steady_clock::now() < end);
    ++in_vain_;
    return false;
  }

 private:
  static constexpr unsigned enough = 8, tried_each = 16;

  std::chrono::nanoseconds longest_ = std::chrono::microseconds(80);
  unsigned in_vain_ = 0;
};

}  // namespace rope::worker
