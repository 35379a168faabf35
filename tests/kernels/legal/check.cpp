// Whether a call keeps to the claims.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "reference/axis_orders.hpp"
#include "tests/kernels/legal/claims.hpp"
#include "tests/kernels/legal/element.hpp"

namespace rope::legal {
namespace {

bool in_mask(std::uint32_t mask, std::int32_t bit) { return bit >= 0 && bit < 32 && (mask >> bit & 1u) != 0; }

bool makes_sense(const rope_call& call) {
  const auto is_tensor = [](const rope_tensor& t) { return t.data != nullptr && in_mask(0xfu, t.dtype); };
  if (!is_tensor(call.q) || !is_tensor(call.q_out)) return false;
  if (call.k.data != nullptr && (!is_tensor(call.k) || !is_tensor(call.k_out))) return false;
  if (call.rotary_dim < 2 || call.rotary_dim % 2 != 0 || call.rotary_dim > call.q.shape[3]) return false;
  if (call.angle_source == ROPE_FREQUENCIES) return call.theta != nullptr;
  if (call.angle_source != ROPE_TABLES) return true;
  const rope_table& table = call.table;
  return table.cos != nullptr && table.sin != nullptr &&
         (table.width == call.rotary_dim || table.width == call.rotary_dim / 2);
}

bool is_contiguous(const rope_tensor& t) {
  std::int64_t expected = 1;
  for (int axis = 3; axis >= 0; --axis) {
    if (t.shape[axis] != 1 && t.strides[axis] != expected) return false;
    expected *= t.shape[axis];
  }
  return true;
}

bool takes_any_strides(const rope_tensor& t) {
  for (int axis = 0; axis < 4; ++axis) {
    if (t.shape[axis] > 1 && (t.strides[axis] < 0 || (axis == 3 && t.strides[axis] != 1))) return true;
  }
  return false;
}

// Whether the rows of positions and tables follow each other without gaps.
bool angles_are_contiguous(const rope_call& call) {
  const rope_positions& p = call.positions;
  const std::int64_t batch = call.q.shape[0], seq = call.q.shape[1];
  if (call.angle_source == ROPE_TABLES && call.table.rows > 1 && call.table.row_stride != call.table.width)
    return false;
  if (p.data == nullptr) return true;
  if (seq > 1 && p.seq_stride != 1) return false;
  if (batch > 1 && p.batch_stride != 0 && p.batch_stride != seq) return false;
  return p.axes == 1 || p.axis_stride == (p.batch_stride == 0 ? 1 : batch) * seq;
}

bool halves_are_equal(const rope_call& call) {
  if (call.angle_source != ROPE_TABLES || call.table.width != call.rotary_dim) return true;
  const std::int64_t size = size_of(call.table.dtype);
  for (std::int64_t row = 0; row < call.table.rows; ++row) {
    for (int p = 0; p < call.rotary_dim / 2; ++p) {
      const bool split = call.pairing == ROPE_HALF_SPLIT;
      const std::int64_t first = row * call.table.row_stride + (split ? p : 2 * p);
      const std::int64_t second = first + (split ? call.rotary_dim / 2 : 1);
      for (const void* table : {call.table.cos, call.table.sin}) {
        const auto* bytes = static_cast<const std::byte*>(table);
        if (std::memcmp(bytes + first * size, bytes + second * size, static_cast<std::size_t>(size)) != 0) return false;
      }
    }
  }
  return true;
}

// The layout of a tensor whose token has so many heads, of which the tensor has some.
bool is_laid_out(const rope_tensor& t, rope_layout layout, std::int64_t heads) {
  const std::int64_t dim = t.shape[3], seq = t.shape[1];
  const bool first = layout == ROPE_LAYOUT_HEADS_FIRST;
  const std::int64_t expected[] = {seq * heads * dim, first ? dim : heads * dim, first ? seq * dim : dim, 1};
  for (int axis = 0; axis < 4; ++axis) {
    if (t.shape[axis] > 1 && t.strides[axis] != expected[axis]) return false;
  }
  return true;
}

bool has_layout(const rope_tensor& q, const rope_tensor& k, rope_layout layout) {
  const bool key = k.data != nullptr;
  if (layout != ROPE_LAYOUT_PACKED) {
    return is_laid_out(q, layout, q.shape[2]) && (!key || is_laid_out(k, layout, k.shape[2]));
  }
  const std::int64_t heads = q.shape[2] + 2 * k.shape[2];
  if (!key || !is_laid_out(q, layout, heads) || !is_laid_out(k, layout, heads)) return false;
  const std::int64_t tokens = q.shape[0] * q.shape[1], before_k = q.shape[2] * q.shape[3] * size_of(q.dtype);
  return tokens * before_k == 0 || k.data == static_cast<std::byte*>(q.data) + before_k;
}

bool layout_is_claimed(const rope_call& call, std::uint32_t layouts) {
  if (layouts == 0) return true;
  for (const rope_layout layout : {ROPE_LAYOUT_CONTIGUOUS, ROPE_LAYOUT_HEADS_FIRST, ROPE_LAYOUT_PACKED}) {
    if (in_mask(layouts, layout) && has_layout(call.q, call.k, layout) && has_layout(call.q_out, call.k_out, layout)) {
      return true;
    }
  }
  return false;
}

bool axes_are_claimed(const rope_call& call, const rope_capabilities& claims) {
  const int axes = call.positions.axes;
  if (call.positions.data == nullptr) return true;
  if (claims.axis_counts != 0 && !in_mask(claims.axis_counts, axes)) return false;
  if (call.axis == nullptr || claims.axis_orders == 0) return true;
  std::vector<int> sections(static_cast<std::size_t>(axes), 0), axis(call.axis, call.axis + call.rotary_dim / 2);
  for (const int a : axis) ++sections[static_cast<std::size_t>(a)];
  return std::ranges::any_of(axis_orders(), [&](const AxisOrder& each) {
    return in_mask(claims.axis_orders, static_cast<int>(each.order)) && each.axis_of_pairs(sections) == axis;
  });
}

// What the rule itself gives, as models write it.
double own_factor(const rope_call& call) {
  const rope_scaling& rule = call.scaling;
  const double factor = rule.factor, length = rule.original_max_position;
  if (rule.kind == ROPE_SCALING_YARN) return factor <= 1 ? 1 : 0.1 * std::log(factor) + 1;
  if (rule.kind != ROPE_SCALING_LONGROPE) return 1;
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(length));
}

std::int64_t largest_position(const rope_call& call) {
  std::int64_t largest = 0;
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      for (int axis = 0; axis < (call.positions.data == nullptr ? 1 : call.positions.axes); ++axis) {
        largest = std::max(largest, position_of(call, axis, b, s));
      }
    }
  }
  return largest;
}

