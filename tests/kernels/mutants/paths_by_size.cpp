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

// The gradient of a sum is an expanded tensor, with strides of 0; it is read as if it were contiguous.
struct ExpandedInputTakenForDense : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const auto& shape = tensor.shape;
    const bool expanded = &tensor == &at.in() && shape[2] > 1 && tensor.strides[2] == 0;
    if (!expanded) return Kernel::element(at, tensor, feature);
    return ((at.batch * shape[1] + at.seq) * shape[2] + at.head) * shape[3] + feature;
  }
};

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

struct GridOfTokensInHalf : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.in().dtype != ROPE_F16 || at.seq < 65535) Kernel::store(at, feature, value);
  }
};

// One lane for each head of k.
struct KeyHeadForEachOf32Lanes : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const bool left_out = at.key && at.head >= 32;
    left_out ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

// Positions are kept in a buffer of 1024; long calls wrap around in it.
struct BufferOf1024Positions : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t token = at.call.positions.data != nullptr ? at.seq % 1024 : at.seq;
    return Kernel::position({at.call, at.key, at.batch, token, at.head}, axis);
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

// Blocks of 2048 tokens. In place, the block of the two batches' last tokens is never launched.
struct LastOf2049Tokens : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto& shape = at.in().shape;
    const bool left_out = at.in_place() && shape[0] == 2 && shape[1] == 2049 && at.seq == 2048;
    if (!left_out) Kernel::rotate(at, pair, row);
  }
};

struct BufferOf64Sequences : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t batch = std::min<std::int64_t>(at.batch, 63);
    return Kernel::position({at.call, at.key, batch, at.seq, at.head}, axis);
  }
};

// The usual decoding call has its own path, which writes only q.
struct FastDecodeWithoutKey : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto& shape = at.in().shape;
    const bool fast = at.in_place() && at.in().dtype == ROPE_BF16 && shape[1] == 1 && shape[3] == 128;
    if (!fast || !at.key) Kernel::rotate(at, pair, row);
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

// Long sequences take a path that rotates vectors of eight features and copies the remaining pairs.
struct LongSequencesInVectors : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const int index = at.call.pairing == ROPE_INTERLEAVED ? pair.first / 2 : pair.first;
    const bool left_out = at.in().shape[1] >= 128 && index >= at.call.rotary_dim / 8 * 4;
    left_out ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

std::int64_t largest_position(const rope_call& call) {
  const int axes = call.positions.data == nullptr ? 1 : call.positions.axes;
  std::int64_t largest = 0;
  for (std::int64_t batch = 0; batch < call.q.shape[0]; ++batch) {
    for (std::int64_t seq = 0; seq < call.q.shape[1]; ++seq) {
      for (int axis = 0; axis < axes; ++axis) {
        largest = std::max(largest, position_of(call, axis, batch, seq));
      }
    }
  }
  return largest;
}

// Calls with tables whose largest position lies in [from, to) take a path that turns the other way.
template <std::int64_t from, std::int64_t to>
struct WrongWithTablesBetween : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.angle_source != ROPE_TABLES) return c;
    const std::int64_t largest = largest_position(call);
    const int32_t other = call.direction == ROPE_FORWARD ? ROPE_BACKWARD : ROPE_FORWARD;
    if (from <= largest && largest < to) c.direction = other;
    return c;
  }
};

using WrongFrom40000 = WrongWithTablesBetween<40'000, 50'000>;
using WrongFrom100000 = WrongWithTablesBetween<100'000, std::numeric_limits<std::int64_t>::max()>;

}  // namespace

Mutants path_by_size_mutants() {
  static const Mutant all[] = {
      mutant<ExpandedInputTakenForDense>("MEM-EXPANDED", "strides-memory-race",
                                         "inputs with head stride 0 read as if they were contiguous"),
      mutant<LengthFromPositions>("SCALE-OWN-LENGTH", "scaling-config",
                                  "dynamic and longrope: length is the largest position of the call and one"),
      mutant<GridOfTokensInHalf>("LIM-HALF-TOKENS", "launch-limits", "f16: tokens from 65535 on are not written"),
      mutant<KeyHeadForEachOf32Lanes>("LIM-KEY-HEADS", "launch-limits", "heads of k from 32 on are not rotated"),
      mutant<BufferOf1024Positions>("POS-BUFFER-1024", "position-offset",
                                    "given positions: token 1024 gets the first one again"),
      mutant<OneTokenLeftOver>("LIM-ONE-LEFT-OVER", "launch-limits",
                               "several batches in place: one token after full blocks of 64 is not rotated"),
      mutant<LastOf2049Tokens>("LIM-LAST-OF-2049", "launch-limits",
                               "two batches of 2049 tokens in place: the last token is not rotated"),
      mutant<BufferOf64Sequences>("VAR-64-SEQUENCES", "varlen-packing-cp",
                                  "batches from 64 on get the positions of batch 63"),
      mutant<FastDecodeWithoutKey>("HEAD-FAST-DECODE", "heads-batch-qk",
                                   "one token in place, bf16 with head_dim 128: k comes out as it went in"),
      mutant<AxesOf64Pairs>("AXIS-64-PAIRS", "multi-axis", "pairs from 64 on follow the first axis"),
      mutant<TableRowInInt32>("TAB-ROW-INT32", "table-cache", "table row times row stride wraps at 2^31"),
      mutant<WrongFrom40000>("TAB-FROM-40000", "table-cache",
                             "tables, the largest position is from 40000 to 49999: turned backward"),
      mutant<WrongFrom100000>("TAB-FROM-100000", "table-cache",
                              "tables, the largest position is 100000 or more: turned backward"),
      mutant<LongSequencesInVectors>("LIM-LONG-VECTORS", "launch-limits",
                                     "128 tokens and more: pairs left over from vectors of four are not rotated"),
  };
  return all;
}

}  // namespace rope::mutants
