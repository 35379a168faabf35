// One call while another one runs: what a kernel that keeps scratch memory or caches for all its calls gets wrong.
#pragma once

#include <cstdint>
#include <functional>

#include "impls/include/rope_kernel.h"

namespace rope {

struct ConcurrentResult {
  std::int32_t status = ROPE_OK;            // of the judged call: that of the first run that was not ok
  std::int32_t companion_status = ROPE_OK;  // likewise
  std::int64_t nanoseconds = 0;             // of the judged call where it ran alone
};

using Apply = std::function<std::int32_t(const rope_call*)>;

// Runs `judged` again and again on this thread while a second thread runs `companion`, and once more alone. Each run
// finds the outputs as they were before. Left in them is what a run beside the companion computed, if any differed
// from the one alone; else what all of them computed. Exceptions of either thread are thrown here, when both have
// ended. `on_thread` is called first on the second thread.
ConcurrentResult run_concurrently(const Apply& apply, const rope_call& judged, const rope_call& companion,
                                  const std::function<void()>& on_thread = {});

}  // namespace rope