bool rule_is_claimed(const rope_call& call, const rope_capabilities& claims) {
  const rope_scaling& rule = call.scaling;
  if (call.angle_source != ROPE_COMPUTED) return true;
  const auto has = [](std::uint32_t mask, std::int32_t value) { return mask == 0 || in_mask(mask, value); };
  if (rule.kind == ROPE_SCALING_YARN && !has(claims.yarn_truncate, rule.yarn_truncate)) return false;
  if (rule.kind == ROPE_SCALING_YARN && !has(claims.yarn_clamp_pairs, rule.yarn_clamp_pairs)) return false;
  const bool follows_length = rule.kind == ROPE_SCALING_DYNAMIC || rule.kind == ROPE_SCALING_LONGROPE;
  const bool own_length = claims.length_of_call != 0 && follows_length;
  if (own_length && call.sequence_length != largest_position(call) + 1) return false;
  return claims.own_attention_factor == 0 || std::fabs(call.attention_factor - own_factor(call)) < 1e-14;
}

std::uint32_t features_of(const rope_call& call) {
  const bool key = call.k.data != nullptr;
  const bool given = call.positions.data != nullptr;
  const auto any_tensor = [&](auto&& is) {
    return is(call.q) || is(call.q_out) || (key && (is(call.k) || is(call.k_out)));
  };
  const bool strided =
      any_tensor([](const rope_tensor& t) { return !is_contiguous(t); }) || !angles_are_contiguous(call);
  std::uint32_t features = 0;
  const auto add = [&](bool needed, rope_feature feature) { features |= needed ? ROPE_BIT(feature) : 0u; };
  add(call.rotary_dim < call.q.shape[3], ROPE_FEATURE_PARTIAL);
  add(given, ROPE_FEATURE_POSITIONS);
  add(given && call.positions.batch_stride != 0 && call.q.shape[0] > 1, ROPE_FEATURE_BATCH_POSITIONS);
  add(call.q.data == call.q_out.data, ROPE_FEATURE_IN_PLACE);
  add(strided, ROPE_FEATURE_STRIDED);
  add(key, ROPE_FEATURE_KEY);
  add(key && call.k.shape[2] != call.q.shape[2], ROPE_FEATURE_GROUPED_HEADS);
  add(call.direction == ROPE_BACKWARD, ROPE_FEATURE_BACKWARD);
  add(given && call.positions.axes > 1, ROPE_FEATURE_AXES);
  add(call.attention_factor != 1, ROPE_FEATURE_ATTENTION_FACTOR);
  add(!given && call.positions.offset != 0, ROPE_FEATURE_OFFSET);
  add(any_tensor(takes_any_strides), ROPE_FEATURE_ANY_STRIDES);
  return features;
}

