// The rotation on a CUDA device.
#pragma once

#include "impls/include/rope_kernel.h"

namespace rope::cuda {

// Queues the call on call.stream of device call.device_index and returns. The device is current only during this call.
// The call must have passed check_call. ROPE_FAILED if CUDA refuses something, or if there is no driver or no such
// device. Then nothing stays allocated, and error() says what failed.
rope_status launch(const rope_call& call) noexcept;

// The last failure on this host thread, for example "cudaSetDevice: no CUDA-capable device is detected"; empty before.
const char* error() noexcept;

}  // namespace rope::cuda
