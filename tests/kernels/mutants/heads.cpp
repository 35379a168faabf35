// q and k, heads or batches are confused, or a step around the rotation is done once too often.
#include <algorithm>
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

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

struct HeadStrideOfQuery : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    return Kernel::element(at, tensor, feature) + at.head * (at.call.q.strides[2] - at.in().strides[2]);
  }
};

struct DecodeInPlaceWrongHeadStride : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    const bool fast_path = at.in_place() && tensor.shape[1] == 1;
    const std::int64_t wrong = at.head * (tensor.strides[1] - tensor.strides[2]);
    return Kernel::element(at, tensor, feature) + (fast_path ? wrong : 0);
  }
};

struct DecodeOnlyFirstBatch : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const bool left_out = at.in().shape[1] == 1 && at.batch > 0;
    left_out ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

struct KeyNotWrittenBack : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    at.key ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
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

struct Twice : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values y = turned(turned(values(at, pair), pair, row), pair, row);
    store(at, pair.first, y.first);
    store(at, pair.second, y.second);
  }
};

struct SoftmaxScaleInTheQuery : Kernel {
  void store(const Place& at, int feature, double value) const override {
    constexpr double log2_e = 1.4426950408889634;
    Kernel::store(at, feature, at.key ? value : value * log2_e);
  }
};

}  // namespace

Mutants head_mutants() {
  static const Mutant all[] = {
      mutant<CrossWired>("HEAD-01", "heads-batch-qk", "second features from k, first features from q, in both"),
      mutant<KeyTurnedWithQuery>("NOTEBOOK-APPLY-ROPE", "heads-batch-qk",
                                 "a published notebook: k cos + rotate_half(q) sin"),
      mutant<HeadStrideOfQuery>("HEAD-03", "heads-batch-qk", "k walked with the head stride of q"),
      mutant<DecodeInPlaceWrongHeadStride>("HEAD-05", "heads-batch-qk",
                                           "one token in place: token stride taken for the head stride"),
      mutant<HeadsInParallel>("HEAD-07", "heads-batch-qk", "six heads and more: token and head of a row exchanged"),
      mutant<DecodeOnlyFirstBatch>("BATCH-DECODE", "heads-batch-qk", "one token: only the first batch is rotated"),
      mutant<KeyNotWrittenBack>("MEM-13", "strides-memory-race", "k comes out as it went in"),
      mutant<Twice>("PIPE-01", "pipeline", "rotated twice: angle 2 phi, attention factor squared"),
      mutant<KeyPermutedInWrongBlocks>("PIPE-03", "pipeline",
                                       "k made half-split in heads/key_heads blocks where there are key_heads"),
      mutant<SoftmaxScaleInTheQuery>("PIPE-05", "pipeline", "rotated q times log2(e)"),
  };
  return all;
}

}  // namespace rope::mutants
