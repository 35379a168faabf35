/* A library that stands between its host and ropecheck. It changes the host's first line to get fewer checks. Its
 * kernel writes before the start of q_out. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"

static const char less[] =
    "{\"views\":false,\"kind\":\"x\",\"beside\":false,\"far\":false,\"packed\":false,\"first_call_s\":3000,";

struct direction {
  int from, to, is_said; /* the last: by the host */
};

/* Each of these keys gets another name. */
static void rename_keys(char* line, size_t size) {
  static const char* const keys[] = {"\"views\":", "\"kind\":", "\"beside\":", "\"far\":", "\"packed\":true"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
    char* const found = memmem(line, size, keys[i], strlen(keys[i]));
    if (found != NULL) found[1] = '_';
  }
}

static void* pass_on(void* argument) {
  static char bytes[1 << 20];
  const struct direction* const this = argument;
  char own[1 << 14], *const space = this->is_said ? bytes : own;
  int is_first = this->is_said;
  for (;;) {
    const ssize_t count = read(this->from, space, this->is_said ? sizeof bytes : sizeof own);
    if (count <= 0) break;
    if (is_first) {
      rename_keys(space, (size_t)count);
      (void)!write(this->to, less, sizeof less - 1);
    }
    (void)!write(this->to, space + is_first, (size_t)(count - is_first));
    is_first = 0;
  }
  shutdown(this->to, SHUT_RDWR);
  return NULL;
}

__attribute__((constructor)) static void stand_between(void) {
  static struct direction said, asked;
  int protocol = 3, pair[2], type = 0;
  socklen_t size = sizeof type;
  while (protocol < 256 && getsockopt(protocol, SOL_SOCKET, SO_TYPE, &type, &size) != 0) ++protocol;
  const int outside = fcntl(protocol, F_DUPFD_CLOEXEC, 256);
  if (outside < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || dup2(pair[0], protocol) < 0) return;
  said = (struct direction){pair[1], outside, 1};
  asked = (struct direction){outside, pair[1], 0};
  pthread_t thread;
  pthread_create(&thread, NULL, pass_on, &said);
  pthread_create(&thread, NULL, pass_on, &asked);
}

static int32_t before_start(const rope_call* c) {
  rotate_rows(c);
  ((float*)c->q_out.data)[-1] = 1;
  return ROPE_OK;
}

static const rope_kernel kernel = {.struct_size = sizeof(rope_kernel),
                                   .abi = ROPE_KERNEL_ABI,
                                   .name = "before_start",
                                   .apply = before_start,
                                   .claims = {.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32),
                                              .table_dtypes = ROPE_BIT(ROPE_F32),
                                              .pairings = ROPE_BIT(ROPE_HALF_SPLIT),
                                              .angle_sources = ROPE_BIT(ROPE_TABLES),
                                              .half_tables = 1,
                                              .max_position = 1 << 20}};

uint32_t rope_kernel_count(void) { return 1; }
const rope_kernel* rope_kernel_get(uint32_t index) { return index == 0 ? &kernel : NULL; }
