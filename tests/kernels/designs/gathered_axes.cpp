// A serving engine's operator for positions on several axes. It gathers the columns of a token's cos and sin from the
// rows of their axes, then turns q and k.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_axis_by_axis,
  axis_zero_for_all,
  three_axes_half_split,
  columns_shifted,
  tokens_counted_over_axes,
  decode_at_length,
};

std::int32_t axis_of(const rope_call& call, std::int64_t pair) { return call.axis == nullptr ? 0 : call.axis[pair]; }

std::int32_t axes_given(const rope_call& call) { return call.positions.data == nullptr ? 1 : call.positions.axes; }

// Whether every pair p follows axis 0 or axis p % 3, and not all follow axis 0.
bool every_third(const rope_call& call) {
  bool any = false;
  for (std::int64_t pair = 0; pair < call.rotary_dim / 2; ++pair) {
    if (axis_of(call, pair) != 0 && axis_of(call, pair) != pair % 3) return false;
    any = any || axis_of(call, pair) != 0;
  }
  return any;
}

template <Bug bug, class T, class Table>
class Tokens {
 public:
  explicit Tokens(const rope_call& call)
      : call_(call), half_(call.rotary_dim / 2), cos_(static_cast<std::size_t>(half_)), sin_(cos_.size()) {}

  void rotate() {
    const std::int64_t batches = call_.q.shape[0];
    const std::int64_t tokens = call_.q.shape[1];
    const std::int64_t times = bug == Bug::tokens_counted_over_axes ? axes_given(call_) : 1;
    for (std::int64_t token = 0; token < times * batches * tokens; ++token) {
      gather(token / tokens % batches, token % tokens);
      turn(query(call_), token);
      if (call_.k.data != nullptr) turn(key(call_), token);
    }
  }

 private:
  void gather(std::int64_t b, std::int64_t s) {
    if constexpr (bug == Bug::none_axis_by_axis) {
      std::int32_t last = 0;
      for (std::int64_t pair = 0; pair < half_; ++pair) last = std::max(last, axis_of(call_, pair));
      for (std::int32_t axis = last; axis >= 0; --axis) {
        for (std::int64_t pair = 0; pair < half_; ++pair) {
          if (axis_of(call_, pair) == axis) take(b, s, pair, pair);
        }
      }
      return;
    }
    const bool shifted = bug == Bug::columns_shifted && every_third(call_);
    for (std::int64_t pair = 0; pair < half_; ++pair) {
      take(b, s, pair, shifted && axis_of(call_, pair) != 0 ? next_of_its_axis(pair) : pair);
    }
  }

  std::int64_t next_of_its_axis(std::int64_t pair) const {
    const bool last = pair + 3 >= half_ || axis_of(call_, pair + 3) != axis_of(call_, pair);
    return last ? axis_of(call_, pair) : pair + 3;
  }

  void take(std::int64_t b, std::int64_t s, std::int64_t pair, std::int64_t column) {
    const std::int64_t at = position(b, s, axis_of(call_, pair)) * call_.table.row_stride + column;
    cos_[static_cast<std::size_t>(pair)] = static_cast<const Table*>(call_.table.cos)[at];
    sin_[static_cast<std::size_t>(pair)] = static_cast<const Table*>(call_.table.sin)[at];
  }

  std::int64_t position(std::int64_t b, std::int64_t s, std::int64_t axis) const {
    if (bug == Bug::decode_at_length && call_.q.shape[1] == 1 && axes_given(call_) > 1) {
      return call_.sequence_length - 1;
    }
    if (call_.positions.data == nullptr) return position_of(call_.positions, b, s);
    return given_position(call_.positions, bug == Bug::axis_zero_for_all ? 0 : axis, b, s);
  }

  void turn(const Operand& operand, std::int64_t token) const {
    const bool half_split = bug == Bug::three_axes_half_split && axes_given(call_) == 3;
    for (std::int64_t h = 0; h < operand.heads(); ++h) {
      const std::int64_t begin = (token * operand.heads() + h) * operand.head_dim();
      const T* x = static_cast<const T*>(operand.in.data) + begin;
      T* y = static_cast<T*>(operand.out.data) + begin;
      for (std::int64_t pair = 0; pair < half_; ++pair) {
        const auto column = static_cast<std::size_t>(pair);
        const Pair at = half_split ? Pair{pair, pair + half_} : pair_at(call_, pair);
        turn_pair(x, y, at, widen(cos_[column]), widen(sin_[column]));
      }
      copy_rest(call_, x, y);
    }
  }

  const rope_call& call_;
  const std::int64_t half_;
  std::vector<Table> cos_;
  std::vector<Table> sin_;
};

template <Bug bug>
void rotate(const rope_call& call) {
  with_element<float, Bfloat16>(call.q.dtype, [&]<class T>(T) {
    with_element<float, Bfloat16>(call.table.dtype, [&]<class Table>(Table) { Tokens<bug, T, Table>(call).rotate(); });
  });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_BF16);
  all.table_dtypes = mask(ROPE_F32, ROPE_BF16);
  all.position_dtypes = mask(ROPE_I64);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_TABLES);
  all.half_tables = 1;
  all.features = usual | with_positions | with_key | mask(ROPE_FEATURE_AXES, ROPE_FEATURE_IN_PLACE);
  all.max_position = INT32_MAX;
  return all;
}();

template <Bug bug>
constexpr rope_kernel gathered_axes(const char* name) {
  return kernel(name, "cos and sin gathered from the rows of their axes", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    gathered_axes<Bug::none>("gathered_axes"),
    gathered_axes<Bug::none_axis_by_axis>("gathered_axes-axis-by-axis"),
    gathered_axes<Bug::axis_zero_for_all>("gathered_axes/axis-zero-for-all"),
    gathered_axes<Bug::three_axes_half_split>("gathered_axes/three-axes-half-split"),
    gathered_axes<Bug::columns_shifted>("gathered_axes/columns-shifted"),
    gathered_axes<Bug::tokens_counted_over_axes>("gathered_axes/tokens-counted-over-axes"),
    gathered_axes<Bug::decode_at_length>("gathered_axes/decode-at-length"),
};

}  // namespace

Kernels gathered_axes_kernels() { return kernels; }

}  // namespace rope::designs::reported
