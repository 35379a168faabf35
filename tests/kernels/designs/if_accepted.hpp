// accepts.h for kernels in C++.
#pragma once

#include <cstdint>
#include <exception>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/accepts.h"

namespace rope::designs {

// rotate() returns a rope_status; it is not called for a call outside the claims, or with nothing to do.
template <class Rotate>
std::int32_t if_accepted(const rope_call* call, const rope_capabilities& claims, Rotate rotate) {
  const std::int32_t status = designs_accepts(call, &claims);
  if (status != ROPE_OK) return status == DESIGNS_NOTHING_TO_DO ? ROPE_OK : status;
  try {
    return rotate();
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
}

}  // namespace rope::designs
