/* my_kernel.c with one common mistake. In place, x is y: the first line of the loop overwrites x[p], which the second
 * line still needs. With another output it is right, so a test that never rotates in place does not see the mistake.
 *
 *     cc -shared -fPIC -O2 -Iimpls/include -o broken_kernel.so examples/broken_kernel.c -lm
 *     tools/run verify ./broken_kernel.so
 */
#include "rope_kernel.h"

static void rotate_head(const float* x, float* y, const float* cos, const float* sin, int half) {
  for (int p = 0; p < half; ++p) {
    y[p] = x[p] * cos[p] - x[p + half] * sin[p];
    y[p + half] = x[p + half] * cos[p] + x[p] * sin[p];
  }
}

static int64_t position(const rope_positions* given, int64_t batch, int64_t seq) {
  if (given->data == NULL) return given->offset + seq;
  return ((const int32_t*)given->data)[batch * given->batch_stride + seq * given->seq_stride];
}

static int32_t apply(const rope_call* call) {
  const rope_tensor *in = &call->q, *out = &call->q_out;
  for (int64_t b = 0; b < in->shape[0]; ++b) {
    for (int64_t s = 0; s < in->shape[1]; ++s) {
      const int64_t row = position(&call->positions, b, s) * call->table.row_stride;
      const float* cos = (const float*)call->table.cos + row;
      const float* sin = (const float*)call->table.sin + row;
      for (int64_t h = 0; h < in->shape[2]; ++h) {
        const float* x = (const float*)in->data + b * in->strides[0] + s * in->strides[1] + h * in->strides[2];
        float* y = (float*)out->data + b * out->strides[0] + s * out->strides[1] + h * out->strides[2];
        rotate_head(x, y, cos, sin, call->rotary_dim / 2);
      }
    }
  }
  return ROPE_OK;
}

uint32_t rope_kernel_count(void) { return 1; }

const rope_kernel* rope_kernel_get(uint32_t index) {
  static rope_kernel kernel; /* zero: what is not named here is not claimed, and not tested */
  kernel.struct_size = sizeof kernel;
  kernel.abi = ROPE_KERNEL_ABI;
  kernel.name = "broken_kernel";
  kernel.description = "half-split pairs in plain C, wrong in place";
  kernel.apply = apply;
  kernel.claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  kernel.claims.table_dtypes = ROPE_BIT(ROPE_F32);
  kernel.claims.position_dtypes = ROPE_BIT(ROPE_I32);
  kernel.claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  kernel.claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  kernel.claims.half_tables = 1;
  kernel.claims.features = ROPE_BIT(ROPE_FEATURE_POSITIONS) | ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) |
                           ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  kernel.claims.max_position = INT32_MAX;
  return index == 0 ? &kernel : NULL;
}
