// styles.so: the kernels of all styles.
#include "tests/styles/exports.hpp"

std::vector<rope::styles::Kernels> rope::styles::exported_styles() {
  return {axes_kernels(),  base_offset_kernels(), cached_row_kernels(), complex_kernels(),  kept_table_kernels(),
          paged_kernels(), per_op_kernels(),      tiles_kernels(),      training_kernels(), vectors_kernels()};
}
