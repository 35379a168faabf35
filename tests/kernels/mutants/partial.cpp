// rotary_dim < head_dim: which features are rotated, and what happens to the others.
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct WholeHead : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    // Given lists have only rotary_dim/2 values: nothing can be read for the rest of the head.
    const bool without_lists =
        call.angle_source == ROPE_COMPUTED && call.axis == nullptr && call.scaling.kind != ROPE_SCALING_LONGROPE;
    if (without_lists) c.rotary_dim = static_cast<std::int32_t>(call.q.shape[3] / 2 * 2);
    return c;
  }
};

struct RotatedPartThrownAway : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (at.call.rotary_dim == at.in().shape[3]) return Kernel::rotate(at, pair, row);
    pass(at, pair.first);
    pass(at, pair.second);
  }
};

struct TailRotated : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const auto head_dim = static_cast<int>(tensor.shape[3]);
    return Kernel::element(at, tensor, (feature + head_dim - at.call.rotary_dim) % head_dim);
  }
};

struct TailNotWritten : Kernel {
  void pass(const Place&, int) const override {}
};

}  // namespace

Mutants partial_mutants() {
  static const Mutant all[] = {
      mutant<WholeHead>("PART-01", "partial-passthrough", "rotary_dim ignored: the whole head turns"),
      mutant<RotatedPartThrownAway>("PART-03", "partial-passthrough", "rotary_dim < head_dim: y = x"),
      mutant<TailRotated>("PART-05", "partial-passthrough", "the last rotary_dim features turn, not the first"),
      mutant<TailNotWritten>("PART-UNWRITTEN", "partial-passthrough", "pass-through features are never written"),
  };
  return all;
}

}  // namespace rope::mutants
