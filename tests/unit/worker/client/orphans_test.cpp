#include "tools/worker/client/orphans.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>

namespace rope::worker {
namespace {

// The new process is a child of the test, not of the process that calls this.
pid_t sibling() { return static_cast<pid_t>(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)); }

[[noreturn]] void live_with_this_test() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (true) pause();
}

// The first two processes of a namespace, both children of this one. 0: the system makes no namespace here.
std::array<pid_t, 2> two_in_a_namespace() {
  int found[2];
  REQUIRE(pipe(found) == 0);
  const pid_t maker = fork();
  if (maker == 0) {
    std::array<pid_t, 2> made{};
    const bool can = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
    for (pid_t& one : made) {
      if (can && (one = sibling()) == 0) live_with_this_test();
    }
    _exit(write(found[1], made.data(), sizeof made) == sizeof made ? 0 : 1);
  }
  std::array<pid_t, 2> made{};
  CHECK(read(found[0], made.data(), sizeof made) == sizeof made);
  waitpid(maker, nullptr, 0);
  close(found[0]);
  close(found[1]);
  return made;
}

TEST_CASE("a namespace ends although this process has a child in it", "[sandbox]") {
  const auto [init, other] = two_in_a_namespace();
  if (init <= 0) {
    WARN("left out: no PID namespace can be made here");
    return;
  }
  const pid_t stranger = fork();  // not in the namespace
  if (stranger == 0) live_with_this_test();
  alarm(60);  // SIGALRM ends the test if it hangs
  end_namespace(init);
  alarm(0);
  for (const pid_t gone : {init, other}) {
    CHECK(waitpid(gone, nullptr, 0) == -1);
    CHECK(errno == ECHILD);
  }
  CHECK(waitpid(stranger, nullptr, WNOHANG) == 0);
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

}  // namespace
}  // namespace rope::worker
