/* Kernels that attack the suite or the machine, beside one that is right. All take contiguous f32 q, half-width f32
 * tables, half_split pairs. HOSTILE_* in the environment says what is attacked. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"

static int32_t right(const rope_call* c) {
  const int64_t tokens = c->q.shape[1], heads = c->q.shape[2], dim = c->q.shape[3], pairs = c->rotary_dim / 2;
  for (int64_t row = 0; row < c->q.shape[0] * tokens * heads; ++row) {
    const float* x = (const float*)c->q.data + row * dim;
    float* y = (float*)c->q_out.data + row * dim;
    const float* cosine = (const float*)c->table.cos + row / heads % tokens * c->table.row_stride;
    const float* sine = (const float*)c->table.sin + row / heads % tokens * c->table.row_stride;
    for (int64_t p = 0; p < pairs; ++p) {
      const float a = x[p], b = x[p + pairs];
      y[p] = a * cosine[p] - b * sine[p];
      y[p + pairs] = b * cosine[p] + a * sine[p];
    }
  }
  return ROPE_OK;
}

/* Each attack below is made in the first call of a process; the values are wrong in every call, so that there is a
 * verdict to forge. */
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
};

uint32_t rope_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels[index] : NULL; }
