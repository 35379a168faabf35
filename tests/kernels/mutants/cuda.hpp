// Edits of the kernel for CUDA devices (impls/cuda), run by the grid on the CPU. An edit is a class that overrides one
// function of AsIntended, or that changes the plan of a launch; it is the whole bug.
#pragma once

#include <cstdint>
#include <span>

#include "impls/include/rope_kernel.h"

namespace rope::mutants {

struct CudaMutant {
  const char* id;
  const char* description;  // class of bugs: what it computes instead
  std::int32_t (*apply)(const rope_call* call);
};

std::span<const CudaMutant> cuda_mutants();

}  // namespace rope::mutants
