// styles.so: kernels that claim little, in ten styles of code.
#include "tests/kernels/styles/kernel.hpp"

std::vector<rope::Kernels> rope::exported_kernels() {
  using namespace rope::styles;
  return {axes_kernels(),  base_offset_kernels(), cached_row_kernels(), complex_kernels(),  kept_table_kernels(),
          paged_kernels(), per_op_kernels(),      tiles_kernels(),      training_kernels(), vectors_kernels()};
}
