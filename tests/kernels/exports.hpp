// How a library offers its test kernels: it defines exported_kernels(), and exports.cpp does the rest.
#pragma once

#include <span>
#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope {

using Kernels = std::span<const rope_kernel>;

// Each library defines this: its lists of kernels, in the order of their export.
std::vector<Kernels> exported_kernels();

}  // namespace rope
