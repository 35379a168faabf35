// How a library of test kernels offers them: it defines exported_kernels(), and exports.cpp does the rest.
#pragma once

#include <span>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope {

using Kernels = std::span<const rope_kernel>;

// Each library has its own: its lists of kernels, in the order in which it exports them.
std::vector<Kernels> exported_kernels();

}  // namespace rope
