// One call while another one runs. Finds kernels that share scratch memory or caches between calls.
#pragma once

#include <cstdint>
#include <functional>

#include "impls/include/rope_kernel.h"

namespace rope {

struct ConcurrentResult {
  std::int32_t status = ROPE_OK;            // of the judged call: the first that was not ok
  std::int32_t companion_status = ROPE_OK;  // likewise
  std::int64_t nanoseconds = 0;             // of the judged call's solo run
};

using Apply = std::function<std::int32_t(const rope_call*)>;

// Runs `judged` again and again on this thread while a second thread runs `companion`, then once more solo. Every run
// starts with the same outputs. If a concurrent run differs from the solo run, its outputs are left; else the outputs
// that all runs have in common. Exceptions of either thread are thrown here, after both have ended. The second thread
// calls `on_thread` first.
ConcurrentResult run_concurrently(const Apply& apply, const rope_call& judged, const rope_call& companion,
                                  const std::function<void()>& on_thread = {});

}  // namespace rope
