/* Kernels that break every rule a worker has to survive, beside one that is right. All take contiguous f32 q,
 * half-width f32 tables, half_split pairs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"

static int64_t elements(const rope_tensor* t) { return t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]; }

static int32_t right(const rope_call* c) {
  rotate_rows(c);
  return ROPE_OK;
}

static int32_t null_write(const rope_call* c) {
  volatile float* nothing = NULL;
  (void)c;
  *nothing = 1;
  return ROPE_OK;
}

static int32_t write_past_end(const rope_call* c) {
  ((float*)c->q_out.data)[elements(&c->q_out)] = 1;
  return ROPE_OK;
}

static int32_t write_before_start(const rope_call* c) {
  ((float*)c->q_out.data)[-1] = 1;
  return ROPE_OK;
}

static int32_t read_before_start(const rope_call* c) {
  ((float*)c->q_out.data)[0] = ((const float*)c->q.data)[-1];
  return ROPE_OK;
}

static int32_t read_far_away(const rope_call* c) {
  ((float*)c->q_out.data)[0] = ((const float*)c->q.data)[-((int64_t)1 << 31) + 10];
  return ROPE_OK;
}

static int32_t read_past_table(const rope_call* c) {
  ((float*)c->q_out.data)[0] = ((const float*)c->table.cos)[c->table.rows * c->table.row_stride];
  return ROPE_OK;
}

static int32_t write_to_input(const rope_call* c) {
  ((float*)c->q.data)[(c->q.shape[1] > 1 ? c->q.strides[1] : 0) + 5] = 1;
  return ROPE_OK;
}

static int32_t endless(const rope_call* c) {
  (void)c;
  for (volatile int i = 0;; ++i) {
  }
  return ROPE_OK;
}

static int32_t sleeps(const rope_call* c) {
  (void)c;
  for (;;) pause();
  return ROPE_OK;
}

/* The worker sleeps while its child computes. */
static int32_t endless_in_child(const rope_call* c) {
  if (fork() == 0) endless(c);
  return sleeps(c);
}

/* Right, after it has computed for 0.2 s with a tenth of the first CPU, if that one has other work. At offset 1 it
 * computes longer. */
static int32_t starved(const rope_call* c) {
  const clock_t end = clock() + CLOCKS_PER_SEC / 5 * (c->positions.offset == 1 ? 100 : 1);
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (sched_setaffinity(0, sizeof first, &first) != 0 || nice(10) < 0) return ROPE_FAILED;
  while (clock() < end) {
  }
  return right(c);
}

static int32_t endless_from_offset(const rope_call* c) { return c->positions.offset > 0 ? endless(c) : right(c); }

static int32_t give_up(const rope_call* c) {
  (void)c;
  fputs("assertion failed: the moon is full\n", stderr);
  abort();
}

static int32_t exit_politely(const rope_call* c) {
  (void)c;
  exit(0);
}

static int32_t exit_at_once(const rope_call* c) {
  (void)c;
  _exit(3);
}

static int32_t recurse(volatile char* above) {
  volatile char frame[512];
  frame[0] = *above;
  return above == NULL ? 0 : recurse(frame) + frame[0];
}
static int32_t stack_overflow(const rope_call* c) {
  volatile char first = 0;
  (void)c;
  return recurse(&first);
}

static int32_t double_free(const rope_call* c) {
  void* memory = malloc(24);
  (void)c;
  free(memory);
  free(memory);
  return ROPE_OK;
}

static int32_t divide_by_zero(const rope_call* c) {
  volatile int zero = 0;
  (void)c;
  return 100 / zero;
}

// 0x06 was `push es`, which 64-bit code lacks.
static int32_t illegal_instruction(const rope_call* c) {
  (void)c;
#if defined(__x86_64__)
  __asm__ volatile(".byte 0x06");
#elif defined(__aarch64__)
  __asm__ volatile(".inst 0");
#endif
  return ROPE_OK;
}

static int32_t trap(const rope_call* c) {
  if (c != NULL) __builtin_trap();
  return ROPE_OK;
}

// Answers the first call.
static int32_t illegal_later(const rope_call* c) {
  static int calls = 0;
  return calls++ == 0 ? right(c) : illegal_instruction(c);
}

static int32_t noise(const rope_call* c) {
  for (int i = 0; i < (1 << 14); ++i) printf("%062d\n\xff", i);
  return right(c);
}

static int32_t protocol_lines(const rope_call* c) {
  for (int id = 0; id < 100; ++id) {
    printf("{\"id\":%d,\"ok\":true,\"status\":0,\"ns\":1}\n", id);
    fprintf(stderr, "{\"op\":\"bye\"}\n");
  }
  return right(c);
}

static int32_t close_low(const rope_call* c) {
  for (int fd = 0; fd < 64; ++fd) close(fd);
  return right(c);
}

static int32_t close_all(const rope_call* c) {
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  return right(c);
}

