// Kernels that check one property of a call and assume another.
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

bool is_dense(const rope_tensor& tensor) {
  std::int64_t packed = 1;
  for (int i = 3; i >= 0; --i) {
    if (tensor.shape[i] > 1 && tensor.strides[i] != packed) return false;
    packed *= tensor.shape[i];
  }
  return true;
}

struct TablesAsDenseAsQuery : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_dense(call.q)) c.table.row_stride = call.table.width;
    return c;
  }
};

struct BatchesAlikeWhereTheyBeginAlike : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const auto of_first_token = [&](std::int64_t batch) {
      return Kernel::position({at.call, at.key, batch, 0, at.head}, axis);
    };
    const bool alike = of_first_token(at.batch) == of_first_token(0);
    return Kernel::position({at.call, at.key, alike ? 0 : at.batch, at.seq, at.head}, axis);
  }
};

class ThetaKeyedByIntegerBase : public Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.angle_source != ROPE_COMPUTED) return c;
    const std::lock_guard guard(lock_);
    c.base = first_.try_emplace(std::floor(call.base), call.base).first->second;
    return c;
  }
  mutable std::mutex lock_;
  mutable std::map<double, double> first_;  // the first base by its integer part
};

struct NanOfKeyToZero : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, at.key && std::isnan(value) ? 0 : value);
  }
};

}  // namespace

Mutants shortcut_mutants() {
  static const Mutant all[] = {
      mutant<TablesAsDenseAsQuery>("TAB-DENSE", "table-cache", "row stride of the table ignored where q is contiguous"),
      mutant<BatchesAlikeWhereTheyBeginAlike>(
          "POS-BATCHES-ALIKE", "varlen-packing-cp",
          "a batch that starts at batch 0's position gets all positions of batch 0"),
      mutant<ThetaKeyedByIntegerBase>("TAB-INTEGER-BASE", "table-cache",
                                      "theta is kept for each integer base, whatever its fraction is later"),
      mutant<NanOfKeyToZero>("NAN-KEY-ZERO", "special-values", "a NaN in k comes out as zero"),
  };
  return all;
}

}  // namespace rope::mutants
