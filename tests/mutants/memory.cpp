// Where elements are read and written. Some of these leave their buffers: run them in a worker.
#include <cstddef>
#include <cstdint>

#include "reference/dtype.hpp"
#include "tests/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct ReadAsContiguous : Kernel {
  std::int64_t element(const Place& at, const rope_tensor& tensor, int feature) const override {
    if (&tensor != &at.in()) return Kernel::element(at, tensor, feature);
    return ((at.batch * tensor.shape[1] + at.seq) * tensor.shape[2] + at.head) * tensor.shape[3] + feature;
  }
};

struct StoredBeforeBothAreLoaded : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    store(at, pair.first, turned(values(at, pair), pair, row).first);
    store(at, pair.second, turned(values(at, pair), pair, row).second);
  }
};

struct TableReadTooWide : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    if (at.call.angle_source == ROPE_TABLES) {
      const rope_table& table = at.call.table;
      const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(table.dtype)));
      const std::int64_t end = position(at, axis(at.call, 0)) * table.row_stride + table.width;
      const auto* bytes = static_cast<const volatile std::byte*>(table.sin);
      static_cast<void>(bytes[(end + 3) * size]);  // the lanes of the last vector load that lie behind the row
    }
    return Kernel::row(at, theta);
  }
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

struct OneElementFurther : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, value);
    if (feature + 1 != at.out().shape[3]) return;
    volatile std::byte* behind = address(at.out(), element(at, at.out(), feature) + 1);
    const std::byte kept = *behind;
    *behind = kept;
  }
};

struct GridOf65535 : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (at.seq < 65535) Kernel::store(at, feature, value);
  }
};

struct BlockOf1024 : Kernel {
  void store(const Place& at, int feature, double value) const override {
    if (feature < 1024) Kernel::store(at, feature, value);
  }
};

}  // namespace

Mutants memory_mutants() {
  static const Mutant all[] = {
      mutant<ReadAsContiguous>("MEM-01", "strides-memory-race", "input read as if it were contiguous"),
      mutant<StoredBeforeBothAreLoaded>("MEM-03", "strides-memory-race",
                                        "in place: b cos + a' sin with the a' that was just written"),
      mutant<TableReadTooWide>("MEM-07", "strides-memory-race", "reads four columns past the end of a table row"),
      mutant<IndexInThirtyTwoBits>("MEM-09", "strides-memory-race", "element index wraps at 2^31"),
      mutant<InputAsScratch>("MEM-INPUT-WRITTEN", "strides-memory-race", "writes to its inputs"),
      mutant<OneElementFurther>("MEM-ONE-PAST", "strides-memory-race", "writes one byte past the last feature"),
      mutant<GridOf65535>("LIM-01", "launch-limits", "tokens from 65535 on are not rotated nor written"),
      mutant<BlockOf1024>("LIM-03", "launch-limits", "features from 1024 on are not written"),
  };
  return all;
}

}  // namespace rope::mutants
