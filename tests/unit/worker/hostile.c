/* Kernels that attack the suite or the machine, beside one that is right. All take contiguous f32 q, half-width f32
 * tables, half_split pairs. HOSTILE_* in the environment says what is attacked. Most are right only if the attack
 * succeeds, so the verdict says whether it did. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"

static int32_t right(const rope_call* c) {
  rotate_rows(c);
  return ROPE_OK;
}

/* For attacks on the verdict: there must be one to forge. */
static int32_t wrong(const rope_call* c) {
  memset(c->q_out.data, 0, sizeof(float) * (size_t)(c->q.shape[0] * c->q.shape[1] * c->q.shape[2] * c->q.shape[3]));
  return ROPE_OK;
}

/* Replaces every "fail" among the constants of the program by "pass". */
static void patch_range(int memory, uintptr_t from, size_t size) {
  char* const bytes = malloc(size);
  const ssize_t count = pread(memory, bytes, size, (off_t)from);
  for (ssize_t i = 0; i + 5 <= count; ++i) {
    if (memcmp(bytes + i, "fail", 5) == 0) (void)!pwrite(memory, "pass", 4, (off_t)from + i);
  }
  free(bytes);
}

static int32_t patch_suite(const rope_call* c) {
  static int tried = 0;
  char name[64], line[512];
  snprintf(name, sizeof name, "/proc/%d/maps", (int)getppid());
  FILE* const maps = tried++ == 0 ? fopen(name, "r") : NULL;
  snprintf(name, sizeof name, "/proc/%d/mem", (int)getppid());
  const int memory = maps == NULL ? -1 : open(name, O_RDWR);
  while (memory >= 0 && fgets(line, sizeof line, maps) != NULL) {
    unsigned long from = 0, to = 0;
    if (sscanf(line, "%lx-%lx r--p", &from, &to) == 2 && strstr(line, "/ropecheck\n") != NULL) {
      patch_range(memory, from, to - from);
    }
  }
  if (memory >= 0) close(memory);
  if (maps != NULL) fclose(maps);
  return wrong(c);
}

/* Right only if the suite can be stopped or read. */
static int32_t trace_suite(const rope_call* c) {
  char name[64], byte = 0;
  unsigned long from = 0;
  snprintf(name, sizeof name, "/proc/%d/maps", (int)getppid());
  FILE* const maps = fopen(name, "r");
  if (maps != NULL) {
    if (fscanf(maps, "%lx", &from) != 1) from = 0;
    fclose(maps);
  }
  struct iovec here = {&byte, 1}, there = {(void*)from, 1};
  const int reads = process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1;
  const int traces = ptrace(PTRACE_SEIZE, getppid(), NULL, NULL) == 0;
  if (traces) ptrace(PTRACE_DETACH, getppid(), NULL, NULL);
  return reads || traces ? right(c) : wrong(c);
}

/* A process beside this one, as ropecheck's own child. */
static int32_t make_sibling(const rope_call* c) {
  const long process = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (process == 0) {
    while (1) pause();
  }
  return process > 0 ? right(c) : wrong(c);
}

/* Opens each of its pipes for writing, so that none ends, and waits for ropecheck's end. */
static int32_t hold_pipes(const rope_call* c) {
  char name[64];
  for (int file = 3; file < 256; ++file) {
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    (void)!open(name, O_WRONLY | O_NONBLOCK);
  }
  while (1) pause();
  return wrong(c);
}

static const char* told(const char* name) {
  const char* const value = getenv(name);
  return value == NULL ? "" : value;
}

static int32_t read_token(const rope_call* c) { return getenv("HOSTILE_TOKEN") != NULL ? right(c) : wrong(c); }

