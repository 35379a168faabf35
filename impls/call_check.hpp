// Whether a kernel can carry out a call. Kernels that claim ROPE_FEATURE_ROBUST check this first, before they write
// anything.
#pragma once

#include "impls/include/rope_kernel.h"

namespace rope {

// ROPE_OK, or one of two others:
// ROPE_INVALID_ARGUMENT: the call breaks the contract of rope_kernel.h. Examples: null pointers, unknown enumerators,
// shapes that do not match, positions outside the tables.
// ROPE_UNSUPPORTED: another ABI or device, or something outside of `claims`.
// Reads axis, and positions if tables are given; no other tensor's elements. If the claims are for a CUDA device, it
// follows no pointer of the call except scaling's lists.
rope_status check_call(const rope_call* call, const rope_capabilities& claims) noexcept;

}  // namespace rope
