// Where elements are, how far a launch reaches, and which calls are accepted. Some of these access memory outside their
// buffers: run them in a worker.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct StridesWithoutSign : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    return at.batch * std::abs(tensor.strides[0]) + at.seq * std::abs(tensor.strides[1]) +
           at.head * std::abs(tensor.strides[2]) + feature * std::abs(tensor.strides[3]);
  }
};

struct FeaturesTakenToBeDense : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    return Kernel::element(at, tensor, 0) + feature;
  }
};

struct OutputStridesOfInput : Kernel {
  std::int64_t element(const Place& at, const rope_tensor&, int feature) const override {
    return Kernel::element(at, at.in(), feature);
  }
};

// Stores four features at a time: features behind the head become zero until the next head overwrites them.
struct LastVectorTooWide : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, value);
    const auto head_dim = static_cast<int>(at.out().shape[3]);
    if (feature + 1 != head_dim) return;
    for (int behind = head_dim; behind % 4 != 0; ++behind) Kernel::store(at, behind, 0);
  }
};

std::int64_t row_of(const Place& at) { return (at.batch * at.in().shape[1] + at.seq) * at.in().shape[2] + at.head; }

struct GridOfRows : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (row_of(at) < 65536) Kernel::store(at, feature, value);
  }
};

// q and k, forward and backward each have their own launch.
struct GridOfKeyTokens : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (!at.key || at.seq < 65535) Kernel::store(at, feature, value);
  }
};

struct GridOfGradientTokens : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.call.direction == ROPE_FORWARD || at.seq < 65535) Kernel::store(at, feature, value);
  }
};

// n / 8 blocks instead of (n + 7) / 8.
struct BlocksRoundedDown : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const std::int64_t rows = at.in().shape[0] * at.in().shape[1] * at.in().shape[2];
    if (row_of(at) < std::max<std::int64_t>(1, rows / 8) * 8) Kernel::store(at, feature, value);
  }
};

// Two tokens per block, in the in-place variant.
struct OddTokenLeftOver : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const std::int64_t tokens = at.in().shape[1];
    if (!at.in_place() || tokens == 1 || at.seq < tokens / 2 * 2) Kernel::store(at, feature, value);
  }
};

struct ThreadForEachOf128Pairs : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const int index = at.call.pairing == ROPE_INTERLEAVED ? pair.first / 2 : pair.first;
    index < 128 ? Kernel::rotate(at, pair, row) : (pass(at, pair.first), pass(at, pair.second));
  }
};

// The search for a packed sequence takes the wrong side: the first token counts for the sequence before.
struct BoundaryOneLate : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    if (at.call.positions.data == nullptr || at.seq == 0) return m;
    const std::int64_t before = Kernel::position({at.call, at.key, at.batch, at.seq - 1, 0}, axis);
    return m < before ? before + 1 : m;
  }
};

// The list of sequence ends lacks the last one.
struct LastSequenceEmpty : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool own_positions = at.call.positions.data != nullptr && at.call.positions.batch_stride != 0;
    const bool left_out = own_positions && at.batch > 0 && at.batch + 1 == at.in().shape[0];
    if (!left_out) Kernel::store(at, feature, value);
  }
};

struct Saturated : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const double largest = largest_finite(static_cast<DType>(at.out().dtype));
    Kernel::store(at, feature, std::isinf(value) ? std::copysign(largest, value) : value);
  }
};

struct ZerosArePadding : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values x = values(at, pair);
    if (x.first != 0 || x.second != 0) Kernel::rotate(at, pair, row);
  }
};

bool is_readable(const rope_call* call) { return call != nullptr && call->struct_size >= sizeof(rope_call); }

struct RowsComeAround : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    rope_call c = *call;
    c.table.rows = std::numeric_limits<std::int64_t>::max();
    return Kernel::check(&c);
  }
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    return at.call.angle_source == ROPE_TABLES ? m % at.call.table.rows : m;
  }
};

struct WideTableByItsFirstColumns : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    const rope_call c = narrowed(*call);
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override { return narrowed(call); }
  static rope_call narrowed(const rope_call& call) {
    rope_call c = call;
    c.table.width = std::min(call.table.width, std::max(2, call.rotary_dim));
    return c;
  }
};

struct NarrowOutputCutOff : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    rope_call c = *call;
    c.q_out.shape[3] = c.q.shape[3];
    return Kernel::check(&c);
  }
  void store(const Place& at, int feature, double value) const override {
    if (feature < at.out().shape[3]) Kernel::store(at, feature, value);
  }
  void pass(const Place& at, int feature) const override {
    if (feature < at.out().shape[3]) Kernel::pass(at, feature);
  }
};

}  // namespace

Mutants launch_mutants() {
  static const Mutant all[] = {
      mutant<StridesWithoutSign>("MEM-STRIDE-SIGN", "strides-memory-race", "negative strides taken for positive ones"),
      mutant<FeaturesTakenToBeDense>("MEM-FEATURE-STRIDE", "strides-memory-race",
                                     "stride from feature to feature taken to be 1"),
      mutant<OutputStridesOfInput>("MEM-STRIDES-OF-INPUT", "strides-memory-race",
                                   "output written with the strides of the input"),
      mutant<LastVectorTooWide>("MEM-LAST-VECTOR", "strides-memory-race",
                                "head_dim no multiple of four: zeros written behind each head"),
      mutant<GridOfRows>("LIM-ROWS", "launch-limits", "rows (batch, token and head) from 65536 on are not written"),
      mutant<GridOfKeyTokens>("LIM-KEY-TOKENS", "launch-limits", "tokens of k from 65535 on are not written"),
      mutant<GridOfGradientTokens>("LIM-GRADIENT-TOKENS", "launch-limits",
                                   "backward: tokens from 65535 on are not written"),
      mutant<BlocksRoundedDown>("LIM-BLOCKS", "launch-limits", "rows left over from blocks of eight are not written"),
      mutant<OddTokenLeftOver>("LIM-ODD-TOKENS", "launch-limits",
                               "in place, an odd number of tokens, three and more: the last one is not written"),
      mutant<ThreadForEachOf128Pairs>("LIM-PAIRS", "launch-limits", "pairs from 128 on are not rotated"),
      mutant<BoundaryOneLate>("VAR-BOUNDARY", "varlen-packing-cp",
                              "first token of a packed sequence counted on from the one before"),
      mutant<LastSequenceEmpty>("VAR-LAST-SEQUENCE", "varlen-packing-cp",
                                "positions for each batch: the last batch is not rotated nor written"),
      mutant<Saturated>("SPC-SATURATED", "special-values", "infinite results become the largest finite number"),
      mutant<ZerosArePadding>("SPC-ZEROS-SKIPPED", "special-values", "pairs of zeros are not written"),
      mutant<RowsComeAround>("ERR-ROWS-AROUND", "bad-arguments",
                             "positions past the tables start again at the first row"),
      mutant<WideTableByItsFirstColumns>("ERR-WIDE-TABLE", "bad-arguments",
                                         "tables wider than rotary_dim: their first columns are read"),
      mutant<NarrowOutputCutOff>("ERR-NARROW-OUTPUT", "bad-arguments",
                                 "head_dim of q_out not compared with q's: features without room are left out"),
  };
  return all;
}

}  // namespace rope::mutants
