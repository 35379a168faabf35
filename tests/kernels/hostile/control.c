/* Deeds on the flow of control: ends, signals, time, modes, statuses. */
#define _GNU_SOURCE
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "deeds.h"

#define LONG 100 /* seconds: longer than every deadline */

static volatile int zero;

int32_t divide_by_zero(const rope_call* c) {
#if defined(__x86_64__)
  return 100 / zero + right(c);
#else /* this machine divides by zero without a trap */
  raise(SIGFPE);
  return right(c);
#endif
}

/* 0x06 was `push es`, which 64-bit code lacks. */
int32_t illegal_instruction(const rope_call* c) {
#if defined(__x86_64__)
  __asm__ volatile(".byte 0x06");
#else
  raise(SIGILL);
#endif
  return right(c);
}

int32_t trap(const rope_call* c) {
  if (zero == 0) __builtin_trap();
  return right(c);
}

static int32_t raised(const rope_call* c, int number) {
  raise(number);
  return right(c);
}
int32_t breakpoint(const rope_call* c) { return raised(c, SIGTRAP); }
int32_t raise_kill(const rope_call* c) { return raised(c, SIGKILL); }
int32_t raise_term(const rope_call* c) { return raised(c, SIGTERM); }
int32_t raise_int(const rope_call* c) { return raised(c, SIGINT); }
int32_t raise_hup(const rope_call* c) { return raised(c, SIGHUP); }
int32_t raise_quit(const rope_call* c) { return raised(c, SIGQUIT); }
int32_t raise_segv(const rope_call* c) { return raised(c, SIGSEGV); }
int32_t raise_bus(const rope_call* c) { return raised(c, SIGBUS); }
int32_t raise_pipe(const rope_call* c) { return raised(c, SIGPIPE); }
int32_t raise_alarm(const rope_call* c) { return raised(c, SIGALRM); }
int32_t raise_user(const rope_call* c) { return raised(c, SIGUSR1); }
int32_t raise_cpu_limit(const rope_call* c) { return raised(c, SIGXCPU); }
int32_t raise_size_limit(const rope_call* c) { return raised(c, SIGXFSZ); }
int32_t raise_bad_call(const rope_call* c) { return raised(c, SIGSYS); }
int32_t raise_real_time(const rope_call* c) { return raised(c, SIGRTMIN + 1); }
int32_t stop_itself(const rope_call* c) { return raised(c, SIGSTOP); }

static int32_t sent(const rope_call* c, pid_t to, int number) {
  kill(to, number);
  return right(c);
}
int32_t kill_group(const rope_call* c) { return sent(c, 0, SIGKILL); }
int32_t kill_parent(const rope_call* c) { return sent(c, getppid(), SIGKILL); }
int32_t stop_parent(const rope_call* c) { return sent(c, getppid(), SIGSTOP); }

int32_t abort_process(const rope_call* c) {
  if (zero == 0) abort();
  return right(c);
}
int32_t exit_0(const rope_call* c) {
  if (zero == 0) exit(0);
  return right(c);
}
int32_t exit_3(const rope_call* c) {
  if (zero == 0) exit(3);
  return right(c);
}
int32_t exit_at_once(const rope_call* c) {
  if (zero == 0) _exit(0);
  return right(c);
}
int32_t exit_quickly(const rope_call* c) {
  if (zero == 0) quick_exit(4);
  return right(c);
}
int32_t exit_thread(const rope_call* c) {
  if (zero == 0) pthread_exit(NULL);
  return right(c);
}
int32_t become_other_program(const rope_call* c) {
  execl("/bin/sh", "sh", "-c", "echo I was a kernel", (char*)NULL);
  return right(c);
}

int32_t endless(const rope_call* c) {
  while (zero == 0) {
  }
  return right(c);
}
int32_t endless_without_signals(const rope_call* c) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  return endless(c);
}
int32_t sleep_long(const rope_call* c) {
  sleep(LONG);
  return right(c);
}
int32_t deadlock(const rope_call* c) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
  return right(c);
}
int32_t alarm_while_endless(const rope_call* c) {
  ualarm(50000, 0);
  return endless(c);
}

static sigjmp_buf before;
static void jump_back(int number) { siglongjmp(before, number); }
static void return_again(int number) { (void)number; }

static void write_to_null(void) { *(volatile float*)(uintptr_t)zero = 1; }

/* Survives its own crash, and computes right results after it. */
int32_t handle_own_crash(const rope_call* c) {
  signal(SIGSEGV, jump_back);
  if (sigsetjmp(before, 1) == 0) write_to_null();
  return right(c);
}
/* The same write again and again: a handler that returns. */
int32_t repeat_own_crash(const rope_call* c) {
  signal(SIGSEGV, return_again);
  write_to_null();
  return right(c);
}
int32_t ignore_signals_and_crash(const rope_call* c) {
  for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
  write_to_null();
  return right(c);
}
/* To a function that has returned. */
__attribute__((noinline)) static int left(void) { return sigsetjmp(before, 0); }
int32_t jump_long(const rope_call* c) {
  static int jumped;
  char volatile frame[8192];
  memset((char*)frame, 0x41, sizeof frame);
  if (left() == 0 && jumped++ == 0) siglongjmp(before, 1);
  frame[0] = 0;
  return right(c);
}

int32_t round_upwards(const rope_call* c) {
  fesetround(FE_UPWARD);
  return right(c);
}
int32_t flush_to_zero(const rope_call* c) {
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040);
#else
  fesetround(FE_DOWNWARD);
#endif
  return right(c);
}
int32_t trap_on_inexact(const rope_call* c) {
  feenableexcept(FE_ALL_EXCEPT);
  return right(c);
}

/* Right results with a status that says otherwise. */
static int32_t told(const rope_call* c, int32_t status) {
  right(c);
  return status;
}
int32_t status_4(const rope_call* c) { return told(c, 4); }
int32_t status_minus_1(const rope_call* c) { return told(c, -1); }
int32_t status_2_16(const rope_call* c) { return told(c, 1 << 16); }
int32_t status_least(const rope_call* c) { return told(c, INT32_MIN); }
int32_t unsupported(const rope_call* c) { return told(c, ROPE_UNSUPPORTED); }
int32_t invalid_argument(const rope_call* c) { return told(c, ROPE_INVALID_ARGUMENT); }
int32_t failed(const rope_call* c) { return told(c, ROPE_FAILED); }
int32_t do_nothing(const rope_call* c) {
  (void)c;
  return ROPE_OK;
}
