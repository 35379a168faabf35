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

}  // namespace

Mutants head_mutants() {
  static const Mutant all[] = {
      mutant<CrossWired>("HEAD-01", "heads-batch-qk", "second features from k, first features from q, in both"),
      mutant<KeyTurnedWithQuery>("NOTEBOOK-APPLY-ROPE", "heads-batch-qk",
                                 "a published notebook: k cos + rotate_half(q) sin"),
      mutant<HeadsInParallel>("HEAD-07", "heads-batch-qk", "six heads and more: token and head of a row exchanged"),
      mutant<KeyPermutedInWrongBlocks>("PIPE-03", "pipeline",
                                       "k made half-split in heads/key_heads blocks where there are key_heads"),
  };
  return all;
}

}  // namespace rope::mutants
