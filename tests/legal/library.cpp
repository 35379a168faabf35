// legal_*.so: each algorithm with the widest claims that it can keep, and a few with narrow ones.
#include <cstdint>
#include <utility>

#include "tests/legal/algorithms.hpp"

namespace {

using namespace rope::legal;

const auto wide = kernels_of<algorithms>(std::make_index_sequence<algorithms.size()>());
const auto narrow = kernels_of<narrow_algorithms>(std::make_index_sequence<narrow_algorithms.size()>());

}  // namespace

uint32_t rope_kernel_count() { return static_cast<uint32_t>(wide.size() + narrow.size()); }

const rope_kernel* rope_kernel_get(uint32_t index) {
  if (index < wide.size()) return &wide[index];
  return index < rope_kernel_count() ? &narrow[index - wide.size()] : nullptr;
}
