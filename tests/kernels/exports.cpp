#include "tests/kernels/exports.hpp"

#include <cstdint>

namespace {

const std::vector<rope_kernel>& kernels() {
  static const std::vector<rope_kernel> all = [] {
    std::vector<rope_kernel> result;
    for (const rope::Kernels list : rope::exported_kernels()) result.insert(result.end(), list.begin(), list.end());
    return result;
  }();
  return all;
}

}  // namespace

uint32_t rope_kernel_count() { return static_cast<uint32_t>(kernels().size()); }

const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels()[index] : nullptr; }
