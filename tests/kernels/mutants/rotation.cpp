// How angles are used: in which pairs, heads and tensors, and what is written. Most are wrong in one path of several.
// Some of these access memory outside their buffers: run them in a worker.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "impls/position.hpp"
#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct SineFromCosine : Kernel {
  Turn turn(const rope_call&, double angle) const override { return {std::cos(angle), std::fabs(std::sin(angle))}; }
};

// Launched over the heads of q: each key head is rotated once for every query head of its group.
struct OncePerQueryHead : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const std::int64_t heads = at.call.q.shape[2];
    const std::int64_t times = at.key && at.in_place() && heads > at.in().shape[2] ? heads / at.in().shape[2] : 1;
    for (std::int64_t i = 0; i < times; ++i) Kernel::rotate(at, pair, row);
  }
};

struct GradientWithoutScaling : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.scaling = rope_scaling{};
    return c;
  }
};

int index_of(const rope_call& call, Pair pair) {
  return call.pairing == ROPE_INTERLEAVED ? pair.first / 2 : pair.first;
}

// A k with fewer heads than q was permuted for the other pairing.
struct GroupedKeyHalfSplit : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const rope_call& call = at.call;
    if (!at.key || call.pairing != ROPE_INTERLEAVED || call.k.shape[2] >= call.q.shape[2]) {
      return Kernel::rotate(at, pair, row);
    }
    const Pair halves{pair.first / 2, (pair.first + call.rotary_dim) / 2};
    const Values y = turned(values(at, halves), pair, row);
    store(at, halves.first, y.first);
    store(at, halves.second, y.second);
  }
};

// The shape of MLA. The fast path was made for a model whose rotary part comes last.
struct RotaryPartLastInMla : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const int head_dim = static_cast<int>(tensor.shape[3]);
    if (at.call.rotary_dim != 64 || (head_dim != 192 && head_dim != 576)) return Kernel::element(at, tensor, feature);
    return Kernel::element(at, tensor, (feature + head_dim - 64) % head_dim);
  }
};

struct InputClippedToHalf : Kernel {
  double load(const Place& at, int feature) const override {
    const double x = Kernel::load(at, feature);
    return std::isfinite(x) ? std::clamp(x, -65504.0, 65504.0) : x;
  }
};

// Vectors of 16 bytes are read from the address rounded down to a multiple of 16.
struct AlignedDown : Kernel {
  double load(const Place& at, int feature) const override {
    const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(at.in().dtype)));
    const auto behind = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at.in().data) % 16);
    if (at.in().shape[3] * size % 16 != 0 || behind == 0) return Kernel::load(at, feature);
    return rope::load(static_cast<DType>(at.in().dtype),
                      address(at.in(), element(at, at.in(), feature)) - behind / size * size);
  }
};

// One thread for each pair of the whole tensor, in 65535 blocks of 256.
struct GridOfAllPairs : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const auto& shape = at.in().shape;
    const std::int64_t head = (at.batch * shape[1] + at.seq) * shape[2] + at.head;
    if (head * (at.call.rotary_dim / 2) + index_of(at.call, pair) < 65535 * 256) Kernel::rotate(at, pair, row);
  }
};

// q, k and v are in one buffer: the launch for q rotates all heads, then the launch for k rotates k again.
struct PackedKeyTwice : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const rope_call& call = at.call;
    const bool packed = at.key && at.in_place() && call.q.strides[1] == call.k.strides[1] &&
                        call.k.data == address(call.q, call.q.shape[2] * call.q.strides[2]);
    if (packed) Kernel::rotate(at, pair, row);
    Kernel::rotate(at, pair, row);
  }
};

bool is_readable(const rope_call* call) { return call != nullptr && call->struct_size >= sizeof(rope_call); }

struct KeyOfAnyType : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    const rope_call c = as_query(*call);
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override { return as_query(call); }
  static rope_call as_query(const rope_call& call) {
    rope_call c = call;
    if (call.k.data != nullptr) c.k.dtype = call.q.dtype;
    if (call.k.data != nullptr) c.k_out.dtype = call.q_out.dtype;
    return c;
  }
};

// The head of the other tensor that belongs to this one, if heads are shared round robin.
Place in_other_tensor(const Place& at) {
  const std::int64_t heads = (at.key ? at.call.q : at.call.k).shape[2];
  return {at.call, !at.key, at.batch, at.seq, at.head % heads};
}

bool has_both(const rope_call& call) { return call.k.data != nullptr && call.q.shape[2] > 0 && call.k.shape[2] > 0; }

struct CrossWired : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (!has_both(at.call)) return Kernel::rotate(at, pair, row);
    const Place other = in_other_tensor(at);
    const Values q = values(at.key ? other : at, pair);
    const Values k = values(at.key ? at : other, pair);
    store(at, pair.first, turned(q, pair, row).first);
    store(at, pair.second, turned(k, pair, row).second);
  }
};

