// engines.so: the kernels of all engines.
#include "tests/styles/engines/c_kernels.h"
#include "tests/styles/engines/engine.hpp"
#include "tests/styles/exports.hpp"

std::vector<rope::styles::Kernels> rope::styles::exported_styles() {
  using namespace rope::styles::engines;
  return {coordinates_kernels(),     gradients_kernels(),       Kernels(graph_op_kernels), head_major_kernels(),
          mixed_precision_kernels(), Kernels(own_sine_kernels), row_shares_kernels(),      scaling_rules_kernels(),
          Kernels(scratch_kernels),  table_rows_kernels(),      token_blocks_kernels(),    vector_blocks_kernels(),
          work_queue_kernels()};
}
