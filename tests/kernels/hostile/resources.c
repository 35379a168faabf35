/* Deeds on what a process has: open files, other processes, threads, limits. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deeds.h"

#define FILES 1024
#define LONG 100 /* seconds: longer than every deadline */

static void to_every_file(void (*act)(int file)) {
  for (int file = 0; file < FILES; ++file) {
    if (fcntl(file, F_GETFD) >= 0) act(file);
  }
}
static void send_to_every_file(const char* text, size_t size) {
  for (int file = 0; file < FILES; ++file) {
    if (fcntl(file, F_GETFD) >= 0) (void)!write(file, text, size);
  }
}

int32_t close_all(const rope_call* c) {
  closefrom(0);
  return right(c);
}
int32_t close_above_2(const rope_call* c) {
  closefrom(3);
  return right(c);
}

int32_t write_to_every_file(const rope_call* c) {
  send_to_every_file("\xff\x00garbage\n", 10);
  return right(c);
}
/* Wrong results, and an answer that says they are right: before the worker's own. */
int32_t answer_itself(const rope_call* c) {
  static const char answer[] = "{\"id\":1,\"ok\":true,\"status\":0}\n{\"id\":2,\"ok\":true,\"status\":0}\n";
  send_to_every_file(answer, sizeof answer - 1);
  memset(c->q_out.data, 0, sizeof(float));
  return ROPE_OK;
}
int32_t answer_deep(const rope_call* c) {
  static char deep[100000];
  memset(deep, '[', sizeof deep - 1);
  deep[sizeof deep - 1] = '\n';
  send_to_every_file(deep, sizeof deep);
  return right(c);
}
/* A line that does not end. */
int32_t answer_endlessly(const rope_call* c) {
  static char line[1 << 16];
  memset(line, 'x', sizeof line);
  for (int i = 0; i < 64; ++i) send_to_every_file(line, sizeof line);
  return right(c);
}

static void read_all(int file) {
  char bytes[256];
  (void)!recv(file, bytes, sizeof bytes, MSG_DONTWAIT);
}
int32_t read_every_file(const rope_call* c) {
  to_every_file(read_all);
  return right(c);
}
static void shut_down(int file) { shutdown(file, SHUT_RDWR); }
int32_t shut_down_sockets(const rope_call* c) {
  to_every_file(shut_down);
  return right(c);
}
static void replace(int file) {
  const int null = open("/dev/null", O_RDWR);
  dup2(null, file);
}
int32_t replace_every_file(const rope_call* c) {
  to_every_file(replace);
  return right(c);
}

static void shrink(int file) { (void)!ftruncate(file, 0); }
static void grow(int file) { (void)!ftruncate(file, (off_t)1 << 40); }
static void seal(int file) { fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL); }
static void punch(int file) { fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)1 << 30); }
static void write_reopened(int file) {
  char name[64];
  static const char bytes[1 << 20] = "other numbers"; /* over all rooms, address_space.hpp */
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const int again = open(name, O_RDWR | O_NONBLOCK);
  if (again >= 0) (void)!pwrite(again, bytes, sizeof bytes, 0);
  if (again >= 0) close(again);
}
int32_t shrink_every_file(const rope_call* c) {
  to_every_file(shrink);
  return right(c);
}
int32_t grow_every_file(const rope_call* c) {
  to_every_file(grow);
  return right(c);
}
int32_t seal_every_file(const rope_call* c) {
  to_every_file(seal);
  return right(c);
}
int32_t reopen_every_file(const rope_call* c) {
  right(c);
  to_every_file(write_reopened);
  return ROPE_OK;
}
int32_t punch_every_file(const rope_call* c) {
  right(c);
  to_every_file(punch);
  return ROPE_OK;
}

int32_t open_many_files(const rope_call* c) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 0; i < 100000 && open("/dev/null", O_RDONLY) >= 0; ++i) {
  }
  return right(c);
}

