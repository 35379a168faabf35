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

// Stores four features at a time: features behind the head become zero until the next head overwrites them.
struct LastVectorTooWide : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, value);
    const auto head_dim = static_cast<int>(at.out().shape[3]);
    if (feature + 1 != head_dim) return;
    for (int behind = head_dim; behind % 4 != 0; ++behind) Kernel::store(at, behind, 0);
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
      mutant<LastVectorTooWide>("MEM-LAST-VECTOR", "strides-memory-race",
                                "head_dim no multiple of four: zeros written behind each head"),
      mutant<BoundaryOneLate>("VAR-BOUNDARY", "varlen-packing-cp",
                              "first token of a packed sequence counted on from the one before"),
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
