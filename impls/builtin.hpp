// The suite's own implementations. To add one: write its file beside half_split.cpp, declare it here and add it to the
// list in builtin.cpp.
#pragma once

#include <span>

#include "impls/include/rope_kernel.h"

namespace rope {

const rope_kernel& half_split_kernel();    // plain loops over the two halves of a head
const rope_kernel& interleaved_kernel();   // plain loops over neighbouring features
const rope_kernel& complex_kernel();       // pairs as std::complex, either pairing
const rope_kernel& naive_matrix_kernel();  // eq. 15 of the RoFormer paper as a matrix product, either pairing
const rope_kernel& cuda_on_cpu_kernel();   // the kernel of cuda/ in a grid on the CPU, either pairing

std::span<const rope_kernel* const> builtin_kernels();

}  // namespace rope