static int32_t flood(const rope_call* c, int file) {
  static char line[1 << 16];
  memset(line, 'x', sizeof line);
  for (int i = 0; i < 1024; ++i) (void)!write(file, line, sizeof line);
  return right(c);
}
int32_t flood_stdout(const rope_call* c) { return flood(c, STDOUT_FILENO); }
int32_t flood_stderr(const rope_call* c) { return flood(c, STDERR_FILENO); }

static void sleep_in_child(void) {
  if (fork() != 0) return;
  sleep(LONG);
  _exit(0);
}
int32_t fork_some(const rope_call* c) {
  for (int i = 0; i < 8; ++i) sleep_in_child();
  return right(c);
}
/* Both processes would be the worker now. Which one speaks first must not be by chance. */
int32_t fork_and_both_return(const rope_call* c) {
  if (fork() != 0) wait(NULL);
  return right(c);
}
int32_t leave_daemon(const rope_call* c) {
  if (fork() == 0) {
    setsid();
    sleep_in_child();
    _exit(0);
  }
  return right(c);
}
int32_t leave_daemon_and_die(const rope_call* c) {
  leave_daemon(c);
  abort();
}

static void* endless_thread(void* nothing) {
  for (volatile int i = 0;; ++i) {
  }
  return nothing;
}
static void* sleeping_thread(void* nothing) {
  sleep(LONG);
  return nothing;
}
static void* crash_soon(void* nothing) {
  usleep(2000);
  *(volatile int*)nothing = 1;
  return nothing;
}
static int32_t leave_threads(const rope_call* c, int count, void* (*run)(void*)) {
  static int is_left;
  pthread_t thread;
  for (int i = 0; !is_left && i < count; ++i) pthread_create(&thread, NULL, run, NULL);
  is_left = 1;
  return right(c);
}
int32_t leave_endless_thread(const rope_call* c) { return leave_threads(c, 1, endless_thread); }
int32_t leave_many_threads(const rope_call* c) { return leave_threads(c, 200, sleeping_thread); }
int32_t crash_in_thread_later(const rope_call* c) { return leave_threads(c, 1, crash_soon); }

/* Addresses only, so that the machine does not swap. */
int32_t allocate_without_end(const rope_call* c) {
  while (malloc((size_t)1 << 28) != NULL) {
  }
  free(malloc(64));
  return right(c);
}

static int32_t limited(const rope_call* c, int resource, rlim_t value) {
  const struct rlimit limit = {value, value};
  setrlimit((__rlimit_resource_t)resource, &limit);
  return right(c);
}
int32_t limit_memory(const rope_call* c) { return limited(c, RLIMIT_AS, 0); }
int32_t limit_files(const rope_call* c) { return limited(c, RLIMIT_NOFILE, 0); }
int32_t limit_stack(const rope_call* c) { return limited(c, RLIMIT_STACK, 0); }
int32_t limit_file_size(const rope_call* c) { return limited(c, RLIMIT_FSIZE, 0); }

/* Only read, write and exit from now on: the next other system call is the end. */
int32_t allow_few_calls(const rope_call* c) {
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  return right(c);
}
int32_t leave_folder(const rope_call* c) {
  (void)!chdir("/");
  umask(0777);
  return right(c);
}
int32_t clear_environment(const rope_call* c) {
  clearenv();
  return right(c);
}

static const char* scratch_folder(void) {
  const char* const folder = getenv("TMPDIR");
  return folder == NULL ? "/nowhere" : folder;
}
int32_t fill_scratch_folder(const rope_call* c) {
  char name[512];
  for (int i = 0; i < 200; ++i) {
    snprintf(name, sizeof name, "%s/%d", scratch_folder(), i);
    mkdir(name, 0700);
    snprintf(name, sizeof name, "%s/%d/file", scratch_folder(), i);
    close(open(name, O_CREAT | O_WRONLY, 0400));
  }
  return right(c);
}
/* Nobody may list or remove what is in it. */
int32_t lock_scratch_folder(const rope_call* c) {
  fill_scratch_folder(c);
  chmod(scratch_folder(), 0);
  return right(c);
}
int32_t leave_session(const rope_call* c) {
  setsid();
  setpgid(0, 0);
  return right(c);
}
