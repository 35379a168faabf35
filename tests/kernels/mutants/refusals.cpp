// Wrong calls that are not refused. Each mutant treats the call as another one that is right. Some then access memory
// outside their buffers, as the real kernels did: run them in a worker.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

bool is_readable(const rope_call* call) { return call != nullptr && call->struct_size >= sizeof(rope_call); }

// Checks the call as `excused` changes it, and carries out the call as given.
struct NotChecked : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call)) return Kernel::check(call);
    rope_call c = *call;
    excused(c);
    return Kernel::check(&c);
  }
  virtual void excused(rope_call& c) const = 0;
};

// Also carries out the call as `excused` changes it.
struct Mended : NotChecked {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    excused(c);
    return c;
  }
};

struct OddRotaryDim : Mended {
  void excused(rope_call& c) const override { c.rotary_dim += c.rotary_dim % 2; }
};

struct WideRotaryDim : Mended {
  void excused(rope_call& c) const override {
    const std::int64_t whole = c.q.shape[3] / 2 * 2;
    if (c.rotary_dim > c.q.shape[3]) c.rotary_dim = static_cast<std::int32_t>(whole);
  }
};

struct NegativeRotaryDim : Mended {
  void excused(rope_call& c) const override { c.rotary_dim = std::abs(c.rotary_dim); }
};

struct RotaryDimFromTheTable : Kernel {
  rope_status check(const rope_call* call) const override {
    if (!is_readable(call) || call->angle_source != ROPE_TABLES) return Kernel::check(call);
    rope_call c = *call;
    c.table.width = c.rotary_dim;
    return Kernel::check(&c);
  }
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const bool asked_for = call.table.width == call.rotary_dim || call.table.width == call.rotary_dim / 2;
    if (call.angle_source == ROPE_TABLES && !asked_for) c.rotary_dim = 2 * call.table.width;
    return c;
  }
};

struct SineNotChecked : NotChecked {
  void excused(rope_call& c) const override { c.table.sin = c.table.cos; }
};

struct NullIsNothing : Mended {
  void excused(rope_call& c) const override {
    if (c.q.data != nullptr && c.q_out.data != nullptr) return;
    c.q.shape[0] = c.q_out.shape[0] = c.k.shape[0] = c.k_out.shape[0] = 0;
  }
};

struct ThetaByDefault : Mended {
  void excused(rope_call& c) const override {
    if (c.angle_source != ROPE_FREQUENCIES || c.theta != nullptr) return;
    c.angle_source = ROPE_COMPUTED;
    c.base = 10000;
  }
};

struct RowsNotCounted : NotChecked {
  void excused(rope_call& c) const override { c.table.rows = std::numeric_limits<std::int64_t>::max(); }
};

struct RowsBetweenNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    const std::int64_t tokens = c.q.shape[1];
    if (c.positions.data == nullptr || tokens < 3) return;
    c.positions.seq_stride *= tokens - 1;  // from the first to the last
    for (rope_tensor* tensor : {&c.q, &c.k, &c.q_out, &c.k_out}) {
      tensor->shape[1] = std::min<std::int64_t>(tensor->shape[1], 2);
    }
  }
};

struct OtherBatchesNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    for (rope_tensor* tensor : {&c.q, &c.k, &c.q_out, &c.k_out}) {
      tensor->shape[0] = std::min<std::int64_t>(tensor->shape[0], 1);
    }
  }
};

struct OtherAxesNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    c.positions.axes = 1;
    c.axis = nullptr;
  }
};

struct StartsNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    if (c.cu_seqlens == nullptr) c.seqlen_offsets = nullptr;
  }
};

struct NegativeOffset : NotChecked {
  void excused(rope_call& c) const override { c.positions.offset = std::max<std::int64_t>(0, c.positions.offset); }
};

struct SignOfPositionIgnored : Kernel {
  std::int64_t position(const Place& at, int axis) const override { return std::abs(Kernel::position(at, axis)); }
};

