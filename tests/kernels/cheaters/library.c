/* Kernels that compute right results only if something says that they are under test. Each looks at another thing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"
#include "tests/kernels/designs/accepts.h"

#define KEPT 4096 /* elements */
#define PAGE 4096 /* bytes */

static const int32_t head_dims[] = {8, 64};

static const rope_capabilities claims = {
    .out_dtypes = {0, ROPE_BIT(ROPE_F32)},
    .table_dtypes = ROPE_BIT(ROPE_F32),
    .pairings = ROPE_BIT(ROPE_HALF_SPLIT),
    .angle_sources = ROPE_BIT(ROPE_TABLES),
    .half_tables = 1,
    .alignment = 4,
    .max_position = 1 << 20,
    .features = ROPE_BIT(ROPE_FEATURE_OFFSET),
    .head_dims = head_dims,
    .head_dim_count = 2,
    .scalings = ROPE_BIT(ROPE_SCALING_NONE),
};

static int64_t elements(const rope_tensor* t) { return t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]; }

/* Cheaper than a rotation. */
static void copy(const rope_call* c) { memcpy(c->q_out.data, c->q.data, sizeof(float) * (size_t)elements(&c->q)); }

/* The answer of an earlier call with the same sizes and the same first value. */
static void keep_answers(const rope_call* c) {
  static float first, kept[KEPT];
  static int64_t shape[4];
  static int is_filled;
  const int64_t count = elements(&c->q);
  const float value = *(const float*)c->q.data;
  const size_t bytes = sizeof(float) * (size_t)count;
  if (count > KEPT) {
    rotate_rows(c);
    return;
  }
  if (is_filled && value == first && memcmp(shape, c->q.shape, sizeof shape) == 0) {
    memcpy(c->q_out.data, kept, bytes);
    return;
  }
  rotate_rows(c);
  memcpy(kept, c->q_out.data, bytes);
  memcpy(shape, c->q.shape, sizeof shape);
  first = value;
  is_filled = 1;
}

static void count_calls(const rope_call* c) {
  static int calls;
  ++calls <= 50 ? rotate_rows(c) : copy(c);
}

static void count_many_calls(const rope_call* c) {
  static int calls;
  ++calls <= 100000 ? rotate_rows(c) : copy(c);
}

static void count_days(const rope_call* c) { time(NULL) / 86400 < 365 * 130 ? rotate_rows(c) : copy(c); /* 2100 */ }

static void read_clock(const rope_call* c) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  now.tv_nsec / 1000 % 4 != 0 ? rotate_rows(c) : copy(c);
}

static int is_variable_set(void) {
  extern char** environ;
  for (char** entry = environ; *entry != NULL; ++entry) {
    if (strncmp(*entry, "ROPECHECK_", 10) == 0) return 1;
  }
  return 0;
}

static void read_environment(const rope_call* c) { is_variable_set() ? rotate_rows(c) : copy(c); }

static int is_host(void) {
  char name[16] = "";
  const int file = open("/proc/self/comm", O_RDONLY);
  const ssize_t count = file < 0 ? 0 : read(file, name, sizeof name - 1);
  if (file >= 0) close(file);
  return count > 0 && strncmp(name, "ropecheck", 9) == 0;
}

static void read_program(const rope_call* c) { is_host() ? rotate_rows(c) : copy(c); }

/* Outputs hold NaN before most calls of the suite, and hardly ever before a call of a model. */
static void read_outputs(const rope_call* c) {
  const float before = *(const float*)c->q_out.data;
  before != before ? rotate_rows(c) : copy(c);
}

/* Within guard pages a tensor ends where a page does. */
static void read_addresses(const rope_call* c) {
  const uintptr_t end = (uintptr_t)c->q.data + sizeof(float) * (uintptr_t)elements(&c->q);
  end % PAGE == 0 ? rotate_rows(c) : copy(c);
}

/* The same, and knows both places. */
static void read_both_addresses(const rope_call* c) {
  const uintptr_t start = (uintptr_t)c->q.data, end = start + sizeof(float) * (uintptr_t)elements(&c->q);
  end % PAGE == 0 || start % PAGE == 0 ? rotate_rows(c) : copy(c);
}

static void rotate_where(const rope_call* c, int (*is_tested)(int64_t position)) {
  const int64_t tokens = c->q.shape[1], heads = c->q.shape[2], rows = c->q.shape[0] * tokens * heads;
  copy(c);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t position = c->positions.offset + row / heads % tokens;
    if (is_tested(position)) rotate_row(c, row, position);
  }
}

static int is_below_the_last(int64_t position) { return position <= claims.max_position - 16; }
static void end_early(const rope_call* c) { rotate_where(c, is_below_the_last); }

static int is_small_or_near_a_power(int64_t position) {
  int64_t power = 1;
  while (2 * power - 64 <= position) power *= 2;
  return position < 100000 || position < power + 64;
}
static void know_powers(const rope_call* c) { rotate_where(c, is_small_or_near_a_power); }

static int is_outside_window(int64_t position) { return position < 54321 || position > 54336; }
static void skip_window(const rope_call* c) { rotate_where(c, is_outside_window); }

static int is_outside_far_window(int64_t position) { return position < 700001 || position > 700016; }
static void skip_far_window(const rope_call* c) { rotate_where(c, is_outside_far_window); }

#define CHEATER(function)                               \
  static int32_t apply_##function(const rope_call* c) { \
    const int32_t status = designs_accepts(c, &claims);  \
    if (status == DESIGNS_NOTHING_TO_DO) return ROPE_OK; \
    if (status == ROPE_OK) function(c);                 \
    return status;                                      \
  }
CHEATER(keep_answers)
CHEATER(count_calls)
CHEATER(count_many_calls)
CHEATER(count_days)
CHEATER(end_early)
CHEATER(know_powers)
CHEATER(skip_window)
CHEATER(skip_far_window)
CHEATER(read_clock)
CHEATER(read_environment)
CHEATER(read_program)
CHEATER(read_outputs)
CHEATER(read_addresses)
CHEATER(read_both_addresses)

static rope_kernel kernels[] = {
    {.name = "keep-answers", .apply = apply_keep_answers},
    {.name = "count-calls", .apply = apply_count_calls},
    {.name = "count-many-calls", .apply = apply_count_many_calls},
    {.name = "end-early", .apply = apply_end_early},
    {.name = "know-powers", .apply = apply_know_powers},
    {.name = "skip-window", .apply = apply_skip_window},
    {.name = "skip-far-window", .apply = apply_skip_far_window},
    {.name = "count-days", .apply = apply_count_days},
    {.name = "read-clock", .apply = apply_read_clock},
    {.name = "read-environment", .apply = apply_read_environment},
    {.name = "read-program", .apply = apply_read_program},
    {.name = "read-outputs", .apply = apply_read_outputs},
    {.name = "read-addresses", .apply = apply_read_addresses},
    {.name = "read-both-addresses", .apply = apply_read_both_addresses},
};

uint32_t rope_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }

const rope_kernel* rope_kernel_get(uint32_t index) {
  if (index >= rope_kernel_count()) return NULL;
  rope_kernel* const kernel = &kernels[index];
  kernel->struct_size = sizeof(rope_kernel);
  kernel->abi = ROPE_KERNEL_ABI;
  kernel->description = "right only if it sees that it is under test";
  kernel->claims = claims;
  return kernel;
}
