// ropecheck_sandbox: restricts itself and becomes the worker. Started for every worker, so it is small and uses only
// system calls; what it needs is prepared by sandbox.cpp, once a run.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "tools/worker/sandbox/entry.hpp"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

namespace rope::sandbox {
namespace {

constexpr int failed = 127;
constexpr int longest_filter = 1024;
constexpr int most_writable = 64;  // paths: the scratch folder, /dev/shm, and one for each --allow
constexpr int longest_paths = 64 << 10;  // bytes of them all
constexpr int first_inherited_by_none = 256;  // ropecheck gives a worker lower numbers only

void tell(const EntryOptions& options, Told what, int number) {
  const Message message{what, number};
  if (write(options.told, &message, sizeof message) != sizeof message) _exit(failed);
}

[[noreturn]] void fail(const EntryOptions& options, Told what) {
  tell(options, what, errno);
  _exit(failed);
}

bool write_file(const char* name, const char* text) {
  const int file = open(name, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text, strlen(text)) == static_cast<ssize_t>(strlen(text));
  close(file);
  return written;
}

bool map_identity(unsigned user, unsigned group) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "%u %u 1", user, user);
  snprintf(groups, sizeof groups, "%u %u 1", group, group);
  return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", users) &&
         write_file("/proc/self/gid_map", groups);
}

// A process beside this one: ropecheck is its parent, and waits for it. 0 in the new process.
long sibling() { return syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0); }

Refusals* refusals = nullptr;  // for the first process
int carry[2] = {-1, -1};  // brings the listener of the filter from the worker to the first process
// The worker's end of life is the first process's. What opens its pipe again in /proc can hold it open for writing; the
// pipe that the first process watches is not the worker's.
int life_of_worker[2] = {-1, -1};

void send_listener(int listener) {
  char nothing = 0;
  iovec bytes{&nothing, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof listener)] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof listener);
  memcpy(CMSG_DATA(header), &listener, sizeof listener);
  sendmsg(carry[1], &message, 0);
}

// -1: none came.
int received_listener() {
  char nothing = 0;
  iovec bytes{&nothing, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(carry[0], &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int listener = -1;
  memcpy(&listener, CMSG_DATA(header), sizeof listener);
  return listener;
}

// Counts a call that the filter caught, and lets it fail. False if there will be none any more.
bool refuse_call(int listener) {
  // Newer systems may fill in more than this program knows.
  alignas(seccomp_notif) char call_bytes[1024] = {}, answer_bytes[1024] = {};
  const auto* const call = reinterpret_cast<seccomp_notif*>(call_bytes);
  auto* const answer = reinterpret_cast<seccomp_notif_resp*>(answer_bytes);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call_bytes) != 0) return errno == ENOENT || errno == EINTR;
  __atomic_store_n(&refusals->last, call->data.nr, __ATOMIC_RELAXED);
  __atomic_add_fetch(&refusals->count, 1, __ATOMIC_RELEASE);
  answer->id = call->id;
  answer->error = -EPERM;
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer_bytes) == 0 || errno == ENOENT || errno == EINTR;
}

// The namespace's first process. When it ends, the system ends all others; and it ends with ropecheck.
[[noreturn]] void be_init(const EntryOptions& options) {
  signal(SIGCHLD, SIG_IGN);
  for (int file = 0; file < first_inherited_by_none; ++file) {
    if (file != options.life && file != carry[0] && file != life_of_worker[1]) close(file);
  }
  bool has_listener = false;
  pollfd watched[2] = {{options.life, POLLIN, 0}, {carry[0], POLLIN, 0}};
  for (;;) {
    if (poll(watched, 2, -1) <= 0) continue;
    if (watched[0].revents != 0) _exit(0);
    if (watched[1].revents == 0) continue;
    if (!has_listener) {
      has_listener = true;
      watched[1].fd = received_listener();
      close(carry[0]);
    } else if ((watched[1].revents & POLLIN) == 0 || !refuse_call(watched[1].fd)) {
      close(watched[1].fd);  // no process has the filter any more
      watched[1].fd = -1;
    }
  }
}

// Of the system: linux/mount.h cannot be included beside sys/mount.h. Their numbers are the same on every machine.
constexpr long open_tree_call = 428, move_mount_call = 429, mount_setattr_call = 442;
constexpr unsigned copy_of_mount = 1, with_what_is_below = 0x8000, from_the_file_itself = 4;
struct MountAttributes {
  std::uint64_t set, cleared, propagation, users;
};
constexpr std::uint64_t read_only = 1;