struct IntegersAreFloats : Mended {
  void excused(rope_call& c) const override {
    for (rope_tensor* tensor : {&c.q, &c.k, &c.q_out, &c.k_out}) {
      if (tensor->dtype == ROPE_I32) tensor->dtype = ROPE_F32;
    }
  }
};

struct OutputShapeNotChecked : NotChecked {
  void excused(rope_call& c) const override { std::copy_n(c.q.shape, 4, c.q_out.shape); }
};

struct KeyLengthNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    c.k.shape[1] = c.q.shape[1];
    c.k_out.shape[1] = c.q.shape[1];
  }
};

struct OtherPairings : Mended {
  void excused(rope_call& c) const override {
    if (c.pairing != ROPE_HALF_SPLIT) c.pairing = ROPE_INTERLEAVED;
  }
};

struct OtherDirections : Mended {
  void excused(rope_call& c) const override {
    if (c.direction != ROPE_FORWARD) c.direction = ROPE_BACKWARD;
  }
};

struct OtherSources : Mended {
  void excused(rope_call& c) const override {
    if (c.angle_source < ROPE_TABLES || c.angle_source > ROPE_COMPUTED) c.angle_source = ROPE_COMPUTED;
  }
};

}  // namespace

Mutants refusal_mutants() {
  static const Mutant all[] = {
      mutant<OddRotaryDim>("FREQ-11", "frequency-base", "odd rotary_dim taken for the next even one"),
      mutant<WideRotaryDim>("ERR-WIDE-ROTARY", "bad-arguments", "rotary_dim beyond head_dim taken for head_dim"),
      mutant<NegativeRotaryDim>("ERR-NEGATIVE-ROTARY", "bad-arguments", "sign of rotary_dim ignored"),
      mutant<RotaryDimFromTheTable>("MEM-11", "strides-memory-race",
                                    "tables of another width: rotary_dim from them, beyond the head"),
      mutant<SineNotChecked>("TAB-05", "table-cache", "cos is checked, sin is not: NULL is read"),
      mutant<NullIsNothing>("ERR-NULL", "bad-arguments", "q or q_out NULL answered with ok, nothing is done"),
      mutant<ThetaByDefault>("ERR-THETA", "bad-arguments", "theta NULL: computed from base 10000"),
      mutant<RowsNotCounted>("ERR-ROWS", "bad-arguments", "positions past the tables get the last row"),
      mutant<RowsBetweenNotChecked>("ERR-ROWS-BETWEEN", "bad-arguments",
                                    "only the first and the last given position are compared with the table's rows"),
      mutant<OtherBatchesNotChecked>("ERR-ROWS-FIRST-BATCH", "bad-arguments",
                                     "only the first batch's positions are compared with the table's rows"),
      mutant<OtherAxesNotChecked>("ERR-ROWS-FIRST-AXIS", "bad-arguments",
                                  "only the first axis's positions are compared with the table's rows"),
      mutant<StartsNotChecked>("ERR-STARTS", "bad-arguments",
                               "starts of batches are not compared with the table's rows"),
      mutant<NegativeOffset>("ERR-NEGATIVE-OFFSET", "bad-arguments", "positions before the tables get the first row"),
      mutant<SignOfPositionIgnored>("ERR-SIGN", "bad-arguments", "a negative position turns as if it were positive"),
      mutant<IntegersAreFloats>("ERR-INTEGERS", "bad-arguments", "int32 tensors taken for f32"),
      mutant<OutputShapeNotChecked>("ERR-OUTPUT-SHAPE", "bad-arguments", "shape of q_out not compared with q's shape"),
      mutant<KeyLengthNotChecked>("ERR-KEY-LENGTH", "bad-arguments", "tokens of k not compared with q's tokens"),
      mutant<OtherPairings>("ERR-PAIRING", "bad-arguments", "any other pairing is interleaved"),
      mutant<OtherDirections>("ERR-DIRECTION", "bad-arguments", "any other direction is backward"),
      mutant<OtherSources>("ERR-SOURCE", "bad-arguments", "any other angle source is computed"),
  };
  return all;
}

}  // namespace rope::mutants