struct KeyTurnedWithQuery : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (!at.key || !has_both(at.call)) return Kernel::rotate(at, pair, row);
    const Values k = values(at, pair);
    const Values q = values(in_other_tensor(at), pair);
    store(at, pair.first, k.first * row.cos(pair.first) - q.second * row.sin(pair.first));
    store(at, pair.second, k.second * row.cos(pair.second) + q.first * row.sin(pair.second));
  }
};

struct HeadsInParallel : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    constexpr std::int64_t enough_heads = 6;  // from this number on, another variant is launched
    if (tensor.shape[2] < enough_heads) return Kernel::element(at, tensor, feature);
    const std::int64_t index = at.seq * tensor.shape[2] + at.head;
    const Place mapped{at.call, at.key, at.batch, index % tensor.shape[1], index / tensor.shape[1]};
    return Kernel::element(mapped, tensor, feature);
  }
};

// k is interleaved in its file and converted to half-split: in blocks of `width`, where head by head is right. Returns
// which feature of a rightly converted k is then at `index`.
std::int64_t source_of(std::int64_t index, std::int64_t head_dim, std::int64_t width) {
  const std::int64_t in_block = index % width;
  const std::int64_t file = index - in_block + in_block % (width / 2) * 2 + in_block / (width / 2);
  const std::int64_t in_head = file % head_dim;
  return file - in_head + in_head % 2 * (head_dim / 2) + in_head / 2;
}

struct KeyPermutedInWrongBlocks : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const std::int64_t blocks = at.call.q.shape[2] / std::max<std::int64_t>(1, at.call.k.shape[2]);
    const std::int64_t all = tensor.shape[2] * tensor.shape[3];
    const bool grouped = at.key && &tensor == &at.in() && blocks > 1 && all % (2 * blocks) == 0;
    if (!grouped || tensor.shape[3] % 2 != 0) return Kernel::element(at, tensor, feature);
    const std::int64_t from = source_of(at.head * tensor.shape[3] + feature, tensor.shape[3], all / blocks);
    const Place other{at.call, at.key, at.batch, at.seq, from / tensor.shape[3]};
    return Kernel::element(other, tensor, static_cast<int>(from % tensor.shape[3]));
  }
};

struct BeforeLeftOut : Kernel {
  void pass(const Place& at, int feature) const override {
    const bool is_before = feature + at.call.rotary_offset >= at.in().shape[3];
    if (!is_before || at.in_place()) Kernel::pass(at, feature);
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

constexpr std::int64_t grid = 65535;  // the second and third dimension of a CUDA grid

bool is_empty(const rope_tensor& tensor) {
  return std::any_of(tensor.shape, tensor.shape + 3, [](std::int64_t size) { return size == 0; });
}

struct EmptyFails : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    return status == ROPE_OK && is_empty(call->q) ? ROPE_FAILED : status;
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

struct NoBackward : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    return status == ROPE_OK && call->direction == ROPE_BACKWARD ? ROPE_UNSUPPORTED : status;
  }
};

struct DefaultBase : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_FORWARD || call.angle_source != ROPE_COMPUTED) return c;
    c.base = 10000;
    c.scaling = rope_scaling{};
    return c;
  }
};

struct SinesNotExchanged : Kernel {
  void direct(const rope_call& call, Row& row) const override {
    if (call.direction == ROPE_FORWARD) return;
    for (int feature = 0; feature < row.features(); ++feature) row.sin(feature) *= -1;
  }
};

struct ForwardAgain : Kernel {
  void direct(const rope_call&, Row&) const override {}
};

struct GradientFromPositionZero : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.positions.offset = 0;
    return c;
  }
};

struct TableExpandedTheOtherWay : Kernel {
  int pair_of(const rope_call& call, int feature) const override {
    return call.pairing == ROPE_INTERLEAVED ? feature % (call.rotary_dim / 2) : feature / 2;
  }
};

struct AnglesConcatenated : Kernel {
  int pair_of(const rope_call& call, int feature) const override {
    const int p = Kernel::pair_of(call, feature);
    if (call.axis == nullptr) return p;
    std::vector<int> blocks;  // the pairs of axis 0, then of axis 1, ..
    for (int a = 0; a < call.positions.axes; ++a) {
      for (int other = 0; other < call.rotary_dim / 2; ++other) {
        if (axis(call, other) == a) blocks.push_back(other);
      }
    }
    return blocks[static_cast<std::size_t>(p)];
  }
};

struct SinCosUnpackedInBlocks : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row right = Kernel::row(at, theta);
    std::vector<double> packed;  // sin, cos, sin, cos, ..
    for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
      packed.push_back(right.sin(pair(at.call, p).first));
      packed.push_back(right.cos(pair(at.call, p).first));
    }
    const std::size_t half = packed.size() / 2;
    Row wrong = right;
    for (int feature = 0; feature < wrong.features(); ++feature) {
      const auto p = static_cast<std::size_t>(pair_of(at.call, feature));
      wrong.cos(feature) = packed[p];
      wrong.sin(feature) = packed[half + p];
    }
    return wrong;
  }
};

