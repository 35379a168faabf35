/* Libraries whose count, names or claims cannot be. ODD says which. */
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"

#define TWINS 1 /* two kernels of one name */
#define MANY 2  /* more kernels than can be */
#define MIXED 3 /* a right one among others that are not */
#define EMPTY 5 /* what is loaded says that the library holds no kernel */
#define DEEP 4  /* what is loaded speaks JSON to ropecheck, nested too deep */

static int32_t right(const rope_call *c) {
  rotate_rows(c);
  return ROPE_OK;
}

static int32_t dims[100000];
static char long_name[200000];

#define KERNEL(what, list, count)                                                            \
  {.struct_size = sizeof(rope_kernel), .abi = ROPE_KERNEL_ABI, .name = what, .apply = right, \
   .claims = {.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32),                                    \
              .table_dtypes = ROPE_BIT(ROPE_F32),                                            \
              .pairings = ROPE_BIT(ROPE_HALF_SPLIT),                                         \
              .angle_sources = ROPE_BIT(ROPE_TABLES),                                        \
              .half_tables = 1,                                                              \
              .head_dims = list,                                                             \
              .head_dim_count = count,                                                       \
              .max_position = 1 << 20}}

static const int32_t largest[] = {INT32_MAX - 1};
static const rope_kernel mixed[] = {
    KERNEL("right", NULL, 0),
    KERNEL("", NULL, 0),
    KERNEL("a#b", NULL, 0),
    KERNEL("\xff\xc0", NULL, 0),
    KERNEL(long_name, NULL, 0),
    KERNEL("bell\a\x1b[31m<b>\u202e", NULL, 0),
    KERNEL(NULL, NULL, 0),
    KERNEL("large_head_dim", largest, 1),
    KERNEL("many_head_dims", dims, 100000),
    KERNEL("endless_head_dims", largest, INT32_MAX),
    KERNEL("lacks_apply", NULL, 0),
};

#if ODD == DEEP
__attribute__((constructor)) static void speak(void) {
  static char deep[200001];
  memset(deep, '[', 100000);
  memset(deep + 100000, ']', 100000);
  deep[200000] = '\n';
  for (int fd = 3; fd < 256; ++fd) send(fd, deep, sizeof deep, MSG_NOSIGNAL);
}
#endif

#if ODD == EMPTY
__attribute__((constructor)) static void speak(void) {
  static const char line[] = "{\"v\":1,\"op\":\"kernels\",\"kernels\":[]}\n";
  for (int fd = 3; fd < 256; ++fd) send(fd, line, sizeof line - 1, MSG_NOSIGNAL);
}
#endif

uint32_t rope_kernel_count(void) {
  return ODD == MANY ? UINT32_MAX : ODD == MIXED ? sizeof mixed / sizeof *mixed + 1 : 2;
}

const rope_kernel *rope_kernel_get(uint32_t index) {
  static rope_kernel without_apply;
  memset(long_name, 'x', sizeof long_name - 1);
  for (int i = 0; i < 100000; ++i) dims[i] = 64;
  if (ODD != MIXED) {
    static rope_kernel twin = KERNEL("twin", NULL, 0);
    return &twin;
  }
  if (index >= sizeof mixed / sizeof *mixed) return NULL;
  if (strcmp(mixed[index].name == NULL ? "" : mixed[index].name, "lacks_apply") != 0) return &mixed[index];
  without_apply = mixed[index];
  without_apply.apply = NULL;
  return &without_apply;
}
