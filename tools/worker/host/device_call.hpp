// A call to a kernel whose tensors have to lie on a CUDA device: they are copied there, and what the kernel left of
// them is copied back. A device has no inaccessible pages; canaries beside each tensor take their place, or, under
// compute-sanitizer, the end of the memory that was allocated.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tools/worker/host/cuda_driver.hpp"
#include "tools/worker/host/native_call.hpp"

namespace rope::worker {

struct DeviceResult {
  std::int32_t status = ROPE_OK;
  std::chrono::nanoseconds time{0};  // from the launch until the stream was done
  std::string breach;                // a rule that the kernel broke, in a sentence; empty: none was seen
};

// The tensors of a call could not be put on the device: nothing was asked of the kernel.
struct CannotPlace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class DeviceCalls {
 public:
  // Throws std::runtime_error where there is no device. `sanitized`: this process runs under compute-sanitizer.
  explicit DeviceCalls(bool sanitized) : sanitized_(sanitized) {}

  // Runs the kernel on the tensors of `call`, whose outputs are then in the host's memory. Inputs that changed, bytes
  // beside a tensor that changed, and work on another stream than the one that was given are breaches. Throws
  // CannotPlace before the kernel is called, and after that CudaError where the device reports an error of the kernel:
  // then nothing works on the device any more in this process.
  //
  // Where `sanitized`, each tensor has memory of exactly its elements, outputs alone hold nothing yet, and nothing
  // comes back or is compared: what the kernel does is for compute-sanitizer to say.
  DeviceResult run(const rope_kernel& kernel, const NativeCall& call);

 private:
  // On the device, one behind the other: a margin, the tensor's pages, a margin. Where sanitized: the elements alone.
  struct Buffer {
    DevicePointer allocated = 0;
    DevicePointer data = 0;    // in there
    DevicePointer source = 0;  // the same bytes, to be copied from when the stream comes to it
    std::size_t capacity = 0;
    DevicePointer pages = 0;  // where the first byte of the tensor's pages is, or would be
  };

  DeviceResult run_guarded(const rope_kernel& kernel, const NativeCall& call);
  DeviceResult run_once(const rope_kernel& kernel, const NativeCall& call, bool holds);
  DeviceResult run_sanitized(const rope_kernel& kernel, const NativeCall& call);
  void place_elements(const NativeCall& call);
  void place(const NativeCall& call, bool holds);
  void upload(const NativeCall& call);
  void hold_back(const NativeCall& call);
  bool touched_early(const NativeCall& call);
  std::string collect(const NativeCall& call);
  rope_call on_device(const NativeCall& call) const;
  bool is_to_be_held_back();

  bool sanitized_;
  CudaDriver driver_;
  std::vector<Buffer> buffers_;   // one a mapped tensor
  std::vector<std::byte> bytes_;  // of one buffer, on the host
  std::int64_t calls_ = 0;
  int waits_ = 0;           // calls in a row that returned only when their stream was let go
  bool was_early_ = false;  // a call worked on another stream
};

}  // namespace rope::worker
