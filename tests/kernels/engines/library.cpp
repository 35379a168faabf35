// engines.so: kernels as inference engines have them, in thirteen styles of code, three of them in C.
#include "tests/kernels/engines/c_kernels.h"
#include "tests/kernels/engines/engine.hpp"

std::vector<rope::Kernels> rope::exported_kernels() {
  using namespace rope::styles::engines;
  return {coordinates_kernels(),     gradients_kernels(),       Kernels(graph_op_kernels), head_major_kernels(),
          mixed_precision_kernels(), Kernels(own_sine_kernels), row_shares_kernels(),      scaling_rules_kernels(),
          Kernels(scratch_kernels),  table_rows_kernels(),      token_blocks_kernels(),    vector_blocks_kernels(),
          work_queue_kernels()};
}
