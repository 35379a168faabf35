// The options of a subject in another process.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "tools/judge/call/stop.hpp"
#include "tools/worker/client/work_clock.hpp"
#include "tools/worker/sandbox/sandbox.hpp"

namespace rope {

// Which inaccessible page a tensor lies against. One run with each finds reads and writes beyond either end.
enum class Placement {
  at_end,   // the byte after the tensor is inaccessible, as far as the claimed alignment allows
  at_start  // the byte before it is
};

struct WorkerOptions {
  Placement placement = Placement::at_end;
  // How long a process may compute until it has loaded its subject and said what it is.
  std::chrono::milliseconds load_deadline{60'000};
  // How long a call may compute. A longer one is answered with timed_out, and its process is killed. The first call of a
  // process may compile.
  std::chrono::milliseconds first_call_deadline{60'000};
  bool first_call_is_limited = false;  // to that, also if the subject asks for more
  std::chrono::milliseconds deadline{10'000};
  // How long a process that sleeps may take for any of these, if that is more: a deadlock uses no CPU.
  std::chrono::milliseconds wall_deadline{120'000};
  // How long it may wait for a CPU, if that is more. Then nothing can be said about it.
  std::chrono::milliseconds longest_wait{180'000};

  worker::TimeLimits limits(std::chrono::milliseconds computing) const {
    return {computing, std::max(computing, wall_deadline), std::max(computing, longest_wait)};
  }

  // Only one process of the subject may run at a time.
  bool only_one = false;
  // The program that loads the library. Empty: ropecheck_host of the program's files, program_files.hpp.
  std::filesystem::path host;
  // The program under which kernels on a CUDA device can be run, compute_sanitizer.hpp. Empty: there is none.
  std::filesystem::path compute_sanitizer;
  // What the subject's processes may touch. None: whatever this process may.
  std::shared_ptr<sandbox::Sandbox> sandbox;
  // Once it is requested, whatever waits for the subject throws Interrupted.
  const Stop* stop = nullptr;
};

}  // namespace rope
