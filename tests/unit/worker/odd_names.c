/* Libraries whose count or names cannot be. ODD says which. */
#include <string.h>

#include "impls/include/rope_kernel.h"

#define TWINS 1     /* two kernels of one name */
#define MANY 2      /* more kernels than can be */
#define LONG_NAME 3 /* a name of 200 kB */
#define HASH 4      /* a name that holds the mark between library and kernel */
#define NO_NAME 5   /* an empty name */

static int32_t apply(const rope_call* call) {
  (void)call;
  return ROPE_UNSUPPORTED;
}

uint32_t rope_kernel_count(void) { return ODD == MANY ? UINT32_MAX : 2; }

const rope_kernel* rope_kernel_get(uint32_t index) {
  static char long_name[200000];
  static rope_kernel kernel = {
      .struct_size = sizeof(rope_kernel), .abi = ROPE_KERNEL_ABI, .name = "twin", .apply = apply};
  memset(long_name, 'x', sizeof long_name - 1);
  if (index == 1 && ODD != TWINS) {
    kernel.name = ODD == LONG_NAME ? long_name : ODD == HASH ? "a#b" : "";
  }
  return &kernel;
}
