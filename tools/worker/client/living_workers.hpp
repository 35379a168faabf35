// The workers that live, for a signal handler that ends this process at once.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace rope::worker {

// While a worker is started: no signal handler runs in this thread, and in others kill_living() waits.
class Starting {
 public:
  Starting() noexcept;
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;
  ~Starting();

 private:
  sigset_t before_;
};

// `pid` leads a process group. Not more than a few dozen are noted; the others end as PROTOCOL.md says.
void note_living(pid_t pid) noexcept;
void forget_living(pid_t pid) noexcept;  // before it is waited for: then another process may get its number

// Only system calls and atomic reads, as a signal handler may make them.
void kill_living() noexcept;

}  // namespace rope::worker