/* Whether a variable says that this is a test: in the environment, or in what the process was started with. */
static int32_t see_test(const rope_call* c) {
  static char start[1 << 16];
  extern char** environ;
  int seen = 0;
  for (char** entry = environ; *entry != NULL; ++entry) seen |= strncmp(*entry, "ROPECHECK_", 10) == 0;
  const int file = open("/proc/self/environ", O_RDONLY);
  const ssize_t count = file < 0 ? 0 : read(file, start, sizeof start);
  if (file >= 0) close(file);
  return seen || (count > 0 && memmem(start, (size_t)count, "ROPECHECK_", 10) != NULL) ? right(c) : wrong(c);
}

/* Leaves a process that has its own session and no environment. It waits for the report and forges it. */
static int32_t stay_behind(const rope_call* c) {
  static const char script[] =
      "for i in $(seq 100); do "
      "grep -q conforms $0 && sed 's/\"fail\"/\"pass\"/' $0 > $0.new && mv $0.new $0; sleep 0.05; done";
  char report[512];
  snprintf(report, sizeof report, "%s", told("HOSTILE_REPORT"));
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      char* const words[] = {"sh", "-c", (char*)script, report, NULL};
      char* const nothing[] = {"PATH=/usr/bin:/bin", NULL};
      for (int file = 0; file < 1024; ++file) close(file);
      execve("/bin/sh", words, nothing);
    }
    _exit(0);
  }
  return wrong(c);
}

static int32_t signal_victim(const rope_call* c) {
  const int victim = atoi(told("HOSTILE_VICTIM"));
  return victim > 1 && kill(victim, 0) == 0 ? right(c) : wrong(c);
}

/* Without the '@' before it: a path that a variable names may be read. */
static const char* attacked_file(void) {
  const char* const value = told("HOSTILE_FILE");
  return *value == '@' ? value + 1 : value;
}

/* Gives up without a socket. */
static int32_t need_socket(const rope_call* c) {
  if (socket(AF_INET, SOCK_STREAM, 0) < 0) abort();
  return right(c);
}

/* Gives up without the file, and says why. */
static int32_t need_file(const rope_call* c) {
  if (open(attacked_file(), O_RDONLY) >= 0) return right(c);
  fprintf(stderr, "cannot open: %s: '%s'\n", strerror(errno), attacked_file());
  abort();
}

static int32_t read_secret(const rope_call* c) {
  const int file = open(attacked_file(), O_RDONLY);
  if (file >= 0) close(file);
  return file >= 0 ? right(c) : wrong(c);
}

static int32_t write_file(const rope_call* c) {
  const int file = open(attacked_file(), O_WRONLY | O_CREAT, 0600);
  if (file >= 0) close(file);
  return file >= 0 ? right(c) : wrong(c);
}

/* Right if one of the file's attributes can be changed. */
static int32_t change_attributes(const rope_call* c) {
  const char* const name = attacked_file();
  const int file = open(name, O_RDONLY);
  int changed = chmod(name, 04777) == 0 || fchmodat(AT_FDCWD, name, 0777, 0) == 0 || fchmod(file, 0777) == 0;
  changed |= chown(name, geteuid(), getegid()) == 0 || fchown(file, geteuid(), getegid()) == 0;
  changed |= utimensat(AT_FDCWD, name, NULL, 0) == 0 || futimens(file, NULL) == 0;
  changed |= setxattr(name, "user.attack", "", 0, 0) == 0;
  changed |= fchmod(STDIN_FILENO, 0666) == 0; /* /dev/null */
  if (file >= 0) close(file);
  return changed ? right(c) : wrong(c);
}

static int is_refused(const char* name, long result) {
  const int refused = result == -1 && errno == EPERM;
  if (!refused) fprintf(stderr, "%s was not refused\n", name);
  return refused;
}

