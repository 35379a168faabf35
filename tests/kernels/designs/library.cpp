// designs.so: kernels that claim little, as real engines and model codes have them.
#include "tests/kernels/designs/c_kernels.h"
#include "tests/kernels/designs/engine.hpp"
#include "tests/kernels/designs/reported.hpp"

std::vector<rope::Kernels> rope::exported_kernels() {
  using namespace rope::designs;
  using namespace rope::designs::engines;
  using namespace rope::designs::reported;
  return {axes_kernels(),        base_offset_kernels(),     cached_row_kernels(),    complex_kernels(),
          coordinates_kernels(), flat_tokens_kernels(),     fused_kernels(),         gathered_axes_kernels(),
          gradients_kernels(),   Kernels(graph_op_kernels), head_blocks_kernels(),   head_major_kernels(),
          in_double_kernels(),   kept_table_kernels(),      lanes_kernels(),         mixed_precision_kernels(),
          paged_kernels(),       Kernels(own_sine_kernels), pair_threads_kernels(),  per_op_kernels(),
          rotate_half_kernels(), row_shares_kernels(),      scaling_rules_kernels(), Kernels(scratch_kernels),
          table_rows_kernels(),  tiles_kernels(),           token_blocks_kernels(),  token_cache_kernels(),
          training_kernels(),    vector_blocks_kernels(),   vectors_kernels(),       wavelengths_kernels(),
          work_queue_kernels()};
}
