// One worker process: started with its connection and the shared memories, spoken to line by line, watched, and ended
// without leaving anything behind. It knows nothing about calls.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/call/stop.hpp"
#include "tools/worker/protocol/file_descriptor.hpp"
#include "tools/worker/client/shared_memory.hpp"
#include "tools/worker/client/work_clock.hpp"
#include "tools/worker/protocol/line_buffer.hpp"
#include "tools/worker/protocol/spin.hpp"
#include "tools/worker/sandbox/refused_calls.hpp"
#include "tools/worker/sandbox/sandbox.hpp"

namespace rope::worker {

// Which program a worker is. ropecheck knows what its own programs can, whatever a kernel says in their place.
enum class WorkerProgram {
  library_host,  // ropecheck_host: takes calls as bytes, and maps only those parts of its memory that they name
  python,        // the worker of the Python package
  other
};

struct Launch {
  std::vector<std::string> arguments;    // the program first; looked up in PATH if it has no slash
  std::vector<std::string> environment;  // "NAME=value", added to our own environment without its ROPECHECK_ variables
  std::shared_ptr<sandbox::Sandbox> sandbox = nullptr;  // none: the process may do what this one may
  bool filtered = true;                                 // in a sandbox: its system calls
  WorkerProgram program = WorkerProgram::other;
};

class SpawnSetup;

class WorkerProcess {
 public:
  enum class Event {
    line,      // text holds it
    died,      // wait_status() says how
    deadline,  // it lives; at once if it does not read()
    starved    // it lives, and waited for a CPU too long to say anything about it
  };
  struct Received {
    Event event;
    std::string text;
  };

  // Throws SubjectError if the program cannot be started. Once `stop` is requested, this and all that wait kill the
  // process and throw Interrupted.
  WorkerProcess(const Launch& launch, const SharedMemory& inputs, const SharedMemory& outputs, const Stop* stop);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // kills whatever is left of it

  // A message as it is. If the process is gone, or reads nothing, the next hear() says so.
  void send(std::string_view message);

  // Waits, and meanwhile collects what the process prints. After `died` call only output() and wait_status().
  // If the connection ends, the process has a fifth of a second more to end too: `deadline` comes early then.
  Received hear(std::chrono::milliseconds deadline);

  // The same, but counts what the process and its children did in that time, which work_times() tells then.
  Received hear(const TimeLimits& limits);
  const WorkTimes& work_times() const { return work_times_; }

  // The kernel's code runs in the process that started this one.
  void computes_in_caller() { computes_in_caller_ = true; }

  // Whether it ends by itself in that time, once it was told to. If so, wait_status() says how.
  bool ends_within(std::chrono::milliseconds time);

  // What it printed to stdout and stderr since forget_output(): the last few KiB, printable.
  std::string output();
  void forget_output();

  // What its sandbox kept from it: variables, and the last system call that it refused since forget_output(), by name.
  // Nothing if there is no sandbox, or none that tells.
  const std::vector<std::string>& withheld() const { return withheld_; }
  std::string refused_call() const { return refused_ ? refused_->last() : ""; }
  bool in_sandbox() const { return in_sandbox_; }

  // What came after the last whole line.
  const std::string& unfinished() const { return lines_.unfinished(); }

  // Kills it and everything it started, and waits for it. Not an error if it has ended.
  void kill();

  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  bool connected() const { return connected_; }
  bool reads() const { return reads_; }  // until its messages fill all room that the system has for them
  int wait_status() const { return wait_status_; }

 private:
  void start(const Launch& launch, SpawnSetup& setup);
  void end_if_stopped();
  bool receive();  // whether anything new came from the connection
  void drain_output();

  const Stop* stop_;
  pid_t pid_ = -1;
  pid_t init_ = -1;         // the first process of its namespace; -1: it has none of its own
  std::string mark_;        // in the environment of everything it starts
  bool in_sandbox_ = false;
  std::vector<std::string> withheld_;
  std::unique_ptr<sandbox::RefusedCalls> refused_;
  FileDescriptor process_;  // a pidfd: a forked child may hold the connection open beyond the end of the worker
  FileDescriptor connection_;
  FileDescriptor output_;
  FileDescriptor life_;  // its closing kills the worker, see native_host.cpp
  bool connected_ = true;
  bool reads_ = true;
  bool computes_in_caller_ = false;
  WorkTimes work_times_;
  int wait_status_ = 0;
  Spin spin_;
  LineBuffer lines_;
  std::string printed_;
};

}  // namespace rope::worker
