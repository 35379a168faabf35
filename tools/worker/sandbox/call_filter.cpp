#include "tools/worker/sandbox/call_filter.hpp"

#include <asm/sockios.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "tools/worker/sandbox/entry.hpp"

namespace rope::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t machine = 0;
#endif

constexpr std::uint32_t other_numbers = 0x40000000;  // x86's third table of calls

constexpr std::uint32_t number_at = offsetof(seccomp_data, nr);
constexpr std::uint32_t machine_at = offsetof(seccomp_data, arch);

// The lower half: both machines are little-endian. No value that is compared needs the upper one.
constexpr std::uint32_t argument_at(std::size_t i) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + i * sizeof(std::uint64_t));
}

constexpr std::uint32_t refuse = refusing;
constexpr std::uint32_t not_there = SECCOMP_RET_ERRNO | ENOSYS;

// Calls 424 and later have the same number everywhere.
struct NamedCall {
  std::uint32_t number;
  const char* name;
};

constexpr NamedCall refused_calls[] = {
    {SYS_socket, "socket"}, {SYS_ptrace, "ptrace"}, {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"}, {SYS_kcmp, "kcmp"},
    {438, "pidfd_getfd"}, {440, "process_madvise"}, {448, "process_mrelease"},
    {SYS_mount, "mount"}, {SYS_umount2, "umount2"}, {SYS_pivot_root, "pivot_root"}, {SYS_chroot, "chroot"},
    {428, "open_tree"}, {429, "move_mount"}, {430, "fsopen"},
    {431, "fsconfig"}, {432, "fsmount"}, {433, "fspick"}, {442, "mount_setattr"},
    {SYS_setns, "setns"}, {SYS_unshare, "unshare"}, {SYS_bpf, "bpf"}, {SYS_keyctl, "keyctl"},
    {SYS_add_key, "add_key"}, {SYS_request_key, "request_key"}, {SYS_userfaultfd, "userfaultfd"},
    {SYS_perf_event_open, "perf_event_open"},
    {425, "io_uring_setup"}, {426, "io_uring_enter"}, {427, "io_uring_register"},
    {SYS_open_by_handle_at, "open_by_handle_at"}, {SYS_kexec_load, "kexec_load"}, {SYS_init_module, "init_module"},
    {SYS_finit_module, "finit_module"}, {SYS_delete_module, "delete_module"}, {SYS_reboot, "reboot"},
    {SYS_swapon, "swapon"},
    {SYS_swapoff, "swapoff"}, {SYS_acct, "acct"}, {SYS_quotactl, "quotactl"}, {SYS_settimeofday, "settimeofday"},
    {SYS_clock_settime, "clock_settime"}, {SYS_sethostname, "sethostname"}, {SYS_setdomainname, "setdomainname"},
    {SYS_syslog, "syslog"}, {SYS_fanotify_init, "fanotify_init"},
    // What these make outlives the run.
    {SYS_shmget, "shmget"}, {SYS_msgget, "msgget"}, {SYS_semget, "semget"}, {SYS_mq_open, "mq_open"},
#if defined(__x86_64__)
    {SYS_iopl, "iopl"}, {SYS_ioperm, "ioperm"}, {SYS_kexec_file_load, "kexec_file_load"},
#endif
};

// They change what a file is like, also where nothing may be written to it. No filter sees the path.
constexpr NamedCall attribute_calls[] = {
    {SYS_fchmod, "fchmod"}, {SYS_fchmodat, "fchmodat"}, {452, "fchmodat2"}, {SYS_fchown, "fchown"},
    {SYS_fchownat, "fchownat"}, {SYS_utimensat, "utimensat"}, {SYS_setxattr, "setxattr"}, {SYS_lsetxattr, "lsetxattr"},
    {SYS_fsetxattr, "fsetxattr"}, {463, "setxattrat"}, {SYS_removexattr, "removexattr"},
    {SYS_lremovexattr, "lremovexattr"}, {SYS_fremovexattr, "fremovexattr"}, {466, "removexattrat"},
    {469, "file_setattr"},
#if defined(__x86_64__)
    {SYS_chmod, "chmod"}, {SYS_chown, "chown"}, {SYS_lchown, "lchown"}, {SYS_utime, "utime"}, {SYS_utimes, "utimes"},
    {SYS_futimesat, "futimesat"},
#endif
};

// They signal, stop or slow another process, unless the argument at this place is 0 or the worker itself. Not
// sched_setaffinity, which takes the number of a thread.
struct AimedCall {
  NamedCall call;
  std::size_t target = 0;
};

constexpr AimedCall aimed_calls[] = {{{SYS_kill, "kill"}},
                                     {{SYS_tgkill, "tgkill"}},
                                     {{SYS_rt_sigqueueinfo, "rt_sigqueueinfo"}},
                                     {{SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo"}},
                                     {{SYS_prlimit64, "prlimit64"}},
                                     {{SYS_sched_setscheduler, "sched_setscheduler"}},
                                     {{SYS_sched_setparam, "sched_setparam"}},
                                     {{SYS_sched_setattr, "sched_setattr"}},
                                     {{SYS_setpriority, "setpriority"}, 1}};

// Refused by their arguments, or wherever signals are.
constexpr NamedCall other_calls[] = {{SYS_socketpair, "socketpair"}, {SYS_clone, "clone"}, {SYS_ioctl, "ioctl"},
                                     {SYS_fcntl, "fcntl"}, {SYS_tkill, "tkill"}, {424, "pidfd_send_signal"}};

// New namespaces, and a process beside the worker: ropecheck would be its parent, and would have to wait for it.
constexpr std::uint32_t refused_clones = CLONE_PARENT | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                         CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset); }
  void end(std::uint32_t verdict) { add(BPF_RET | BPF_K, verdict); }
  // The next `count` instructions run only if it is.
  void if_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count); }
  void if_not_equal(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0); }
  void if_at_least(std::uint32_t value, std::uint8_t count) { add(BPF_JMP | BPF_JGE | BPF_K, value, 0, count); }
  void if_any_bit(std::uint32_t bits, std::uint8_t count) { add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, count); }

  std::vector<sock_filter> take() { return std::move(instructions_); }

 private:
  void add(int code, std::uint32_t value, std::uint8_t if_true = 0, std::uint8_t if_false = 0) {
    instructions_.push_back({static_cast<std::uint16_t>(code), if_true, if_false, value});
  }

  std::vector<sock_filter> instructions_;
};

