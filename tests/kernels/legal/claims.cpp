#include "tests/kernels/legal/claims.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>

#include "tests/kernels/legal/element.hpp"

namespace rope::legal {

rope_capabilities everything() {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F64] = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
  claims.out_dtypes[ROPE_F16] = ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16) | ROPE_BIT(ROPE_F32);
  claims.table_dtypes = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32) | ROPE_BIT(ROPE_F16) | ROPE_BIT(ROPE_BF16);
  claims.theta_dtypes = ROPE_BIT(ROPE_F64) | ROPE_BIT(ROPE_F32);
  claims.position_dtypes = ROPE_BIT(ROPE_I32) | ROPE_BIT(ROPE_I64);
  claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES) | ROPE_BIT(ROPE_FREQUENCIES) | ROPE_BIT(ROPE_COMPUTED);
  claims.half_tables = 1;
  claims.full_tables = 1;
  claims.scalings = ROPE_BIT(ROPE_SCALING_CONSTANT + 1) - 1;
  claims.features = (ROPE_BIT(ROPE_FEATURE_OFFSET + 1) - 1) | ROPE_BIT(ROPE_FEATURE_ANY_STRIDES);
  claims.alignment = 1;
  claims.max_position = std::int64_t{1} << 31;
  claims.device = ROPE_CPU;
  return claims;
}

rope_capabilities up_to_2_24() {
  rope_capabilities claims = everything();
  claims.max_position = std::int64_t{1} << 24;
  return claims;
}

rope_capabilities equal_halves() {
  rope_capabilities claims = everything();
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_UNEQUAL_HALVES);
  return claims;
}

namespace {

void take_only(rope_capabilities& claims, std::initializer_list<rope_dtype> inputs) {
  for (int dtype = 0; dtype < 4; ++dtype) {
    if (std::find(inputs.begin(), inputs.end(), dtype) == inputs.end()) claims.out_dtypes[dtype] = 0;
  }
}

}  // namespace

rope_capabilities f64_from_f32() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_F64});
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  return claims;
}

rope_capabilities f32_tables() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_F32});
  claims.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.table_dtypes = ROPE_BIT(ROPE_F32);
  claims.full_tables = 0;
  claims.theta_dtypes = claims.position_dtypes = claims.scalings = claims.features = 0;
  return claims;
}

rope_capabilities bf16_in_place() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_BF16});
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  claims.features = ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_POSITIONS) |
                    ROPE_BIT(ROPE_FEATURE_BATCH_POSITIONS) | ROPE_BIT(ROPE_FEATURE_KEY) |
                    ROPE_BIT(ROPE_FEATURE_GROUPED_HEADS) | ROPE_BIT(ROPE_FEATURE_PARTIAL);
  return claims;
}

rope_capabilities head_dim_128() {
  static constexpr std::int32_t head_dims[] = {128};
  rope_capabilities claims = everything();
  claims.head_dims = head_dims;
  claims.head_dim_count = 1;
  return claims;
}

rope_capabilities aligned_to_64() {
  rope_capabilities claims = everything();
  claims.alignment = 64;
  return claims;
}

rope_capabilities no_offset() {
  rope_capabilities claims = everything();
  claims.features &= ~ROPE_BIT(ROPE_FEATURE_OFFSET);
  return claims;
}

rope_capabilities up_to_4095() {
  rope_capabilities claims = everything();
  claims.max_position = 4095;
  return claims;
}

rope_capabilities up_to_127() {
  rope_capabilities claims = everything();
  claims.max_position = 127;
  return claims;
}

rope_capabilities bf16_to_f32() {
  rope_capabilities claims = everything();
  take_only(claims, {ROPE_BF16});
  claims.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_F32);
  return claims;
}

rope_capabilities computed_alone() {
  rope_capabilities claims = everything();
  claims.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  claims.table_dtypes = claims.theta_dtypes = claims.half_tables = claims.full_tables = 0;
  return claims;
}

rope_capabilities i32_positions() {
  rope_capabilities claims = everything();
  claims.position_dtypes = ROPE_BIT(ROPE_I32);
  claims.max_position = (std::int64_t{1} << 31) - 1;
  return claims;
}

rope_capabilities full_tables() {
  rope_capabilities claims = everything();
  claims.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.half_tables = claims.theta_dtypes = claims.scalings = 0;
  return claims;
}

rope_capabilities periods() {
  rope_capabilities claims = up_to_2_24();
  claims.angle_sources = ROPE_BIT(ROPE_FREQUENCIES);
  claims.table_dtypes = claims.half_tables = claims.full_tables = claims.scalings = 0;
  claims.theta_as_period = 1;
  return claims;
}

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
  if (!types_are_claimed(*call, claims) || (features_of(*call) & ~claims.features) != 0) return ROPE_UNSUPPORTED;
  if (!in_mask(claims.features, ROPE_FEATURE_UNEQUAL_HALVES) && !halves_are_equal(*call)) return ROPE_UNSUPPORTED;
  const auto* last = claims.head_dims + claims.head_dim_count;
  if (claims.head_dims != nullptr && std::find(claims.head_dims, last, call->q.shape[3]) == last) {
    return ROPE_UNSUPPORTED;
  }
  if (!is_aligned(*call, claims.alignment)) return ROPE_UNSUPPORTED;
  return positions_status(*call, claims);
}

}  // namespace rope::legal
