// How much a worker really did in some time. On a busy machine the wall clock says little: a process that computes may
// wait for a CPU most of the time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

namespace rope::worker {

// What may pass until an answer comes. The first of these limits that is reached ends the waiting.
struct TimeLimits {
  std::chrono::milliseconds computing;  // WorkTimes::computed
  std::chrono::milliseconds own;        // WorkTimes::own()
  std::chrono::milliseconds waiting;    // WorkTimes::waited
};

struct WorkTimes {
  using Time = std::chrono::nanoseconds;

  Time wall{};
  // The least time that the same work takes on this machine when nothing else runs: the CPU time of the thread that
  // computed most, or of all threads spread over all CPUs.
  Time computed{};
  Time waited{};        // for a CPU
  bool is_told = true;  // false: the system does not tell how long threads waited

  Time own() const { return wall - waited; }  // computed, or slept
};

// What the system says about the threads of some processes.
struct ThreadTimes {
  struct Thread {
    std::chrono::nanoseconds ran{}, waited{};  // waits that have ended
    bool wants_cpu = false;                    // has one, or waits for one
  };
  std::map<pid_t, Thread> threads;
  std::chrono::nanoseconds all{};  // CPU time, also of threads and children that have ended
};

// Of these processes and of what they started, but for this process and its other children. nullopt: of the first one
// the system does not tell it.
std::optional<ThreadTimes> thread_times(const std::vector<pid_t>& processes,
                                        const std::filesystem::path& proc = "/proc");

class WorkClock {
 public:
  // Starts now. The first process is the worker. `proc` is where the system tells about processes.
  explicit WorkClock(std::vector<pid_t> processes, std::filesystem::path proc = "/proc");

  // QueuedTask is added up from look to look: at least once a second, or what waited in a process that has ended is
  // lost.
  WorkTimes look();

 private:
  std::vector<pid_t> processes_;
  std::filesystem::path proc_;
  std::int64_t cpus_;
  std::chrono::steady_clock::time_point start_, last_look_;
  std::optional<ThreadTimes> first_, last_;
  std::chrono::nanoseconds cpu_time_at_start_;
  std::chrono::nanoseconds waited_{};
};

// More processes want to run than there are CPUs, on average over a minute. For systems that tell no more.
bool is_machine_loaded();

}  // namespace rope::worker