// The number of the call is loaded before and after, here and below.
void refuse_commands(Program& program, std::uint32_t call, std::initializer_list<std::uint32_t> commands) {
  program.if_equal(call, static_cast<std::uint8_t>(2 + 2 * commands.size()));
  program.load(argument_at(1));
  for (const std::uint32_t command : commands) {
    program.if_equal(command, 1);
    program.end(refuse);
  }
  program.load(number_at);
}

void refuse_each(Program& program, std::span<const NamedCall> calls) {
  for (const NamedCall& call : calls) {
    program.if_equal(call.number, 1);
    program.end(refuse);
  }
}

void refuse_by_arguments(Program& program) {
  // A datagram socket of a pair can send to any path.
  program.if_equal(SYS_socketpair, 7);
  program.load(argument_at(0));
  program.if_not_equal(AF_UNIX, 1);
  program.end(refuse);
  program.load(argument_at(1));
  program.if_any_bit(SOCK_DGRAM, 1);  // SOCK_RAW has this bit, too
  program.end(refuse);
  program.end(SECCOMP_RET_ALLOW);
  program.if_equal(SYS_clone, 4);
  program.load(argument_at(0));
  program.if_any_bit(refused_clones, 1);
  program.end(refuse);
  program.end(SECCOMP_RET_ALLOW);
  // It would type into the terminal that ropecheck runs in.
  refuse_commands(program, SYS_ioctl, {TIOCSTI, TIOCLINUX});
}

void refuse_signals(Program& program) {
  for (const AimedCall& aimed : aimed_calls) {
    program.if_equal(aimed.call.number, 6);
    program.load(argument_at(aimed.target));
    program.if_equal(own_process, 1);
    program.end(SECCOMP_RET_ALLOW);
    program.if_not_equal(0, 1);  // 0: the worker or its own group
    program.end(refuse);
    program.load(number_at);
  }
  // A file may send any signal to any process when it can be read.
  refuse_commands(program, SYS_fcntl, {F_SETOWN_EX, F_SETSIG});
  refuse_commands(program, SYS_ioctl, {FIOSETOWN, SIOCSPGRP});
  program.if_equal(SYS_fcntl, 6);
  program.load(argument_at(1));
  program.if_equal(F_SETOWN, 3);
  program.load(argument_at(2));
  program.if_not_equal(own_process, 1);
  program.end(refuse);
  program.load(number_at);
  for (const std::uint32_t call : {std::uint32_t{SYS_tkill}, std::uint32_t{424} /* pidfd_send_signal */}) {
    program.if_equal(call, 1);
    program.end(refuse);
  }
}

}  // namespace

bool can_filter_calls() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return machine != 0 && syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

std::string name_of_call(std::int32_t number) {
  const auto is_it = [number](const NamedCall& call) { return std::cmp_equal(call.number, number); };
  for (const std::span<const NamedCall> calls :
       {std::span<const NamedCall>(refused_calls), std::span<const NamedCall>(attribute_calls),
        std::span<const NamedCall>(other_calls)}) {
    if (const auto found = std::ranges::find_if(calls, is_it); found != calls.end()) return found->name;
  }
  const auto aimed = std::ranges::find_if(aimed_calls, is_it, &AimedCall::call);
  if (aimed != std::end(aimed_calls)) return aimed->call.name;
  return "system call " + std::to_string(number);
}

std::vector<sock_filter> call_filter(Unkept unkept) {
  Program program;
  program.load(machine_at);
  program.if_not_equal(machine, 1);
  program.end(refuse);
  program.load(number_at);
  program.if_at_least(other_numbers, 1);
  program.end(refuse);
  // Its flags are in memory, where no filter sees them. Libraries then call clone.
  program.if_equal(SYS_clone3, 1);
  program.end(not_there);
  refuse_each(program, refused_calls);
  if (unkept.attributes) {
    refuse_each(program, attribute_calls);
    refuse_commands(program, SYS_ioctl, {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR});
  }
  if (unkept.signals) refuse_signals(program);
  refuse_by_arguments(program);
  program.end(SECCOMP_RET_ALLOW);
  return program.take();
}

}  // namespace rope::sandbox
