// Waking a halted CPU costs 85-140 us, more than everything else in a small call; so both sides look again and again
// for a while before they block. With one CPU that would only keep the other side from running; so it does where other
// work holds the rest: the median of a small call is 8 us on two free CPUs, 170 us beside busy ones. Longer would cost
// more there (410 us at 200 us); yielding instead gave 4 ms in one call of ten.
#pragma once

#include <sched.h>

#include <chrono>

namespace rope::worker {

inline std::chrono::nanoseconds spin_time() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return {};
  return std::chrono::microseconds(80);
}

// Calls `ready` until it returns true or the time is over; returns what it returned last.
template <class Ready>
bool spin_until(std::chrono::nanoseconds duration, Ready&& ready) {
  const auto end = std::chrono::steady_clock::now() + duration;
  do {
    if (ready()) return true;
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace rope::worker
