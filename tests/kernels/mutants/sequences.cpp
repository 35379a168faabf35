// Where a sequence starts: seqlen_offsets and cu_seqlens.
#include <algorithm>
#include <cstdint>

#include "impls/position.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

// The right position, less the sequence's start and plus another one's.
class OtherStart : public Kernel {
 protected:
  virtual std::int64_t other(const rope_call& call, std::int64_t sequence) const = 0;

 public:
  std::int64_t position(const Place& at, int axis) const override {
    const rope_call& c = at.call;
    const std::int64_t right = Kernel::position(at, axis);
    if (c.seqlen_offsets == nullptr) return right;
    const std::int64_t sequence = c.cu_seqlens == nullptr ? at.batch : packed_sequence_of(c, at.seq);
    const auto start = [&](std::int64_t i) { return integer_at(c.seqlen_offsets, c.seqlen_offsets_dtype, i); };
    return right - start(sequence) + start(other(c, sequence));
  }
};

// A search that finds the first of several borders that are equal.
struct StartOfTheEmptyOneBefore : OtherStart {
  std::int64_t other(const rope_call& call, std::int64_t sequence) const override {
    while (call.cu_seqlens != nullptr && sequence > 0 && call.cu_seqlens[sequence - 1] == call.cu_seqlens[sequence]) {
      --sequence;
    }
    return sequence;
  }
};

// Angles are made again where a sequence starts elsewhere than the first one, though others came between.
struct AnglesKeptForTheFirstStart : OtherStart {
  std::int64_t other(const rope_call& call, std::int64_t sequence) const override {
    const auto start = [&](std::int64_t i) { return integer_at(call.seqlen_offsets, call.seqlen_offsets_dtype, i); };
    return sequence > 0 && start(sequence) == start(0) ? sequence - 1 : sequence;
  }
};

// The threads of a warp each look at one border.
struct BordersOfOneWarp : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    rope_call c = at.call;
    if (c.cu_seqlens != nullptr) c.sequences = std::min(c.sequences, 32);
    return position_of(c, axis, at.batch, at.seq);
  }
};

}  // namespace

Mutants sequence_mutants() {
  static const Mutant all[] = {
      mutant<StartOfTheEmptyOneBefore>("VAR-EMPTY-BEFORE", "varlen-packing-cp",
                                       "seqlen_offsets of an empty sequence before the token's own"),
      mutant<BordersOfOneWarp>("VAR-32-BORDERS", "varlen-packing-cp", "only the first 32 borders of cu_seqlens"),
      mutant<AnglesKeptForTheFirstStart>("VAR-KEPT-START", "varlen-packing-cp",
                                         "angles of the sequence before kept where seqlen_offsets is the first again"),
  };
  return all;
}

}  // namespace rope::mutants
