#include "impls/cuda/launch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <string>

#include "impls/cuda/variant.hpp"

namespace rope::cuda {
namespace {

// One unit a block. At head_dim 128 a unit of 40 heads has 640 chunks: two tokens in 16 bits, one in f32.
constexpr Cut cut_for_device{128, 768};
constexpr std::int64_t most_blocks = 2147483647;  // of dimension x; y and z end at 65,535

thread_local std::string last_error;

struct Failure {};

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next caller does not see it
  last_error = std::string(what) + ": " + cudaGetErrorString(status);
  throw Failure();
}

class Device {
 public:
  explicit Device(int index) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(index), "cudaSetDevice");
  }
  ~Device() { cudaSetDevice(before_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

 private:
  int before_ = 0;
};

template <class V>
__global__ void __launch_bounds__(cut_for_device.threads) rotate_on_device(const __grid_constant__ Job job) {
  rotate<V>(job);
}

struct Piece {
  double values[2 * few_pairs];
};

__global__ void write_piece(const __grid_constant__ Piece piece, double* target, int count) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) target[i] = piece.values[i];
}

template <class... Arguments>
void start(void (*kernel)(Arguments...), unsigned blocks, std::size_t shared_bytes, cudaStream_t stream,
           const char* what, Arguments... arguments) {
  void* addresses[] = {&arguments...};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(cut_for_device.threads), addresses,
                         shared_bytes, stream),
        what);
}

// Values on the device for work queued on the stream while this lives. They travel as parameters: copying from
// unpinned host memory may wait for the stream, and in a captured graph would read that memory long afterwards.
class Uploaded {
 public:
  Uploaded(const std::vector<double>& values, cudaStream_t stream) : stream_(stream) {
    if (values.empty()) return;
    void* data = nullptr;
    check(cudaMallocAsync(&data, values.size() * sizeof(double), stream), "cudaMallocAsync");
    data_ = static_cast<double*>(data);
    for (std::size_t first = 0; first < values.size(); first += std::size(Piece().values)) {
      const std::size_t count = std::min(values.size() - first, std::size(Piece().values));
      Piece piece;
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), count, piece.values);
      try {
        start(write_piece, 1, 0, stream, "upload of theta", piece, data_ + first, static_cast<int>(count));
      } catch (const Failure&) {
        free();
        throw;
      }
    }
  }
  ~Uploaded() { free(); }
  Uploaded(const Uploaded&) = delete;
  Uploaded& operator=(const Uploaded&) = delete;

  const double* data() const { return data_; }

 private:
  void free() {
    if (data_ != nullptr) cudaFreeAsync(data_, stream_);
  }

  cudaStream_t stream_;
  double* data_ = nullptr;
};

void queue(const rope_call& call) {
  Plan plan = plan_of(call, cut_for_device, widest_chunk(call));
  const Device device(call.device_index);
  if (plan.job.units == 0) return;
  auto* const stream = static_cast<cudaStream_t>(call.stream);
  const Uploaded theta(plan.many_theta, stream);
  plan.job.many_theta = theta.data();
  const auto blocks = static_cast<unsigned>(std::min(plan.job.units, most_blocks));
  with_variant(plan.job, [&]<class V>(V) {
    start(rotate_on_device<V>, blocks, plan.shared_bytes, stream, "launch of the rotation", plan.job);
  });
}

}  // namespace

rope_status launch(const rope_call& call) noexcept {
  try {
    queue(call);
    return ROPE_OK;
  } catch (const Failure&) {
  } catch (const std::exception& problem) {
    last_error = problem.what();
  }
  return ROPE_FAILED;
}

const char* error() noexcept { return last_error.c_str(); }

}  // namespace rope::cuda
