// legal_*.so: each algorithm with the widest claims that it can keep, and a few with narrow ones.
#include <utility>

#include "tests/kernels/exports.hpp"
#include "tests/kernels/legal/algorithms.hpp"

std::vector<rope::Kernels> rope::exported_kernels() {
  using namespace rope::legal;
  static const auto wide = kernels_of<algorithms>(std::make_index_sequence<algorithms.size()>());
  static const auto narrow = kernels_of<narrow_algorithms>(std::make_index_sequence<narrow_algorithms.size()>());
  return {wide, narrow};
}
