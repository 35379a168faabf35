/* A rotary position embedding kernel for CUDA: half-split pairs, f32, cos and sin given. Build and judge it:
 *
 *     nvcc -shared -Xcompiler -fPIC -O2 -Iimpls/include -o cuda_kernel.so examples/cuda_kernel.cu
 *     tools/run verify ./cuda_kernel.so
 */
#include "rope_kernel.h"

/* A thread takes one pair after the other, however many there are: no grid is too small, no index too narrow. */
static __global__ void rotate(rope_call call) {
  const int64_t half = call.rotary_dim / 2, seq = call.q.shape[1], heads = call.q.shape[2];
  const int64_t all = call.q.shape[0] * seq * heads * half, step = (int64_t)gridDim.x * blockDim.x;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all; i += step) {
    const int64_t p = i % half, h = i / half % heads, s = i / half / heads % seq, b = i / half / heads / seq;
    const int64_t row = (call.positions.offset + s) * call.table.row_stride;
    const float c = ((const float*)call.table.cos)[row + p], n = ((const float*)call.table.sin)[row + p];
    const float* x =
        (const float*)call.q.data + b * call.q.strides[0] + s * call.q.strides[1] + h * call.q.strides[2];
    float* y =
        (float*)call.q_out.data + b * call.q_out.strides[0] + s * call.q_out.strides[1] + h * call.q_out.strides[2];
    const float first = x[p], second = x[p + half];
    y[p] = first * c - second * n;
    y[p + half] = second * c + first * n;
  }
}

/* Pointers are the device's, and so is the stream: nothing here waits. */
static int32_t apply(const rope_call* call) {
  if (cudaSetDevice(call->device_index) != cudaSuccess) return ROPE_FAILED;
  rotate<<<1024, 256, 0, (cudaStream_t)call->stream>>>(*call);
  return cudaGetLastError() == cudaSuccess ? ROPE_OK : ROPE_FAILED;
}

/* What is not named here is not claimed, and not tested. */
static rope_kernel described() {
  rope_kernel kernel{};
  kernel.struct_size = sizeof(rope_kernel);
  kernel.abi = ROPE_KERNEL_ABI;
  kernel.name = "cuda_kernel";
  kernel.description = "half-split pairs in plain CUDA";
  kernel.apply = apply;
  kernel.claims.device = ROPE_CUDA;
  kernel.claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  kernel.claims.table_dtypes = ROPE_BIT(ROPE_F32);
  kernel.claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  kernel.claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  kernel.claims.half_tables = 1;
  kernel.claims.features = ROPE_BIT(ROPE_FEATURE_OFFSET) | ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  kernel.claims.max_position = INT32_MAX;
  return kernel;
}

uint32_t rope_kernel_count(void) { return 1; }
const rope_kernel* rope_kernel_get(uint32_t index) {
  static const rope_kernel kernel = described();
  return index == 0 ? &kernel : NULL;
}
