// Which position a token has, on which axis.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "impls/call_check.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct OffsetIgnored : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.positions.offset = 0;
    return c;
  }
};

struct BatchOffsetAlongTheSequence : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const bool as_many = at.in().shape[0] == at.in().shape[1];  // otherwise such a kernel fails to broadcast
    if (!as_many || at.call.positions.data == nullptr || at.call.positions.batch_stride == 0)
      return Kernel::position(at, axis);
    const Place start{at.call, at.key, at.seq, 0, 0};
    return Kernel::position(start, axis) + at.seq;
  }
};

struct RowWithinTheTileDropped : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const Place tile{at.call, at.key, at.batch, at.seq / 4, 0};
    return Kernel::position(tile, axis);
  }
};

struct QueriesOneAhead : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const bool counter_moved = !at.key && at.call.k.data != nullptr && at.call.positions.data != nullptr;
    return Kernel::position(at, axis) + (counter_moved ? 1 : 0);
  }
};

struct WidePositionsReadNarrow : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_positions& p = at.call.positions;
    if (p.data == nullptr || p.dtype != ROPE_I64) return Kernel::position(at, axis);
    const std::int64_t element = axis * p.axis_stride + at.batch * p.batch_stride + at.seq * p.seq_stride;
    std::int32_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(p.data) + element * 4, sizeof value);
    return value;
  }
};

struct OffsetNotInTheBoundsTest : Kernel {
  rope_status check(const rope_call* call) const override {
    if (call == nullptr || call->struct_size < sizeof(rope_call)) return Kernel::check(call);
    rope_call c = *call;
    c.positions.offset = 0;
    return check_call(&c, claims());
  }
};

struct IdentityRowsFirst : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    return std::max<std::int64_t>(0, Kernel::position(at, axis) - 257);
  }
};

// This would be right with tables that grow with the sequence.
struct LastRowsOfTheTables : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const bool counted = at.call.positions.data == nullptr && at.call.angle_source == ROPE_TABLES;
    return counted ? at.call.table.rows - at.in().shape[1] + at.seq : Kernel::position(at, axis);
  }
};

struct AxesInBlocks : Kernel {
  int axis(const rope_call& call, int pair) const override {
    std::array<int, 3> pairs{};
    for (int p = 0; p < call.rotary_dim / 2; ++p) ++pairs[static_cast<std::size_t>(Kernel::axis(call, p))];
    if (pair < pairs[0]) return 0;
    return pair < pairs[0] + pairs[1] ? 1 : 2;
  }
};

struct AxesIgnored : Kernel {
  int axis(const rope_call&, int) const override { return 0; }
};

struct HeightForWidth : Kernel {
  int axis(const rope_call& call, int pair) const override {
    const int last = call.positions.axes - 1;
    const int right = Kernel::axis(call, pair);
    if (last == 0 || right < last - 1) return right;
    return right == last ? last - 1 : last;
  }
};

struct TokenStrideOfTheWholeHead : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    if (at.call.positions.axes < 2) return Kernel::position(at, axis);
    const std::int64_t token = at.seq * at.in().shape[3] / at.call.rotary_dim % at.in().shape[1];
    const Place strided{at.call, at.key, at.batch, token, 0};
    return Kernel::position(strided, axis);
  }
};

}  // namespace

Mutants position_mutants() {
  static const Mutant all[] = {
      mutant<OffsetIgnored>("POS-01", "position-offset", "positions start at 0 whatever the offset"),
      mutant<BatchOffsetAlongTheSequence>("POS-05", "position-offset",
                                          "as many tokens as batches: token t starts from batch t's first position"),
      mutant<RowWithinTheTileDropped>("POS-07", "position-offset", "four tokens of a tile share a position"),
      mutant<QueriesOneAhead>("POS-09", "position-offset", "q and k with given positions: q one ahead of k"),
      mutant<WidePositionsReadNarrow>("POS-11", "position-offset", "int64 positions read as int32: p0, 0, p1, 0, .."),
      mutant<OffsetNotInTheBoundsTest>("POS-13", "position-offset",
                                       "table rows checked without the offset: a row past the end is not refused"),
      mutant<IdentityRowsFirst>("POS-15", "position-offset", "positions below 258 are not rotated, later ones late"),
      mutant<LastRowsOfTheTables>("POS-ROWS-BACK", "position-offset",
                                  "an offset taken to be the rows of the tables less the tokens"),
      mutant<AxesInBlocks>("AXIS-01", "multi-axis", "the pairs of each axis in one block where axes alternate"),
      mutant<AxesIgnored>("AXIS-IGNORED", "multi-axis", "every pair follows the first axis"),
      mutant<HeightForWidth>("AXIS-03", "multi-axis", "the last two axes exchanged"),
      mutant<TokenStrideOfTheWholeHead>("AXIS-05", "multi-axis",
                                        "several axes, rotary_dim < head_dim: token stride too wide by their quotient"),
  };
  return all;
}

}  // namespace rope::mutants
