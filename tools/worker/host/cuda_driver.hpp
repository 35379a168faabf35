// The few functions of the CUDA driver that a worker needs, looked up at run time. So nothing here is built with CUDA,
// and a machine without it runs everything else. ROPECHECK_CUDA_DRIVER names another library instead of libcuda.so.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace rope::worker {

// The driver's error for a call of ours: "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)".
struct CudaError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using DevicePointer = std::uint64_t;  // CUdeviceptr; bytes

class CudaDriver {
 public:
  static constexpr const char* usual_library = "libcuda.so.1";

  // Device 0, and its primary context, which the CUDA runtime of a kernel's library uses too. Throws
  // std::runtime_error that begins with "no CUDA driver" or "no CUDA device" and says what was tried.
  explicit CudaDriver(const std::string& library);
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;

  // A kernel may make something else current, for example another device; this makes ours current again.
  void make_current() const;

  // Each throws CudaError. Copies without a stream are complete after finish_all() at the latest.
  DevicePointer allocate(std::size_t bytes) const;
  void free(DevicePointer pointer) const;
  void upload(DevicePointer to, const void* from, std::size_t bytes) const;
  void copy_on(void* stream, DevicePointer to, DevicePointer from, std::size_t bytes) const;
  // On a stream of our own, so it waits for no other one.
  void download_beside(void* to, DevicePointer from, std::size_t bytes) const;
  void call_on(void* stream, void (*function)(void*), void* argument) const;
  void finish(void* stream) const;
  void finish_all() const;  // reports errors of all streams

  // A stream that no other one waits for, not even the default stream. Kernels are given this one.
  void* stream() const { return stream_; }

 private:
  struct Functions;
  void check(int result, const char* function) const;

  const Functions* functions_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  void* side_stream_ = nullptr;
};

}  // namespace rope::worker
