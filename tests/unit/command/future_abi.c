/* A kernel that was built with a future header: another ABI number, and fields that nobody here knows. */
#include "impls/include/rope_kernel.h"

struct future_kernel {
  rope_kernel known;
  uint64_t unknown[4];
};

static int32_t apply(const rope_call* call) {
  (void)call;
  return ROPE_OK;
}

static const struct future_kernel kernel = {
    .known = {
        .struct_size = sizeof(struct future_kernel), .abi = ROPE_KERNEL_ABI + 1, .name = "future", .apply = apply}};

uint32_t rope_kernel_count(void) { return 1; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index == 0 ? &kernel.known : NULL; }
