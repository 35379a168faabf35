#include "tests/styles/exports.hpp"

#include <cstdint>

namespace {

const std::vector<rope_kernel>& kernels() {
  static const std::vector<rope_kernel> all = [] {
    std::vector<rope_kernel> result;
    for (const rope::styles::Kernels style : rope::styles::exported_styles()) {
      result.insert(result.end(), style.begin(), style.end());
    }
    return result;
  }();
  return all;
}

}  // namespace

uint32_t rope_kernel_count() { return static_cast<uint32_t>(kernels().size()); }

const rope_kernel* rope_kernel_get(uint32_t index) { return index < rope_kernel_count() ? &kernels()[index] : nullptr; }
