// Wrong in one path only; a call's sizes, types and strides select it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "impls/position.hpp"
#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

// Rules that depend on the length take it from the positions of the call.
struct LengthFromPositions : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const bool depends = call.scaling.kind == ROPE_SCALING_DYNAMIC || call.scaling.kind == ROPE_SCALING_LONGROPE;
    if (call.angle_source != ROPE_COMPUTED || !depends) return c;
    std::int64_t largest = 0;
    for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
      for (std::int64_t seq = 0; seq < call.q.shape[1]; ++seq) {
        for (int p = 0; p < call.rotary_dim / 2; ++p) {
          largest = std::max(largest, Kernel::position({call, false, batch, seq, 0}, Kernel::axis(call, p)));
        }
      }
    }
    c.sequence_length = largest + 1;
    return c;
  }
};

// Blocks of 64 tokens. In place, a last block of one token is taken for one that is done, if there are more batches.
struct OneTokenLeftOver : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto& shape = at.in().shape;
    const bool is_only_one = at.seq > 0 && at.seq % 64 == 0 && at.seq == shape[1] - 1;
    if (!at.in_place() || shape[0] == 1 || !is_only_one) Kernel::rotate(at, pair, row);
  }
};

// Masks of 64 bits say which pairs follow which axis.
struct AxesOf64Pairs : Kernel {
  int axis(const rope_call& call, int pair) const override { return pair < 64 ? Kernel::axis(call, pair) : 0; }
};

// Row times row stride in 32 bits.
struct TableRowInInt32 : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const rope_call& call = at.call;
    const std::int64_t m = position(at, 0);
    const std::int64_t right = m * call.table.row_stride;
    const std::int64_t wrapped = static_cast<std::int32_t>(right);
    if (call.angle_source != ROPE_TABLES || call.axis != nullptr || right == wrapped) return Kernel::row(at, theta);
    const auto moved = (wrapped - right) * static_cast<std::int64_t>(size_of(static_cast<DType>(call.table.dtype)));
    rope_call c = call;
    c.table.cos = static_cast<const std::byte*>(call.table.cos) + moved;
    c.table.sin = static_cast<const std::byte*>(call.table.sin) + moved;
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
  }
};

}  // namespace

Mutants path_by_size_mutants() {
  static const Mutant all[] = {
      mutant<LengthFromPositions>("SCALE-OWN-LENGTH", "scaling-config",
                                  "dynamic and longrope: length is the largest position of the call and one"),
      mutant<OneTokenLeftOver>("LIM-ONE-LEFT-OVER", "launch-limits",
                               "several batches in place: one token after full blocks of 64 is not rotated"),
      mutant<AxesOf64Pairs>("AXIS-64-PAIRS", "multi-axis", "pairs from 64 on follow the first axis"),
      mutant<TableRowInInt32>("TAB-ROW-INT32", "table-cache", "table row times row stride wraps at 2^31"),
  };
  return all;
}

}  // namespace rope::mutants
