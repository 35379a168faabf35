// reported.so: the kernels after reports.
#include "tests/styles/exports.hpp"
#include "tests/styles/reported/reported.hpp"

std::vector<rope::styles::Kernels> rope::styles::exported_styles() {
  using namespace rope::styles::reported;
  return {flat_tokens_kernels(), fused_kernels(),      gathered_axes_kernels(), head_blocks_kernels(),
          in_double_kernels(),   lanes_kernels(),      pair_threads_kernels(),  rotate_half_kernels(),
          token_cache_kernels(), wavelengths_kernels()};
}