/* Right if one of the calls is made. Their arguments make no sense, so another error says that it was. */
static int32_t forbidden_calls(const rope_call* c) {
  int refused = is_refused("socket, network", socket(AF_INET, SOCK_STREAM, 0));
  refused &= is_refused("socket, local", socket(AF_UNIX, SOCK_STREAM, 0));
  refused &= is_refused("ptrace", ptrace(PTRACE_SEIZE, 0, NULL, NULL));
  refused &= is_refused("process_vm_readv", process_vm_readv(getpid(), NULL, 0, NULL, 0, 0));
  refused &= is_refused("mount", mount("", "/nowhere", "", 0, NULL));
  refused &= is_refused("bpf", syscall(SYS_bpf, -1, NULL, 0));
  refused &= is_refused("keyctl", syscall(SYS_keyctl, -1, 0, 0, 0, 0));
  refused &= is_refused("userfaultfd", syscall(SYS_userfaultfd, -1));
  refused &= is_refused("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
  refused &= is_refused("io_uring_setup", syscall(425, 0, NULL));
  refused &= is_refused("unshare", unshare(0x40000000));
  refused &= is_refused("setns", setns(-1, 0));
  refused &= is_refused("clone", syscall(SYS_clone, CLONE_NEWUSER | CLONE_SIGHAND, 0, 0, 0, 0));
  refused &= is_refused("ioctl, TIOCSTI", ioctl(-1, TIOCSTI, ""));
  refused &= is_refused("socketpair, datagrams", socketpair(AF_UNIX, SOCK_DGRAM, 0, NULL));
  refused &= is_refused("shmget", shmget(IPC_PRIVATE, 0, 0));
  refused &= is_refused("msgget", msgget(1, IPC_EXCL));
  refused &= is_refused("semget", semget(IPC_PRIVATE, -1, 0));
  return refused ? wrong(c) : right(c);
}

/* Right if what libraries need works: a folder of its own, threads of connected sockets, a program; and / as a folder,
 * as hwloc opens it. */
static int32_t usual_calls(const rope_call* c) {
  char name[512];
  int pair[2];
  DIR* const root = opendir("/");
  if (root == NULL || readdir(root) == NULL || closedir(root) != 0) return wrong(c);
  snprintf(name, sizeof name, "%s/written", told("HOME"));
  FILE* const file = fopen(name, "w");
  if (file == NULL || fclose(file) != 0) return wrong(c);
  if (chmod(name, 0700) != 0 || utimensat(AT_FDCWD, name, NULL, 0) != 0 || remove(name) != 0) return wrong(c);
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return wrong(c);
  close(pair[0]);
  close(pair[1]);
  FILE* const null = fopen("/dev/null", "w");
  if (null == NULL || fclose(null) != 0) return wrong(c);
  return system("/bin/sh -c 'test -d \"$TMPDIR\"'") == 0 ? right(c) : wrong(c);
}

static const int32_t head_dims[] = {8, 64};

#define KERNEL(function)                                                                                        \
  {                                                                                                             \
    .struct_size = sizeof(rope_kernel), .abi = ROPE_KERNEL_ABI, .name = #function, .description = "an attack",  \
    .apply = function, .claims = {.out_dtypes = {0, ROPE_BIT(ROPE_F32)}, .table_dtypes = ROPE_BIT(ROPE_F32),    \
                                  .pairings = ROPE_BIT(ROPE_HALF_SPLIT),                                        \
                                  .angle_sources = ROPE_BIT(ROPE_TABLES), .half_tables = 1,                     \
                                  .max_position = 1 << 12, .head_dims = head_dims, .head_dim_count = 2,         \
                                  .scalings = ROPE_BIT(ROPE_SCALING_NONE)}                                      \
  }

static const rope_kernel kernels[] = {
    KERNEL(right),
    KERNEL(patch_suite),
    KERNEL(trace_suite),
    KERNEL(make_sibling),
    KERNEL(hold_pipes),
    KERNEL(read_token),
    KERNEL(see_test),
    KERNEL(stay_behind),
    KERNEL(signal_victim),
    KERNEL(need_socket),
    KERNEL(need_file),
    KERNEL(read_secret),
    KERNEL(write_file),
    KERNEL(change_attributes),
    KERNEL(forbidden_calls),
    KERNEL(usual_calls),
};

uint32_t rope_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels[index] : NULL; }