static int32_t partial(const rope_call* c) {
  rope_call half = *c;
  half.q.shape[1] /= 2;
  return right(&half);
}

static int32_t status_7(const rope_call* c) {
  (void)c;
  return 7;
}

static int32_t decline(const rope_call* c) {
  (void)c;
  fputs("no such head_dim\n", stderr);
  return ROPE_UNSUPPORTED;
}

/* Leaves a child that holds every file of the worker, prints its number, and dies. */
static int32_t orphan(const rope_call* c) {
  (void)c;
  const pid_t child = fork();
  if (child == 0) {
    sleep(100);
    _exit(0);
  }
  printf("%d\n", (int)child);
  kill(getpid(), SIGKILL);
  return ROPE_OK;
}

/* The same, but the child leaves the worker's group and session, and has a child of its own there; says both numbers.
 * At offset 1 the worker lives on. */
static int32_t daemon_process(const rope_call* c) {
  int ready[2];
  char byte;
  if (pipe(ready) != 0) return ROPE_FAILED;
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    const pid_t grandchild = fork();
    if (grandchild != 0) {
      dprintf(STDOUT_FILENO, "%d %d\n", (int)getpid(), (int)grandchild);
      (void)!write(ready[1], "", 1);
    }
    sleep(100);
    _exit(0);
  }
  if (read(ready[0], &byte, 1) == 1 && c->positions.offset == 0) kill(getpid(), SIGKILL);
  return ROPE_FAILED;
}

/* Endless if the file of this name is not there yet. */
static int32_t hang_once(const rope_call* c) {
  const char* const path = getenv("HANG_ONCE_FILE");
  const int file = path == NULL ? -1 : open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
  if (file >= 0) {
    close(file);
    sleep(100);
  }
  return right(c);
}

/* Right as long as no other call runs: all calls share the row of the tables. */
static int32_t shared_scratch(const rope_call* c) {
  static volatile float cosine[64], sine[64];
  const int64_t tokens = c->q.shape[1], heads = c->q.shape[2], dim = c->q.shape[3], pairs = c->rotary_dim / 2;
  for (int64_t row = 0; row < c->q.shape[0] * tokens * heads; ++row) {
    const int64_t m = c->positions.offset + row / heads % tokens;
    const float* x = (const float*)c->q.data + row * dim;
    float* y = (float*)c->q_out.data + row * dim;
    for (int64_t p = 0; p < pairs; ++p) {
      cosine[p] = ((const float*)c->table.cos)[m * c->table.row_stride + p];
      sine[p] = ((const float*)c->table.sin)[m * c->table.row_stride + p];
    }
    sched_yield(); /* so that the race is lost on a machine with one free core too */
    for (int64_t p = 0; p < pairs; ++p) {
      const float a = x[p], b = x[p + pairs];
      y[p] = a * cosine[p] - b * sine[p];
      y[p + pairs] = b * cosine[p] + a * sine[p];
    }
    for (int64_t j = 2 * pairs; j < dim; ++j) y[j] = x[j];
  }
  return ROPE_OK;
}

/* Right at most offsets, so that one of two calls can go wrong. */
static int32_t by_offset(const rope_call* c) {
  switch (c->positions.offset) {
    case 1: return write_past_end(c);
    case 2: return stack_overflow(c);
    case 3: return endless(c);
    case 4: return ROPE_UNSUPPORTED;
    case 5: return write_to_input(c);
    default: return right(c);
  }
}

/* Makes the input writable first. */
static int32_t unprotect(const rope_call* c) {
  const uintptr_t page = (uintptr_t)c->q.data / 4096 * 4096;
  if (mprotect((void*)page, 4096, PROT_READ | PROT_WRITE) != 0) return ROPE_UNSUPPORTED;
  return write_to_input(c);
}

static int32_t garbage(const rope_call* c) {
  const char* const line = "{\"id\":\n";
  (void)c;
  return write(200, line, strlen(line)) > 0 ? ROPE_OK : ROPE_FAILED;
}

/* Into q_out: the rope_call that the kernel was given, with 1 for each address; then what some addresses hold. */
static int32_t echo(const rope_call* c) {
  rope_call seen = *c;
  const void** const addresses[] = {(const void**)&seen.q.data,
                                    (const void**)&seen.k.data,
                                    (const void**)&seen.q_out.data,
                                    (const void**)&seen.k_out.data,
                                    &seen.positions.data,
                                    (const void**)&seen.axis,
                                    &seen.seqlen_offsets,
                                    (const void**)&seen.cu_seqlens,
                                    &seen.table.cos,
                                    &seen.table.sin,
                                    &seen.theta,
                                    (const void**)&seen.scaling.short_factor,
                                    (const void**)&seen.scaling.long_factor};
  for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; ++i) {
    if (*addresses[i] != NULL) *addresses[i] = (const void*)1;
  }
  char* out = c->q_out.data;
  memcpy(out, &seen, sizeof seen);
  out += sizeof seen;
  const size_t factors = sizeof(double) * (size_t)(c->rotary_dim / 2);
  if (c->scaling.short_factor != NULL) memcpy(out, c->scaling.short_factor, factors);
  if (c->scaling.long_factor != NULL) memcpy(out + factors, c->scaling.long_factor, factors);
  return ROPE_OK;
}

