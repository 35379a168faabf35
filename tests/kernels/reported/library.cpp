// reported.so: kernels after public bug reports, in ten styles of code.
#include "tests/kernels/reported/reported.hpp"

std::vector<rope::Kernels> rope::exported_kernels() {
  using namespace rope::styles::reported;
  return {flat_tokens_kernels(), fused_kernels(),      gathered_axes_kernels(), head_blocks_kernels(),
          in_double_kernels(),   lanes_kernels(),      pair_threads_kernels(),  rotate_half_kernels(),
          token_cache_kernels(), wavelengths_kernels()};
}
