/* Every deed of deeds.h at each of its moments is a kernel: deed/moment. It is right but for the deed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "deeds.h"
#include "tests/kernels/rotate_row.h"

typedef int32_t (*Deed)(const rope_call* c);

int32_t right(const rope_call* c) {
  const int64_t tokens = c->q.shape[1], heads = c->q.shape[2];
  for (int64_t row = 0; row < c->q.shape[0] * tokens * heads; ++row) {
    const int64_t batch = row / heads / tokens, token = row / heads % tokens;
    const int32_t* const given = c->positions.data;
    rotate_row(c, row,
               given == NULL ? token : given[batch * c->positions.batch_stride + token * c->positions.seq_stride]);
  }
  return ROPE_OK;
}

/* For moments that cannot be given arguments. */
static const rope_call* the_call;
static Deed the_deed;
static volatile int32_t the_status;

static void* run(void* nothing) {
  the_status = the_deed(the_call);
  return nothing;
}
static void handle(int signal) {
  (void)signal;
  run(NULL);
}
static void finish(void) { run(NULL); }

static void remember(const rope_call* c, Deed deed) {
  the_call = c;
  the_deed = deed;
  the_status = ROPE_FAILED;
}

static int32_t first(const rope_call* c, Deed deed) { return deed(c); }

static int32_t later(const rope_call* c, Deed deed) {
  static int calls;
  return ++calls < 3 ? right(c) : deed(c);
}

static int32_t in_thread(const rope_call* c, Deed deed) {
  pthread_t thread;
  remember(c, deed);
  if (pthread_create(&thread, NULL, run, NULL) != 0) return ROPE_FAILED;
  pthread_join(thread, NULL);
  return the_status;
}

static int32_t in_handler(const rope_call* c, Deed deed) {
  remember(c, deed);
  signal(SIGUSR2, handle);
  raise(SIGUSR2);
  return the_status;
}

static int32_t at_exit(const rope_call* c, Deed deed) {
  remember(c, deed);
  atexit(finish);
  exit(0);
}

#define FUNCTION(deed, moment) \
  static int32_t deed##_##moment(const rope_call* c) { return moment(c, deed); }
ALL_DEEDS(FUNCTION)

static const int32_t head_dims[] = {8};

#define KERNEL(kernel_name, function)                       \
  {.struct_size = sizeof(rope_kernel),                      \
   .abi = ROPE_KERNEL_ABI,                                  \
   .name = kernel_name,                                     \
   .apply = function,                                       \
   .claims = {.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32),   \
              .table_dtypes = ROPE_BIT(ROPE_F32),           \
              .position_dtypes = ROPE_BIT(ROPE_I32),        \
              .pairings = ROPE_BIT(ROPE_HALF_SPLIT),        \
              .angle_sources = ROPE_BIT(ROPE_TABLES),       \
              .half_tables = 1,                             \
              .features = ROPE_BIT(ROPE_FEATURE_POSITIONS), \
              .max_position = 1 << 12,                      \
              .head_dims = head_dims,                       \
              .head_dim_count = 1}},
#define ENTRY(deed, moment) KERNEL(#deed "/" #moment, deed##_##moment)

static const rope_kernel kernels[] = {KERNEL("none", right) ALL_DEEDS(ENTRY)};

uint32_t rope_kernel_count(void) { return sizeof kernels / sizeof kernels[0]; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels[index] : NULL; }