struct PartnerWithinThirtyTwo : Kernel {
  Pair pair(const rope_call& call, int index) const override {
    if (call.pairing != ROPE_HALF_SPLIT || call.rotary_dim <= 32) return Kernel::pair(call, index);
    const int block = index / 16 * 32;  // lanes of a warp; the last block may be narrower
    const int width = std::min(32, call.rotary_dim - block);
    return {block + index % 16, block + index % 16 + width / 2};
  }
};

}  // namespace

Mutants rotation_mutants() {
  static const Mutant all[] = {
      mutant<SineFromCosine>("SIGN-SQUARE-ROOT", "sign-direction",
                             "sin as sqrt(1 - cos^2), which is never negative; tables are right"),
      mutant<OncePerQueryHead>("HEAD-ONCE-PER-QUERY", "heads-batch-qk",
                               "in place, grouped heads: a head of k is rotated once for each head of q"),
      mutant<GradientWithoutScaling>("BWD-NO-SCALING", "backward",
                                     "backward without the scaling rule, with the right base"),
      mutant<GroupedKeyHalfSplit>("PAIR-GROUPED-KEY", "pairing-layout",
                                  "interleaved, fewer heads in k: k in half-split pairs"),
      mutant<RotaryPartLastInMla>("PART-MLA", "partial-passthrough",
                                  "rotary_dim 64 of head_dim 192 or 576: the last features turn"),
      mutant<InputClippedToHalf>("SPC-CLIPPED", "special-values", "inputs clipped to the range of f16"),
      mutant<AlignedDown>("MEM-ALIGNED-DOWN", "strides-memory-race",
                          "inputs that do not start at 16 bytes are read from the boundary before"),
      mutant<GridOfAllPairs>("LIM-ALL-PAIRS", "launch-limits",
                             "pairs of the whole tensor from 16776960 on are not written"),
      mutant<PackedKeyTwice>("PIPE-PACKED-TWICE", "pipeline",
                             "in place, k directly behind the heads of q in each token: k rotated twice"),
      mutant<KeyOfAnyType>("ERR-KEY-TYPE", "bad-arguments", "dtype of k not compared with q's dtype"),
      mutant<CrossWired>("HEAD-01", "heads-batch-qk", "second features from k, first features from q, in both"),
      mutant<KeyTurnedWithQuery>("NOTEBOOK-APPLY-ROPE", "heads-batch-qk",
                                 "a published notebook: k cos + rotate_half(q) sin"),
      mutant<HeadsInParallel>("HEAD-07", "heads-batch-qk", "six heads and more: token and head of a row exchanged"),
      mutant<KeyPermutedInWrongBlocks>("PIPE-03", "pipeline",
                                       "k made half-split in heads/key_heads blocks where there are key_heads"),
      mutant<BeforeLeftOut>("OFF-BEFORE", "partial-passthrough", "features before rotary_offset are not written"),
      mutant<NarrowOutputCutOff>("ERR-NARROW-OUTPUT", "bad-arguments",
                                 "head_dim of q_out not compared with q's: features without room are left out"),
      mutant<EmptyFails>("VAR-05", "varlen-packing-cp", "a call without tokens is answered with failed"),
      mutant<OneTokenLeftOver>("LIM-ONE-LEFT-OVER", "launch-limits",
                               "several batches in place: one token after full blocks of 64 is not rotated"),
      mutant<NoBackward>("BWD-03", "backward", "claims backward and does not have it"),
      mutant<DefaultBase>("BWD-05", "backward", "backward with base 10000 and no scaling"),
      mutant<SinesNotExchanged>("BWD-07", "backward",
                                "full-width tables: each feature keeps its own sine where the transpose swaps them"),
      mutant<ForwardAgain>("BWD-AS-FORWARD", "backward", "backward rotates forward"),
      mutant<GradientFromPositionZero>("BWD-OFFSET", "backward", "backward ignores the offset"),
      mutant<TableExpandedTheOtherWay>("PAIR-03", "pairing-layout",
                                       "angles spread over the features in the other pairing: two in each pair"),
      mutant<SinCosUnpackedInBlocks>("PAIR-05", "pairing-layout",
                                     "cos and sin are the first and second half of a table sin, cos, sin, cos, .."),
      mutant<AnglesConcatenated>(
          "PAIR-07", "pairing-layout",
          "several axes: their angles in blocks, one axis after the other, where they alternate"),
      mutant<PartnerWithinThirtyTwo>("PAIR-09", "pairing-layout",
                                     "half-split partners exchanged 16 apart in blocks of 32 where rotary_dim > 32"),
  };
  return all;
}

}  // namespace rope::mutants
