/* A library with one right kernel, but for the statements that its flags put at these places. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/rotate_row.h"

#ifndef AT_LOAD
#define AT_LOAD
#endif
#ifndef AT_UNLOAD
#define AT_UNLOAD
#endif
#ifndef AT_COUNT
#define AT_COUNT
#endif
#ifndef AT_GET
#define AT_GET
#endif
#ifndef COUNT_NAME
#define COUNT_NAME rope_kernel_count
#endif
#ifndef GET_NAME
#define GET_NAME rope_kernel_get
#endif

static int32_t apply(const rope_call* c) {
  rotate_rows(c);
  return ROPE_OK;
}

static int32_t dims[100000] = {8};
static char text[200000] = "kernel";
static rope_kernel kernel = {.struct_size = sizeof(rope_kernel),
                             .abi = ROPE_KERNEL_ABI,
                             .name = text,
                             .apply = apply,
                             .claims = {.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32),
                                        .table_dtypes = ROPE_BIT(ROPE_F32),
                                        .pairings = ROPE_BIT(ROPE_HALF_SPLIT),
                                        .angle_sources = ROPE_BIT(ROPE_TABLES),
                                        .half_tables = 1,
                                        .max_position = 1 << 12,
                                        .head_dims = dims,
                                        .head_dim_count = 1}};

/* For the statements; each library uses few of them. */
__attribute__((unused)) static void hang(void) {
  for (volatile int i = 0;; ++i) {
  }
}
__attribute__((unused)) static void crash(void) { *(volatile int*)(size_t)(text[0] - 'k') = 1; }
__attribute__((unused)) static int recurse(volatile char* above) {
  volatile char frame[512];
  frame[0] = *above;
  return above == NULL ? 0 : recurse(frame) + frame[0];
}
__attribute__((unused)) static void flood(void) {
  for (int i = 0; i < (1 << 14); ++i) printf("%062d\n\xff", i);
}
/* To the worker's connection too. */
__attribute__((unused)) static void say(char byte, size_t count) {
  char* const line = malloc(count + 1);
  memset(line, byte, count);
  line[count] = '\n';
  for (int file = 3; file < 256; ++file) send(file, line, count + 1, MSG_NOSIGNAL);
  free(line);
}
__attribute__((unused)) static void close_all(void) {
  for (int file = 0; file < 1024; ++file) close(file);
}

__attribute__((constructor)) static void load(void) { AT_LOAD; }
__attribute__((destructor)) static void unload(void) { AT_UNLOAD; }

#ifndef WITHOUT_SYMBOLS
uint32_t COUNT_NAME(void) {
  AT_COUNT;
  return 1;
}
const rope_kernel* GET_NAME(uint32_t index) {
  AT_GET;
  return index == 0 ? &kernel : NULL;
}
#endif
