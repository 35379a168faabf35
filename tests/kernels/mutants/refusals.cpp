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

struct WideOffset : Mended {
  void excused(rope_call& c) const override {
    const auto last = static_cast<std::int32_t>(c.q.shape[3]) - c.rotary_dim;
    if (c.rotary_offset > last) c.rotary_offset = std::max(last, 0) / 2 * 2;
  }
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

struct SignOfPositionIgnored : Kernel {
  std::int64_t position(const Place& at, int axis) const override { return std::abs(Kernel::position(at, axis)); }
};

struct KeyLengthNotChecked : NotChecked {
  void excused(rope_call& c) const override {
    c.k.shape[1] = c.q.shape[1];
    c.k_out.shape[1] = c.q.shape[1];
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
      mutant<WideOffset>("ERR-WIDE-OFFSET", "bad-arguments", "rotary_offset beyond the head taken for its end"),
      mutant<WideRotaryDim>("ERR-WIDE-ROTARY", "bad-arguments", "rotary_dim beyond head_dim taken for head_dim"),
      mutant<RotaryDimFromTheTable>("MEM-11", "strides-memory-race",
                                    "tables of another width: rotary_dim from them, beyond the head"),
      mutant<SineNotChecked>("TAB-05", "table-cache", "cos is checked, sin is not: NULL is read"),
      mutant<OtherAxesNotChecked>("ERR-ROWS-FIRST-AXIS", "bad-arguments",
                                  "only the first axis's positions are compared with the table's rows"),
      mutant<StartsNotChecked>("ERR-STARTS", "bad-arguments",
                               "starts of batches are not compared with the table's rows"),
      mutant<SignOfPositionIgnored>("ERR-SIGN", "bad-arguments", "a negative position turns as if it were positive"),
      mutant<KeyLengthNotChecked>("ERR-KEY-LENGTH", "bad-arguments", "tokens of k not compared with q's tokens"),
      mutant<OtherSources>("ERR-SOURCE", "bad-arguments", "any other angle source is computed"),
  };
  return all;
}

}  // namespace rope::mutants