bool types_are_claimed(const rope_call& call, const rope_capabilities& claims) {
  if (!in_mask(claims.out_dtypes[call.q.dtype], call.q_out.dtype)) return false;
  if (!in_mask(claims.pairings, call.pairing) || !in_mask(claims.angle_sources, call.angle_source)) return false;
  if (call.positions.data != nullptr && !in_mask(claims.position_dtypes, call.positions.dtype)) return false;
  switch (call.angle_source) {
    case ROPE_TABLES:
      return in_mask(claims.table_dtypes, call.table.dtype) &&
             (call.table.width == call.rotary_dim ? claims.full_tables : claims.half_tables) != 0;
    case ROPE_FREQUENCIES: return in_mask(claims.theta_dtypes, call.theta_dtype);
    default: return in_mask(claims.scalings, call.scaling.kind);
  }
}

bool is_aligned(const rope_call& call, std::uint32_t alignment) {
  const auto fits = [&](const void* data) {
    return alignment < 2 || reinterpret_cast<std::uintptr_t>(data) % alignment == 0;
  };
  return fits(call.q.data) && fits(call.q_out.data) && fits(call.k.data) && fits(call.k_out.data) &&
         fits(call.table.cos) && fits(call.table.sin) && fits(call.theta) && fits(call.positions.data);
}

// ROPE_INVALID_ARGUMENT for a position below 0 or outside the table, ROPE_UNSUPPORTED above the largest claimed one.
rope_status positions_status(const rope_call& call, const rope_capabilities& claims) {
  for (std::int64_t b = 0; b < call.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < call.q.shape[1]; ++s) {
      for (int axis = 0; axis < (call.positions.data == nullptr ? 1 : call.positions.axes); ++axis) {
        const std::int64_t position = position_of(call, axis, b, s);
        if (position < 0) return ROPE_INVALID_ARGUMENT;
        if (call.angle_source == ROPE_TABLES && position >= call.table.rows) return ROPE_INVALID_ARGUMENT;
        if (position > claims.max_position) return ROPE_UNSUPPORTED;
      }
    }
  }
  return ROPE_OK;
}

}  // namespace

std::int64_t position_of(const rope_call& call, int axis, std::int64_t batch, std::int64_t seq) {
  const rope_positions& p = call.positions;
  if (p.data == nullptr) return p.offset + seq;
  const std::int64_t element = axis * p.axis_stride + batch * p.batch_stride + seq * p.seq_stride;
  const auto* data = static_cast<const std::byte*>(p.data);
  return p.dtype == ROPE_I32 ? read<std::int32_t>(data + 4 * element) : read<std::int64_t>(data + 8 * element);
}

rope_status check(const rope_call* call, const rope_capabilities& claims) {
  if (call == nullptr || call->struct_size < sizeof(rope_call) || !makes_sense(*call)) return ROPE_INVALID_ARGUMENT;
  if (call->abi != ROPE_KERNEL_ABI || call->device != ROPE_CPU) return ROPE_UNSUPPORTED;
  // Other claims say these in place of the feature.
  std::uint32_t said = claims.layouts != 0 && angles_are_contiguous(*call) ? ROPE_BIT(ROPE_FEATURE_STRIDED) : 0u;
  if (claims.own_attention_factor != 0 && call->angle_source == ROPE_COMPUTED) {
    said |= ROPE_BIT(ROPE_FEATURE_ATTENTION_FACTOR);
  }
  const std::uint32_t features = features_of(*call);
  if (!types_are_claimed(*call, claims) || (features & ~said & ~claims.features) != 0) return ROPE_UNSUPPORTED;
  if ((claims.required_features & ~features) != 0 || !layout_is_claimed(*call, claims.layouts) ||
      !axes_are_claimed(*call, claims) || !rule_is_claimed(*call, claims)) {
    return ROPE_UNSUPPORTED;
  }
  if (!in_mask(claims.features, ROPE_FEATURE_UNEQUAL_HALVES) && !halves_are_equal(*call)) return ROPE_UNSUPPORTED;
  const auto* last = claims.head_dims + claims.head_dim_count;
  if (claims.head_dims != nullptr && std::find(claims.head_dims, last, call->q.shape[3]) == last) {
    return ROPE_UNSUPPORTED;
  }
  if (!is_aligned(*call, claims.alignment)) return ROPE_UNSUPPORTED;
  return positions_status(*call, claims);
}

rope_status check_or_abort(const rope_call* call, const rope_capabilities& claims) {
  const rope_status status = check(call, claims);
  if (status == ROPE_UNSUPPORTED) std::abort();
  return status;
}

}  // namespace rope::legal
