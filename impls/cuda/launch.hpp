// The rotation on a CUDA device.
#pragma once

#include "impls/include/rope_kernel.h"

namespace rope::cuda {

// Queues the call on call.stream of device call.device_index, which is made current for the time of this call, and
// returns. The call must have passed check_call. ROPE_FAILED where CUDA refuses something, also where there is no
// driver or no such device; then nothing stays allocated, and error() says what it was.
rope_status launch(const rope_call& call) noexcept;

// The last failure on this host thread, for example "cudaSetDevice: no CUDA-capable device is detected"; empty before.
const char* error() noexcept;

}  // namespace rope::cuda
