// engines.so: the kernels of all engines.
#include <cstdint>
#include <vector>

#include "impls/rope_kernel.h"
#include "tests/styles/engines/c_kernels.h"
#include "tests/styles/engines/engine.hpp"

namespace rope::styles::engines {
namespace {

std::vector<rope_kernel> all_kernels() {
  std::vector<rope_kernel> all;
  for (const Kernels engine :
       {coordinates_kernels(), gradients_kernels(), Kernels(graph_op_kernels), head_major_kernels(),
        mixed_precision_kernels(), Kernels(own_sine_kernels), row_shares_kernels(), scaling_rules_kernels(),
        Kernels(scratch_kernels), table_rows_kernels(), token_blocks_kernels(), vector_blocks_kernels(),
        work_queue_kernels()}) {
    all.insert(all.end(), engine.begin(), engine.end());
  }
  return all;
}

const std::vector<rope_kernel>& kernels() {
  static const std::vector<rope_kernel> all = all_kernels();
  return all;
}

}  // namespace
}  // namespace rope::styles::engines

uint32_t rope_kernel_count() { return static_cast<std::uint32_t>(rope::styles::engines::kernels().size()); }

const rope_kernel* rope_kernel_get(uint32_t index) {
  return index < rope_kernel_count() ? &rope::styles::engines::kernels()[index] : nullptr;
}
