#include "tools/worker/sandbox/call_filter.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <vector>

#include "tools/worker/sandbox/entry.hpp"

namespace rope::sandbox {
namespace {

// Whether the call fails with EPERM in a process with the filter.
bool is_refused(Unkept unkept, const std::function<long()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<sock_filter> filter = call_filter(unkept);
    for (sock_filter& instruction : filter) {
      if (instruction.k == own_process) instruction.k = static_cast<unsigned>(getpid());
    }
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(2);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) _exit(3);
    _exit(call() == -1 && errno == EPERM ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 1;
}

TEST_CASE("the filter refuses what outlives a run, and what reaches beyond the worker", "[sandbox]") {
  for (const bool unkept : {false, true}) {
    const auto refused = [&](const std::function<long()>& call) { return is_refused({unkept, unkept}, call); };
    CHECK(refused([] { return long{shmget(IPC_PRIVATE, 1, 0600)}; }));
    CHECK(refused([] { return long{msgget(IPC_PRIVATE, 0600)}; }));
    CHECK(refused([] { return long{semget(IPC_PRIVATE, 1, 0600)}; }));
    CHECK(refused([] { return syscall(SYS_mq_open, "ropecheck-test", O_RDONLY, 0600, nullptr); }));
    int pair[2];
    CHECK(refused([&] { return long{socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair)}; }));
    CHECK(refused([&] { return long{socketpair(AF_UNIX, SOCK_RAW, 0, pair)}; }));
    constexpr int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    CHECK_FALSE(refused([&] { return long{socketpair(AF_UNIX, SOCK_STREAM | flags, 0, pair)}; }));
    CHECK_FALSE(refused([&] { return long{socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)}; }));
    constexpr unsigned long no_handler = CLONE_SIGHAND;  // without CLONE_VM it is an error
    CHECK(refused([] { return syscall(SYS_clone, CLONE_PARENT | no_handler, 0, 0, 0, 0); }));
    CHECK_FALSE(refused([] { return syscall(SYS_clone, no_handler, 0, 0, 0, 0); }));
  }
}

TEST_CASE("the filter keeps limits, priorities and signals from other processes, where asked to", "[sandbox]") {
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  const sched_param usual{};
  const std::function<long(pid_t)> aimed[] = {
      [](pid_t target) { return long{kill(target, 0)}; },
      [&](pid_t target) { return long{prlimit(target, RLIMIT_CPU, &limit, nullptr)}; },
      [&](pid_t target) { return long{sched_setscheduler(target, SCHED_OTHER, &usual)}; },
      [&](pid_t target) { return long{sched_setparam(target, &usual)}; },
      [](pid_t target) { return long{setpriority(PRIO_PROCESS, static_cast<id_t>(target), 0)}; },
      [](pid_t target) { return long{fcntl(STDIN_FILENO, F_SETOWN, target)}; }};
  const pid_t other = getpid();  // of the process with the filter
  for (const auto& call : aimed) {
    INFO(&call - aimed);
    CHECK(is_refused({.signals = true}, [&] { return call(other); }));
    CHECK_FALSE(is_refused({}, [&] { return call(other); }));
    CHECK_FALSE(is_refused({.signals = true}, [&] { return call(getpid()); }));
  }
  for (const std::size_t i : {1u, 2u, 3u, 4u}) CHECK_FALSE(is_refused({.signals = true}, [&] { return aimed[i](0); }));
  f_owner_ex owner{F_OWNER_PID, other};
  CHECK(is_refused({.signals = true}, [&] { return long{fcntl(STDIN_FILENO, F_SETOWN_EX, &owner)}; }));
  CHECK(is_refused({.signals = true}, [] { return long{fcntl(STDIN_FILENO, F_SETSIG, SIGKILL)}; }));
  CHECK_FALSE(is_refused({.signals = true}, [] { return long{fcntl(STDIN_FILENO, F_GETFL)}; }));
  CHECK(is_refused({.signals = true}, [&] { return long{ioctl(STDIN_FILENO, FIOSETOWN, &other)}; }));
}

TEST_CASE("the filter keeps attributes of files, where asked to", "[sandbox]") {
  const char* const none = "/nowhere";
  int flags = 0;
  const std::function<long()> calls[] = {[&] { return long{chmod(none, 0)}; },
                                         [&] { return long{fchmodat(AT_FDCWD, none, 0, 0)}; },
                                         [&] { return long{fchmod(STDIN_FILENO, 0)}; },
                                         [&] { return long{chown(none, 0, 0)}; },
                                         [&] { return long{fchownat(AT_FDCWD, none, 0, 0, AT_SYMLINK_NOFOLLOW)}; },
                                         [&] { return long{utimensat(AT_FDCWD, none, nullptr, 0)}; },
                                         [&] { return long{setxattr(none, "user.a", "", 0, 0)}; },
                                         [&] { return long{removexattr(none, "user.a")}; },
                                         [&] { return syscall(463, AT_FDCWD, none, 0, "user.a", nullptr, 0); },
                                         [&] { return long{ioctl(STDIN_FILENO, FS_IOC_SETFLAGS, &flags)}; }};
  for (const auto& call : calls) {
    INFO(&call - calls);
    CHECK(is_refused({.attributes = true}, call));
    if (&call != calls + 2) CHECK_FALSE(is_refused({}, call));  // this one would change stdin
  }
  CHECK_FALSE(is_refused({.attributes = true}, [&] { return long{ioctl(STDIN_FILENO, FS_IOC_GETFLAGS, &flags)}; }));
}

TEST_CASE("a refused call has a name in findings", "[sandbox]") {
  CHECK(name_of_call(SYS_socket) == "socket");
  CHECK(name_of_call(SYS_prlimit64) == "prlimit64");
  CHECK(name_of_call(SYS_fcntl) == "fcntl");
  CHECK(name_of_call(SYS_fchmod) == "fchmod");
  CHECK(name_of_call(9999) == "system call 9999");
}

}  // namespace
}  // namespace rope::sandbox
