// reported.so: the kernels after reports.
#include <cstdint>
#include <vector>

#include "impls/rope_kernel.h"
#include "tests/styles/reported/reported.hpp"

namespace rope::styles::reported {
namespace {

std::vector<rope_kernel> all_kernels() {
  std::vector<rope_kernel> all;
  for (const Kernels style :
       {flat_tokens_kernels(), fused_kernels(), gathered_axes_kernels(), head_blocks_kernels(), in_double_kernels(),
        lanes_kernels(), pair_threads_kernels(), rotate_half_kernels(), token_cache_kernels(), wavelengths_kernels()}) {
    all.insert(all.end(), style.begin(), style.end());
  }
  return all;
}

const std::vector<rope_kernel>& kernels() {
  static const std::vector<rope_kernel> all = all_kernels();
  return all;
}

}  // namespace
}  // namespace rope::styles::reported

uint32_t rope_kernel_count() { return static_cast<std::uint32_t>(rope::styles::reported::kernels().size()); }

const rope_kernel* rope_kernel_get(uint32_t index) {
  return index < rope_kernel_count() ? &rope::styles::reported::kernels()[index] : nullptr;
}
