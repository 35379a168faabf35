// Whether a kernel can carry out a call. Kernels that claim ROPE_FEATURE_ROBUST check this first, before they write
// anything.
#pragma once

#include "impls/include/rope_kernel.h"

namespace rope {

// ROPE_OK, or one of two others. ROPE_INVALID_ARGUMENT: the call breaks the contract of rope_kernel.h, by null or
// misaligned pointers, unknown enumerators, shapes that do not match, positions outside the tables, or scaling
// parameters without meaning. ROPE_UNSUPPORTED: another ABI or device, or dtypes, pairings, sources, scalings or
// unequal halves outside of `claims`. Reads axis, and positions if tables are given; no other tensor's elements. If the
// claims are for a CUDA device, it follows no pointer of the call except scaling's lists.
rope_status check_call(const rope_call* call, const rope_capabilities& claims) noexcept;

}  // namespace rope
