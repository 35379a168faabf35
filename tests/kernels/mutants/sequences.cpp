// Where a sequence starts: seqlen_offsets and cu_seqlens.
#include <algorithm>
#include <cstdint>

#include "impls/position.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct StartsIgnored : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.seqlen_offsets = nullptr;
    return c;
  }
};

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

struct FirstStartForAll : OtherStart {
  std::int64_t other(const rope_call&, std::int64_t) const override { return 0; }
};

struct StartOfTheNext : OtherStart {
  std::int64_t other(const rope_call& call, std::int64_t sequence) const override {
    return std::min<std::int64_t>(sequence + 1, call.sequences - 1);
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

struct StartsReadWide : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_call& c = at.call;
    // A start without another one behind it is read as it should be: the mutant is to show wrong values only.
    const bool is_followed = c.cu_seqlens == nullptr && 2 * at.batch + 1 < c.sequences;
    const bool is_narrow = c.seqlen_offsets != nullptr && c.seqlen_offsets_dtype == ROPE_I32;
    if (!is_followed || !is_narrow) return Kernel::position(at, axis);
    return integer_at(c.seqlen_offsets, ROPE_I64, at.batch) + at.seq;
  }
};

struct BordersIgnored : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    rope_call c = at.call;
    if (c.cu_seqlens != nullptr && c.seqlen_offsets != nullptr) {
      c.positions.offset = integer_at(c.seqlen_offsets, c.seqlen_offsets_dtype, 0);
      c.seqlen_offsets = nullptr;
    }
    c.cu_seqlens = nullptr;
    return position_of(c, axis, at.batch, at.seq);
  }
};

struct FirstTokenNotSubtracted : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_call& c = at.call;
    const std::int64_t right = Kernel::position(at, axis);
    return c.cu_seqlens == nullptr ? right : right + c.cu_seqlens[packed_sequence_of(c, at.seq)];
  }
};

struct FirstTokenToTheOneBefore : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_call& c = at.call;
    if (c.cu_seqlens == nullptr || at.seq == 0) return Kernel::position(at, axis);
    const bool is_first = c.cu_seqlens[packed_sequence_of(c, at.seq)] == at.seq;
    const Place before{c, at.key, at.batch, at.seq - 1, at.head};
    return is_first ? Kernel::position(before, axis) + 1 : Kernel::position(at, axis);
  }
};

// Angles are made again where a sequence starts elsewhere than the first one, though others came between.
struct AnglesKeptForTheFirstStart : OtherStart {
  std::int64_t other(const rope_call& call, std::int64_t sequence) const override {
    const auto start = [&](std::int64_t i) { return integer_at(call.seqlen_offsets, call.seqlen_offsets_dtype, i); };
    return sequence > 0 && start(sequence) == start(0) ? sequence - 1 : sequence;
  }
};

// The same, by a batch's first given position.
struct AnglesKeptForTheFirstPosition : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const auto begin = [&](std::int64_t batch) { return Kernel::position({at.call, at.key, batch, 0, at.head}, axis); };
    const bool is_kept = at.call.positions.data != nullptr && at.batch > 0 && begin(at.batch) == begin(0);
    return Kernel::position({at.call, at.key, is_kept ? at.batch - 1 : at.batch, at.seq, at.head}, axis);
  }
};

// 41 times 1/41 is below 1 in f32.
struct BatchByReciprocal : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t tokens = at.call.q.shape[1], number = at.batch * tokens + at.seq;
    const auto batch = static_cast<std::int64_t>(static_cast<float>(number) * (1.0F / static_cast<float>(tokens)));
    const std::int64_t right = Kernel::position(at, axis);
    // Given positions are read where they are: the mutant is to show wrong values only.
    return at.call.positions.data != nullptr || at.call.angle_source == ROPE_TABLES
               ? right
               : right + (at.batch - batch) * tokens;
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
      mutant<StartsIgnored>("VAR-STARTS-IGNORED", "varlen-packing-cp", "seqlen_offsets ignored"),
      mutant<FirstStartForAll>("VAR-FIRST-START", "varlen-packing-cp", "the first of seqlen_offsets for every sequence"),
      mutant<StartOfTheNext>("VAR-NEXT-START", "varlen-packing-cp", "seqlen_offsets of the next sequence"),
      mutant<StartsReadWide>("VAR-STARTS-WIDE", "varlen-packing-cp", "seqlen_offsets in i32 read as i64"),
      mutant<BordersIgnored>("VAR-BORDERS-IGNORED", "varlen-packing-cp", "cu_seqlens ignored: one sequence"),
      mutant<FirstTokenNotSubtracted>("VAR-GOES-ON", "varlen-packing-cp",
                                      "cu_seqlens not subtracted: positions go on from sequence to sequence"),
      mutant<FirstTokenToTheOneBefore>("VAR-BORDER-BEFORE", "varlen-packing-cp",
                                       "the first token of a packed sequence belongs to the one before"),
      mutant<StartOfTheEmptyOneBefore>("VAR-EMPTY-BEFORE", "varlen-packing-cp",
                                       "seqlen_offsets of an empty sequence before the token's own"),
      mutant<BordersOfOneWarp>("VAR-32-BORDERS", "varlen-packing-cp", "only the first 32 borders of cu_seqlens"),
      mutant<AnglesKeptForTheFirstStart>("VAR-KEPT-START", "varlen-packing-cp",
                                         "angles of the sequence before kept where seqlen_offsets is the first again"),
      mutant<AnglesKeptForTheFirstPosition>(
          "VAR-KEPT-POSITION", "varlen-packing-cp",
          "positions of the batch before kept where a batch begins at the first batch's"),
      mutant<BatchByReciprocal>("VAR-RECIPROCAL", "varlen-packing-cp", "a token's batch is its number * (1/tokens) in f32"),
  };
  return all;
}

}  // namespace rope::mutants
