// Whether a call is one that a kernel can carry out. Kernels that claim ROPE_FEATURE_ROBUST ask this first, before
// anything is written.
#pragma once

#include "impls/include/rope_kernel.h"

namespace rope {

// ROPE_OK; ROPE_INVALID_ARGUMENT where the call breaks the contract of rope_kernel.h (null or misaligned pointers,
// unknown enumerators, shapes that do not match, positions outside the tables, scaling parameters without meaning, ..);
// ROPE_UNSUPPORTED where it is another ABI's or device's, or outside of what `claims` says of dtypes, pairings,
// sources, scalings and unequal halves. Reads axis, the positions where tables are given, no other tensor's elements;
// where the claims are of a CUDA device, nothing that a pointer of the call points to but scaling's lists.
rope_status check_call(const rope_call* call, const rope_capabilities& claims) noexcept;

}  // namespace rope
