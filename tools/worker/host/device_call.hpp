// A call to a kernel whose tensors must lie on a CUDA device. They are copied there, and what the kernel left of them
// is copied back. A device has no inaccessible pages. Canaries beside each tensor replace them, or, under
// compute-sanitizer, the end of the allocated memory.
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

// A call's tensors could not be put on the device; the kernel was not called.
struct CannotPlace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class DeviceCalls {
 public:
  // Throws std::runtime_error if there is no device. `sanitized`: this process runs under compute-sanitizer.
  DeviceCalls(const std::string& driver, bool sanitized) : sanitized_(sanitized), driver_(driver) {}

  // Runs the kernel on the tensors of `call`; the outputs are then in the host's memory. Breaches are: inputs that
  // changed, bytes beside a tensor that changed, and work on another stream than the given one. Throws CannotPlace
  // before the kernel is called, and CudaError after it if the device reports an error of the kernel. After a
  // CudaError nothing works on the device any more in this process.
  //
  // If `sanitized`, each tensor has memory of exactly its elements, and only outputs hold nothing yet. Nothing comes
  // back or is compared: compute-sanitizer judges what the kernel does.
  DeviceResult run(const rope_kernel& kernel, const NativeCall& call);

 private:
  // On the device, in this order: a margin, the tensor's pages, a margin. If sanitized: only the elements.
  struct Buffer {
    DevicePointer allocated = 0;
    DevicePointer data = 0;    // in there
    DevicePointer source = 0;  // the same bytes, copied from here when the stream comes to it
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
  std::vector<Buffer> buffers_;   // one for each mapped tensor
  std::vector<std::byte> bytes_;  // of one buffer, on the host
  std::int64_t calls_ = 0;
  int waits_ = 0;           // calls in a row that returned only when their stream was released
  bool was_early_ = false;  // a call worked on another stream
};

}  // namespace rope::worker
