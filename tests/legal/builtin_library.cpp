// builtin_*.so: the project's own kernels, compiled as others may compile them.
#include "impls/builtin.hpp"

uint32_t rope_kernel_count() { return static_cast<uint32_t>(rope::builtin_kernels().size()); }

const rope_kernel* rope_kernel_get(uint32_t index) {
  return index < rope_kernel_count() ? rope::builtin_kernels()[index] : nullptr;
}
