/* Deeds on memory. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "deeds.h"

#define PAGE ((uintptr_t)sysconf(_SC_PAGESIZE))
#define FAR ((int64_t)1 << 28) /* elements: beyond every guard page */

/* What the compiler cannot see through, so that it keeps the deed. */
static void* volatile nothing;

static void* page_of(const void* address) { return (void*)((uintptr_t)address & ~(PAGE - 1)); }

static int64_t elements(const rope_tensor* t) { return t->shape[0] * t->shape[1] * t->shape[2] * t->shape[3]; }

static int32_t write_at(const rope_call* c, const void* tensor, int64_t index) {
  ((volatile float*)tensor)[index] = 1;
  return right(c);
}

int32_t null_write(const rope_call* c) { return write_at(c, nothing, 0); }
int32_t write_past_end(const rope_call* c) { return write_at(c, c->q_out.data, elements(&c->q_out)); }
int32_t write_before_start(const rope_call* c) { return write_at(c, c->q_out.data, -1); }
int32_t write_far_past(const rope_call* c) { return write_at(c, c->q_out.data, FAR); }
int32_t write_input(const rope_call* c) { return write_at(c, c->q.data, 0); }
int32_t write_table(const rope_call* c) { return write_at(c, c->table.cos, 0); }
int32_t write_code(const rope_call* c) { return write_at(c, (const void*)(uintptr_t)&right, 0); }

int32_t write_positions(const rope_call* c) {
  return c->positions.data == NULL ? right(c) : write_at(c, c->positions.data, 0);
}

static int32_t jump_to(const void* address) { return ((int32_t(*)(void))(uintptr_t)address)(); }
int32_t jump_null(const rope_call* c) { return jump_to(nothing) + right(c); }
int32_t jump_into_input(const rope_call* c) { return jump_to(c->q.data) + right(c); }

static int32_t recurse(volatile char* above) {
  volatile char frame[512];
  frame[0] = *above;
  return above == nothing ? 0 : recurse(frame) + frame[0];
}
int32_t stack_overflow(const rope_call* c) {
  volatile char deepest = 0;
  return recurse(&deepest) + right(c);
}

/* Everything above this frame, as far as the host's own frames. */
int32_t smash_frames(const rope_call* c) {
  volatile char* const frame = __builtin_frame_address(0);
  for (int i = 0; i < 4096; ++i) frame[i] = 0x41;
  return right(c);
}

int32_t double_free(const rope_call* c) {
  void* volatile memory = malloc(24);
  free(memory);
  free(memory);
  return right(c);
}

/* The size that malloc keeps in front of its memory. */
int32_t smash_heap(const rope_call* c) {
  volatile size_t* volatile memory = malloc(24);
  memory[-1] = 0;
  free((void*)memory);
  return right(c);
}

int32_t free_tensor(const rope_call* c) {
  void* volatile memory = c->q_out.data;
  free(memory);
  return right(c);
}

int32_t unmap_output(const rope_call* c) {
  munmap(page_of(c->q_out.data), PAGE);
  return ROPE_OK;
}

int32_t unmap_input(const rope_call* c) {
  const int32_t status = right(c);
  munmap(page_of(c->q.data), PAGE);
  return status;
}

/* A gigabyte on both sides of the C library's code. */
int32_t unmap_libraries(const rope_call* c) {
  const uintptr_t there = (uintptr_t)page_of((const void*)(uintptr_t)&malloc), much = (uintptr_t)1 << 30;
  munmap((void*)(there - much), 2 * much);
  return right(c);
}

int32_t unprotect_input(const rope_call* c) {
  const int refused = mprotect(page_of(c->q.data), PAGE, PROT_READ | PROT_WRITE) != 0;
  return refused ? ROPE_UNSUPPORTED : write_at(c, c->q.data, 0);
}

int32_t protect_output(const rope_call* c) {
  const int32_t status = right(c);
  mprotect(page_of(c->q_out.data), PAGE, PROT_NONE);
  return status;
}

/* The results go into memory that nobody else has. */
int32_t replace_output(const rope_call* c) {
  mmap(page_of(c->q_out.data), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return right(c);
}
