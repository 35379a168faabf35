#include "impls/builtin.hpp"

#include <array>

namespace rope {

std::span<const rope_kernel* const> builtin_kernels() {
  static const std::array kernels{
      &half_split_kernel(), &interleaved_kernel(), &complex_kernel(), &naive_matrix_kernel(), &cuda_on_cpu_kernel(),
  };
  return kernels;
}

}  // namespace rope
