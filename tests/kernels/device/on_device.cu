// device_cuda.so: the kernels for a device.
#include <cuda_runtime_api.h>

#include "tests/kernels/device/rotation.hpp"

namespace rope::device_kernels {
namespace {

template <class Edit>
__global__ void run_on_device(const __grid_constant__ rope_call call) {
  Edit::template run<Edit>(call);
}

template <class Edit>
rope_status queue(const rope_call& call) {
  if (cudaSetDevice(call.device_index) != cudaSuccess) return ROPE_FAILED;
  auto* const stream = Edit::takes_the_stream ? static_cast<cudaStream_t>(call.stream) : nullptr;
  const Grid grid = Edit::grid(call);
  run_on_device<Edit><<<dim3(grid.blocks_x, grid.blocks_y), grid.threads, grid.threads * sizeof(Turn), stream>>>(call);
  if (Edit::waits) cudaStreamSynchronize(stream);
  return cudaGetLastError() == cudaSuccess || !Edit::asks_whether_it_started ? ROPE_OK : ROPE_FAILED;
}

}  // namespace
}  // namespace rope::device_kernels

#include "tests/kernels/device/kernels.hpp"

std::vector<rope::Kernels> rope::exported_kernels() { return {device_kernels::kernels()}; }