// Mounts everything read-only but the given paths. This keeps also modes, owners, times and attributes of files, which
// Landlock does not.
bool mount_read_only(int paths_file) {
  static char paths[longest_paths];
  const ssize_t bytes = pread(paths_file, paths, sizeof paths - 1, 0);
  if (bytes < 0 || bytes == sizeof paths - 1) return false;
  const char* names[most_writable];
  int copies[most_writable];
  int count = 0;
  for (const char* name = paths; name < paths + bytes; name += strlen(name) + 1) {
    if (count == most_writable) return false;
    names[count] = name;
    const long copy = syscall(open_tree_call, AT_FDCWD, name, copy_of_mount | with_what_is_below | O_CLOEXEC);
    if (copy < 0) return false;
    copies[count++] = static_cast<int>(copy);
  }
  // Private first: what is mounted here must not appear for others.
  const MountAttributes attributes{read_only, 0, MS_PRIVATE, 0};
  if (syscall(mount_setattr_call, AT_FDCWD, "/", with_what_is_below, &attributes, sizeof attributes) != 0) return false;
  for (int i = 0; i < count; ++i) {
    if (syscall(move_mount_call, copies[i], "", AT_FDCWD, names[i], from_the_file_itself) != 0) return false;
    close(copies[i]);
  }
  // What was opened before lies on the old mount.
  const int null = open("/dev/null", O_RDONLY);
  return null >= 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO && close(null) == 0;
}

void prepare_telling(int file) {
  void* const memory = file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(Refusals), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return;
  refusals = static_cast<Refusals*>(memory);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, carry) != 0) carry[0] = carry[1] = -1;
}

// Returns only in the worker. The worker is not the first process: that one would ignore signals such as SIGABRT.
void enter_namespaces(const EntryOptions& options) {
  const bool users = options.namespaces == static_cast<int>(Namespaces::users_and_processes);
  const unsigned user = geteuid(), group = getegid();
  const bool mounts = options.writable >= 0;
  if (unshare(CLONE_NEWPID | (users ? CLONE_NEWUSER : 0) | (mounts ? CLONE_NEWNS : 0)) != 0) {
    fail(options, Told::namespaces_failed);
  }
  if (users && !map_identity(user, group)) fail(options, Told::namespaces_failed);
  if (mounts && !mount_read_only(options.writable)) fail(options, Told::mounts_failed);
  prepare_telling(options.refusals);
  if (pipe2(life_of_worker, O_CLOEXEC) != 0) fail(options, Told::namespaces_failed);
  const long init = sibling();
  if (init < 0) fail(options, Told::namespaces_failed);
  if (init == 0) be_init(options);
  tell(options, Told::init, static_cast<int>(init));
  const long worker = sibling();
  if (worker < 0) fail(options, Told::namespaces_failed);
  if (worker > 0) {
    tell(options, Told::worker, static_cast<int>(worker));
    _exit(0);
  }
  if (dup2(life_of_worker[0], options.life) < 0) fail(options, Told::namespaces_failed);
  setpgid(0, 0);
}

// The superuser keeps one capability: to open files whatever their mode. Landlock says which files.
bool drop_privileges() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  if (data[0].permitted == 0 && data[1].permitted == 0) return true;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (capability != CAP_DAC_OVERRIDE) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);  // fails beyond the last one
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  const unsigned kept = data[0].permitted & (1U << CAP_DAC_OVERRIDE);
  data[0] = {kept, kept, 0};
  data[1] = {0, 0, 0};
  return syscall(SYS_capset, &header, data) == 0;
}

void replace(sock_filter* instructions, int count, unsigned verdict, unsigned by) {
  for (int i = 0; i < count; ++i) {
    if (instructions[i].code == (BPF_RET | BPF_K) && instructions[i].k == verdict) instructions[i].k = by;
  }
}

bool filter_calls(int file) {
  static sock_filter instructions[longest_filter];
  const ssize_t bytes = pread(file, instructions, sizeof instructions, 0);
  if (bytes <= 0) return false;
  const auto count = static_cast<unsigned short>(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
  for (int i = 0; i < count; ++i) {
    if (instructions[i].k == own_process) instructions[i].k = static_cast<unsigned>(getpid());
  }
  const sock_fprog program{count, instructions};
  // Older systems slow down every process with a filter, unless told not to.
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  if (carry[1] >= 0) {
    replace(instructions, count, refusing, SECCOMP_RET_USER_NOTIF);
    const long listener =
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (listener >= 0) {
      send_listener(static_cast<int>(listener));
      close(static_cast<int>(listener));
      return true;
    }
    replace(instructions, count, SECCOMP_RET_USER_NOTIF, refusing);  // an older system, or a filter that listens already
  }
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

int enter(const EntryOptions& options, char** program) {
  for (const int file : {options.told, options.ruleset, options.filter, options.refusals, options.writable}) {
    if (file >= 0) fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  if (options.namespaces != 0) enter_namespaces(options);
  if (!drop_privileges()) fail(options, Told::privileges_failed);
  if (options.ruleset >= 0 && syscall(SYS_landlock_restrict_self, options.ruleset, 0) != 0) {
    fail(options, Told::files_failed);
  }
  if (options.filter >= 0 && !filter_calls(options.filter)) fail(options, Told::calls_failed);
  execvp(program[0], program);
  fail(options, Told::program_failed);
}

}  // namespace
}  // namespace rope::sandbox

int main(int argc, char** argv) {
  using namespace rope::sandbox;
  EntryOptions options;
  if (argc < 3 || sscanf(argv[1], entry_format, &options.namespaces, &options.told, &options.life, &options.ruleset,
                         &options.filter, &options.refusals, &options.writable) != 7) {
    fputs("ropecheck_sandbox is started by ropecheck; run ropecheck itself\n", stderr);
    return 2;
  }
  return enter(options, argv + 2);
}
