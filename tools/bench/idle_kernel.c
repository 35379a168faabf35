/* A kernel that does nothing, so that only the way to it and back is measured. */
#include "impls/include/rope_kernel.h"

static int32_t idle(const rope_call* call) {
  (void)call;
  return ROPE_OK;
}

static const rope_kernel kernel = {.struct_size = sizeof(rope_kernel),
                                   .abi = ROPE_KERNEL_ABI,
                                   .name = "idle",
                                   .apply = idle,
                                   .claims = {.out_dtypes = {0, ROPE_BIT(ROPE_F32), 0, 0},
                                              .table_dtypes = ROPE_BIT(ROPE_F32),
                                              .pairings = ROPE_BIT(ROPE_HALF_SPLIT),
                                              .angle_sources = ROPE_BIT(ROPE_TABLES),
                                              .half_tables = 1}};

uint32_t rope_kernel_count(void) { return 1; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index == 0 ? &kernel : NULL; }