/* Into q_out[0]: the misalignment of each address, in bytes of 64. */
static int32_t alignment(const rope_call* c) {
  const void* const addresses[] = {c->q.data, c->q_out.data, c->table.cos, c->table.sin};
  uintptr_t worst = 0;
  for (size_t i = 0; i < 4; ++i) {
    if ((uintptr_t)addresses[i] % 64 > worst) worst = (uintptr_t)addresses[i] % 64;
  }
  ((float*)c->q_out.data)[0] = (float)worst;
  return ROPE_OK;
}

static const int32_t head_dims[] = {64, 128};

#define CLAIMS(needed_alignment)                                                                                       \
  {                                                                                                                    \
    .out_dtypes = {0, ROPE_BIT(ROPE_F32), 0, ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32)},                                \
    .table_dtypes = ROPE_BIT(ROPE_F32), .pairings = ROPE_BIT(ROPE_HALF_SPLIT), .angle_sources = ROPE_BIT(ROPE_TABLES), \
    .half_tables = 1, .alignment = needed_alignment,                                                                   \
    .features = ROPE_BIT(ROPE_FEATURE_PARTIAL) | ROPE_BIT(ROPE_FEATURE_OFFSET), .max_position = 1 << 20,               \
    .head_dims = head_dims, .head_dim_count = 2, .scalings = ROPE_BIT(ROPE_SCALING_NONE)                               \
  }
#define KERNEL(function)                                                                                       \
  {                                                                                                            \
    .struct_size = sizeof(rope_kernel), .abi = ROPE_KERNEL_ABI, .name = #function, .description = "for tests", \
    .apply = function, .claims = CLAIMS(0)                                                                     \
  }

/* What the header had before fields were appended to the claims. What lies behind is not read. */
#define OLD_SIZE (offsetof(rope_kernel, claims) + offsetof(rope_capabilities, overwrites_inputs))
#define OVERWRITING                                                                                                    \
  {                                                                                                                    \
    .out_dtypes = {0, ROPE_BIT(ROPE_F32)}, .table_dtypes = ROPE_BIT(ROPE_F32),                                         \
    .pairings = ROPE_BIT(ROPE_HALF_SPLIT), .angle_sources = ROPE_BIT(ROPE_TABLES), .half_tables = 1,                   \
    .max_position = 1 << 20, .head_dims = head_dims, .head_dim_count = 2, .overwrites_inputs = 1                       \
  }

static const rope_kernel kernels[] = {
    KERNEL(right),
    KERNEL(null_write),
    KERNEL(write_past_end),
    KERNEL(write_before_start),
    KERNEL(read_past_table),
    KERNEL(write_to_input),
    KERNEL(endless),
    KERNEL(endless_from_offset),
    KERNEL(sleeps),
    KERNEL(endless_in_child),
    KERNEL(starved),
    KERNEL(give_up),
    KERNEL(exit_politely),
    KERNEL(exit_at_once),
    KERNEL(stack_overflow),
    KERNEL(double_free),
    KERNEL(divide_by_zero),
    KERNEL(illegal_instruction),
    KERNEL(illegal_later),
    KERNEL(trap),
    KERNEL(noise),
    KERNEL(protocol_lines),
    KERNEL(close_low),
    KERNEL(close_all),
    KERNEL(partial),
    KERNEL(status_7),
    KERNEL(decline),
    KERNEL(orphan),
    KERNEL(daemon_process),
    KERNEL(hang_once),
    KERNEL(shared_scratch),
    KERNEL(by_offset),
    KERNEL(garbage),
    KERNEL(echo),
    KERNEL(read_before_start),
    KERNEL(read_far_away),
    KERNEL(unprotect),
    {.struct_size = sizeof(rope_kernel), .abi = 1, .name = "alignment", .apply = alignment, .claims = CLAIMS(64)},
    {.struct_size = sizeof(rope_kernel), .abi = 2, .name = "future_abi", .apply = right, .claims = CLAIMS(0)},
    {.struct_size = 24, .abi = 1, .name = "short_struct", .apply = right, .claims = CLAIMS(0)},
    {.struct_size = sizeof(rope_kernel), .abi = 1, .name = "null_apply", .claims = CLAIMS(0)},
    {.struct_size = sizeof(rope_kernel), .abi = 1, .name = "write_to_input_as_claimed", .apply = write_to_input,
     .claims = OVERWRITING},
    {.struct_size = OLD_SIZE, .abi = 1, .name = "old_struct", .apply = write_to_input, .claims = OVERWRITING},
};

uint32_t rope_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels[index] : NULL; }
