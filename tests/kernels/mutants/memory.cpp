// Where elements are read and written. Some of these access memory outside their buffers: run them in a worker.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct GapsFilledWithZeros : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, value);
    const bool gap = at.out().strides[2] > at.out().shape[3];
    if (gap && feature + 1 == at.out().shape[3]) Kernel::store(at, feature + 1, 0);
  }
};

class CopyArrivesLate : public Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (pair.first == 0) late_ = ++heads_ % 29 == 0 && !at.in_place();
    late_ ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
  mutable std::atomic<std::uint64_t> heads_ = 0;
  mutable std::atomic<bool> late_ = false;
};

struct IndexInThirtyTwoBits : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    return static_cast<std::int32_t>(Kernel::element(at, tensor, feature));
  }
};

struct InputAsScratch : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values y = turned(values(at, pair), pair, row);
    const auto dtype = static_cast<DType>(at.in().dtype);
    rope::store(dtype, address(at.in(), element(at, at.in(), pair.first)), y.first);
    rope::store(dtype, address(at.in(), element(at, at.in(), pair.second)), y.second);
    pass(at, pair.first);
    pass(at, pair.second);
  }
};

// What does not turn is copied as one piece if it is one in the input.
struct TailCopiedAsOnePiece : Kernel {
  void pass(const Place& at, int feature) const override {
    if (at.in().strides[3] != 1 || at.in().dtype != at.out().dtype) return Kernel::pass(at, feature);
    const int rotary = at.call.rotary_dim;
    std::memmove(address(at.out(), element(at, at.out(), rotary) + feature - rotary),
                 address(at.in(), element(at, at.in(), feature)), size_of(static_cast<DType>(at.in().dtype)));
  }
};

}  // namespace

Mutants memory_mutants() {
  static const Mutant all[] = {
      mutant<CopyArrivesLate>("MEM-05", "strides-memory-race",
                              "out of place: the copy of x arrives after the rotated values, in 1 head of 29"),
      mutant<IndexInThirtyTwoBits>("MEM-09", "strides-memory-race", "element index wraps at 2^31"),
      mutant<InputAsScratch>("MEM-INPUT-WRITTEN", "strides-memory-race", "writes to its inputs"),
      mutant<TailCopiedAsOnePiece>("MEM-OUT-FEATURES", "strides-memory-race",
                                   "pass-through copied as one piece if the input's features are adjacent"),
      mutant<GapsFilledWithZeros>("MEM-GAPS", "strides-memory-race", "writes a zero into the gap behind each row"),
  };
  return all;
}

}  // namespace rope::mutants
