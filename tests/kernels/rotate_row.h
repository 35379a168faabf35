/* The right half of test kernels that misbehave: a rotation of f32 rows by half_split tables of half width, out of
   place, with dense rows. In C99. */
#ifndef ROPECHECK_TESTS_KERNELS_ROTATE_ROW_H
#define ROPECHECK_TESTS_KERNELS_ROTATE_ROW_H

#include "impls/include/rope_kernel.h"

/* Row number `row` of q, counted over batches, tokens and heads. */
static inline void rotate_row(const rope_call* c, int64_t row, int64_t position) {
  const int64_t dim = c->q.shape[3], pairs = c->rotary_dim / 2;
  const float* x = (const float*)c->q.data + row * dim;
  float* y = (float*)c->q_out.data + row * dim;
  const float* cosine = (const float*)c->table.cos + position * c->table.row_stride;
  const float* sine = (const float*)c->table.sin + position * c->table.row_stride;
  int64_t p;
  for (p = 0; p < pairs; ++p) {
    const float a = x[p], b = x[p + pairs];
    y[p] = a * cosine[p] - b * sine[p];
    y[p + pairs] = b * cosine[p] + a * sine[p];
  }
  for (p = 2 * pairs; p < dim; ++p) y[p] = x[p];
}

/* All rows of a call with consecutive positions. */
static inline void rotate_rows(const rope_call* c) {
  const int64_t tokens = c->q.shape[1], heads = c->q.shape[2], rows = c->q.shape[0] * tokens * heads;
  int64_t row;
  for (row = 0; row < rows; ++row) rotate_row(c, row, c->positions.offset + row / heads % tokens);
}

#endif
