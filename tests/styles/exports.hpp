// What a library of several styles exports, from their lists of kernels.
#pragma once

#include <vector>

#include "impls/rope_kernel.h"
#include "tests/styles/kernel.hpp"

namespace rope::styles {

// Each library has its own: the lists of its styles, in the order in which it exports their kernels.
std::vector<Kernels> exported_styles();

}  // namespace rope::styles
