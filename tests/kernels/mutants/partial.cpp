// rotary_dim < head_dim: which features are rotated, and what happens to the others.
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct TailRotated : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const auto head_dim = static_cast<int>(tensor.shape[3]);
    return Kernel::element(at, tensor, (feature + head_dim - at.call.rotary_dim) % head_dim);
  }
};

}  // namespace

Mutants partial_mutants() {
  static const Mutant all[] = {
      mutant<TailRotated>("PART-05", "partial-passthrough", "the last rotary_dim features turn, not the first"),
  };
  return all;
}

}  // namespace rope::mutants
