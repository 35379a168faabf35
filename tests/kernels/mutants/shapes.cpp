// Shapes that exceed a launch, that have no specialisation, or that leave nothing to do.
#include <algorithm>
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

constexpr std::int64_t grid = 65535;  // the second and third dimension of a CUDA grid

struct GridOfTokens : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.seq < grid) Kernel::store(at, feature, value);
  }
};

struct GridOfBatches : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.batch < grid) Kernel::store(at, feature, value);
  }
};

struct GridOfHeads : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.head < grid) Kernel::store(at, feature, value);
  }
};

struct BlockOf1024 : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (feature < 1024) Kernel::store(at, feature, value);
  }
};

struct OneHeadDimUnrotated : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const bool missing = at.in().dtype == ROPE_F16 && at.in().shape[3] == 22;
    missing ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

bool is_empty(const rope_tensor& tensor) {
  return std::any_of(tensor.shape, tensor.shape + 3, [](std::int64_t size) { return size == 0; });
}

struct EmptyFails : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    return status == ROPE_OK && is_empty(call->q) ? ROPE_FAILED : status;
  }
};

struct OneRowAtLeast : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    for (int i = 0; i < 3; ++i) c.q.shape[i] = std::max<std::int64_t>(1, call.q.shape[i]);
    return c;
  }
};

}  // namespace

Mutants shape_mutants() {
  static const Mutant all[] = {
      mutant<GridOfTokens>("LIM-01", "launch-limits", "tokens from 65535 on are not rotated nor written"),
      mutant<GridOfBatches>("LIM-BATCHES", "launch-limits", "batches from 65535 on are not rotated nor written"),
      mutant<GridOfHeads>("LIM-HEADS", "launch-limits", "heads from 65535 on are not rotated nor written"),
      mutant<BlockOf1024>("LIM-03", "launch-limits", "features from 1024 on are not written"),
      mutant<OneHeadDimUnrotated>("SHP-ONE-HEAD-DIM", "precision", "f16 with head_dim 22: nothing rotated, y = x"),
      mutant<EmptyFails>("VAR-05", "varlen-packing-cp", "a call without tokens is answered with failed"),
      mutant<OneRowAtLeast>("SHP-EMPTY-WRITTEN", "varlen-packing-cp",
                            "rotates one row at least, also where there is none"),
  };
  return all;
}

}  // namespace rope::mutants
