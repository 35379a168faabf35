#include "impls/call_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>

#include "impls/contract.hpp"
#include "impls/scaling_fields.hpp"

namespace rope {
namespace {

// Why a call is refused. An exception carries it up to check_call, so that each check below is one line.
struct Refusal {
  rope_status status;
};

void expect(bool holds) {
  if (!holds) throw Refusal{ROPE_INVALID_ARGUMENT};
}

void expect_claimed(std::uint32_t mask, std::int32_t enumerator) {
  if ((mask >> enumerator & 1) == 0) throw Refusal{ROPE_UNSUPPORTED};
}

void expect_one_of(std::uint32_t mask, std::int32_t value) {  // 0: any
  if (mask != 0) expect_claimed(mask, value);
}

void expect_enumerator(std::int32_t value, std::int32_t last) { expect(value >= 0 && value <= last); }

void check_pointer(const void* pointer, std::size_t element) {
  expect(pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % element == 0);
}

void check_dtype(std::int32_t dtype) { expect_enumerator(dtype, ROPE_BF16); }

void check_version(const rope_call& call) {
  expect(call.struct_size >= sizeof(rope_call));  // the built-ins take no older caller
  if (call.abi != ROPE_KERNEL_ABI) throw Refusal{ROPE_UNSUPPORTED};
}

// In and out: the pair is q and q_out, or k and k_out.
void check_tensor(const rope_tensor& in, const rope_tensor& out, const rope_capabilities& claims) {
  check_dtype(in.dtype);
  check_dtype(out.dtype);
  for (int i = 0; i < 4; ++i) expect(in.shape[i] >= 0 && in.shape[i] == out.shape[i]);
  expect_claimed(claims.out_dtypes[in.dtype], out.dtype);
  if (count(in) == 0) return;
  check_pointer(in.data, size_of(static_cast<DType>(in.dtype)));
  check_pointer(out.data, size_of(static_cast<DType>(out.dtype)));
  const bool in_place = in.data == out.data;
  expect(!in_place || in.dtype == out.dtype);
  for (int i = 0; i < 4; ++i) {
    if (in.shape[i] == 1) continue;
    expect(out.strides[i] != 0);  // two results in one place
    expect(!in_place || in.strides[i] == out.strides[i]);
  }
}

void check_tensors(const rope_call& call, const rope_capabilities& claims) {
  check_tensor(call.q, call.q_out, claims);
  expect(call.q.shape[3] <= std::numeric_limits<std::int32_t>::max());
  if (call.k.data == nullptr) return;
  check_tensor(call.k, call.k_out, claims);
  expect(call.k.dtype == call.q.dtype && call.k_out.dtype == call.q_out.dtype);
  for (int i : {0, 1, 3}) expect(call.k.shape[i] == call.q.shape[i]);
}

void check_rotation(const rope_call& call, const rope_capabilities& claims) {
  expect(call.rotary_dim >= 2 && call.rotary_dim % 2 == 0 && call.rotary_dim <= call.q.shape[3]);
  expect(call.rotary_offset >= 0 && call.rotary_offset % 2 == 0);
  expect(call.rotary_offset <= call.q.shape[3] - call.rotary_dim);
  expect_enumerator(call.pairing, ROPE_INTERLEAVED);
  expect_claimed(claims.pairings, call.pairing);
  expect_enumerator(call.direction, ROPE_BACKWARD);
  expect_enumerator(call.angle_source, ROPE_COMPUTED);
  expect_claimed(claims.angle_sources, call.angle_source);
  expect(std::isfinite(call.attention_factor));
}

bool has_tokens(const rope_call& call) { return call.q.shape[0] > 0 && call.q.shape[1] > 0; }

// A CPU must not read device memory; there only addresses are checked.
bool is_readable(const rope_capabilities& claims) { return claims.device == ROPE_CPU; }

// From here on the position of the last token would overflow.
std::int64_t largest_start(std::int64_t tokens) { return std::numeric_limits<std::int64_t>::max() - tokens; }

void check_sequences(const rope_call& call, const rope_capabilities& claims) {
  const std::int64_t tokens = call.q.shape[1];
  if (call.cu_seqlens == nullptr && call.seqlen_offsets == nullptr) return;
  expect(call.positions.data == nullptr && call.sequences >= 0);
  if (call.seqlen_offsets != nullptr) {
    expect(call.seqlen_offsets_dtype == ROPE_I32 || call.seqlen_offsets_dtype == ROPE_I64);
    check_pointer(call.seqlen_offsets, size_of(static_cast<DType>(call.seqlen_offsets_dtype)));
    expect(call.positions.offset == 0);
    for (std::int32_t i = 0; is_readable(claims) && i < call.sequences; ++i) {
      expect(integer_at(call.seqlen_offsets, call.seqlen_offsets_dtype, i) <= largest_start(tokens));
    }
  }
  if (call.cu_seqlens == nullptr) {
    expect(call.sequences == call.q.shape[0]);
    return;
  }
  check_pointer(call.cu_seqlens, sizeof *call.cu_seqlens);
  expect(call.q.shape[0] <= 1 && (call.sequences > 0 || tokens == 0));
  if (!is_readable(claims)) return;
  expect(call.cu_seqlens[0] == 0 && call.cu_seqlens[call.sequences] == tokens);
  expect(std::is_sorted(call.cu_seqlens, call.cu_seqlens + call.sequences + 1));
}

void check_positions(const rope_call& call, const rope_capabilities& claims) {
  const rope_positions& positions = call.positions;
  check_sequences(call, claims);
  if (positions.data != nullptr) {
    expect(positions.dtype == ROPE_I32 || positions.dtype == ROPE_I64);
    expect(positions.axes >= 1 && positions.axes <= 3);
    check_pointer(positions.data, size_of(static_cast<DType>(positions.dtype)));
  } else {
    expect(positions.offset <= largest_start(call.q.shape[1]));
  }
  if (call.axis == nullptr) return;
  check_pointer(call.axis, sizeof *call.axis);
  if (!is_readable(claims)) return;
  const int axes = positions.data != nullptr ? positions.axes : 3;
  for (int p = 0; p < call.rotary_dim / 2; ++p) expect(call.axis[p] >= 0 && call.axis[p] < axes);
}

bool axis_is_used(const rope_call& call, int axis) {
  if (call.axis == nullptr) return axis == 0;
  return std::find(call.axis, call.axis + call.rotary_dim / 2, axis) != call.axis + call.rotary_dim / 2;
}

template <class Visit>  // visit(row) for each table row that the call reads
void each_row(const rope_call& call, Visit&& visit) {
  const bool shared = batches_share_positions(call);
  for (int axis = 0; axis < 3; ++axis) {
    if (!axis_is_used(call, axis)) continue;
    for (std::int64_t b = 0; b < (shared ? 1 : call.q.shape[0]); ++b) {
      for (std::int64_t s = 0; s < call.q.shape[1]; ++s) visit(position_of(call, axis, b, s));
    }
  }
}

// Whether the two features of every pair have the same columns in this row, bit for bit.
bool halves_are_equal(const rope_call& call, const void* table, std::int64_t row) {
  const std::size_t size = size_of(static_cast<DType>(call.table.dtype));
  const auto half = static_cast<std::size_t>(call.rotary_dim / 2);
  const auto* bytes =
      static_cast<const std::byte*>(table) + row * call.table.row_stride * static_cast<std::int64_t>(size);
  if (call.pairing == ROPE_HALF_SPLIT) return std::memcmp(bytes, bytes + half * size, half * size) == 0;
  for (std::size_t p = 0; p < half; ++p) {
    if (std::memcmp(bytes + 2 * p * size, bytes + (2 * p + 1) * size, size) != 0) return false;
  }
  return true;
}

void check_tables(const rope_call& call, const rope_capabilities& claims) {
  const rope_table& table = call.table;
  check_dtype(table.dtype);
  expect_claimed(claims.table_dtypes, table.dtype);
  expect(table.width == call.rotary_dim / 2 || table.width == call.rotary_dim);
  expect(table.rows >= 0);
  if (!has_tokens(call)) return;
  check_pointer(table.cos, size_of(static_cast<DType>(table.dtype)));
  check_pointer(table.sin, size_of(static_cast<DType>(table.dtype)));
  if (!is_readable(claims)) return;
  each_row(call, [&](std::int64_t row) { expect(row >= 0 && row < table.rows); });
  if (table.width == call.rotary_dim / 2 || (claims.features & ROPE_BIT(ROPE_FEATURE_UNEQUAL_HALVES)) != 0) return;
  each_row(call, [&](std::int64_t row) {
    const bool equal = halves_are_equal(call, table.cos, row) && halves_are_equal(call, table.sin, row);
    if (!equal) throw Refusal{ROPE_UNSUPPORTED};
  });
}

void check_frequencies(const rope_call& call, const rope_capabilities& claims) {
  expect(call.theta_dtype == ROPE_F32 || call.theta_dtype == ROPE_F64);
  expect_claimed(claims.theta_dtypes, call.theta_dtype);
  check_pointer(call.theta, size_of(static_cast<DType>(call.theta_dtype)));
}

bool has_mode(const Scaling& rule, std::string_view mode) {
  bool has = false;
  std::visit(
      [&](const auto& r) { r.fields(r, [&](std::string_view field, auto&&...) { has = has || field == mode; }); },
      rule);
  return has;
}

void check_computed(const rope_call& call, const rope_capabilities& claims) {
  expect_enumerator(call.scaling.kind, static_cast<std::int32_t>(scaling_kind_count) - 1);
  expect_claimed(claims.scalings, call.scaling.kind);
  expect(std::isfinite(call.base) && call.base > 0 && call.sequence_length >= 0);
  const RopeSpec spec = spec_of(call);
  const scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, call.sequence_length};
  std::visit([&](const auto& rule) { rule.check(setting); }, spec.scaling);
  for (const ScalingMode& mode : scaling_modes) {
    if (has_mode(spec.scaling, mode.of_rule)) expect_one_of(claims.*mode.claimed, call.scaling.*mode.member);
  }
}

// What no call is without.
void check_required(const rope_call& call, const rope_capabilities& claims) {
  const auto needs = [&](rope_feature feature, bool has) {
    if ((claims.required_features & ROPE_BIT(feature)) != 0 && !has) throw Refusal{ROPE_UNSUPPORTED};
  };
  needs(ROPE_FEATURE_POSITIONS, call.positions.data != nullptr);
  needs(ROPE_FEATURE_IN_PLACE, call.q.data == call.q_out.data);
  needs(ROPE_FEATURE_KEY, call.k.data != nullptr);
  if (call.positions.data != nullptr) expect_one_of(claims.axis_counts, call.positions.axes);
}

void check(const rope_call& call, const rope_capabilities& claims) {
  check_version(call);  // before any other field is read
  expect_enumerator(call.device, ROPE_CUDA);
  if (call.device != claims.device) throw Refusal{ROPE_UNSUPPORTED};
  check_tensors(call, claims);
  check_rotation(call, claims);
  check_positions(call, claims);
  check_required(call, claims);
  switch (call.angle_source) {
    case ROPE_TABLES: return check_tables(call, claims);
    case ROPE_FREQUENCIES: return check_frequencies(call, claims);
    case ROPE_COMPUTED: return check_computed(call, claims);
  }
}

}  // namespace

rope_status check_call(const rope_call* call, const rope_capabilities& claims) noexcept {
  if (call == nullptr) return ROPE_INVALID_ARGUMENT;
  try {
    check(*call, claims);
  } catch (const Refusal& refusal) {
    return refusal.status;
  } catch (const InputError&) {
    return ROPE_INVALID_ARGUMENT;
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
  return ROPE_OK;
}

}  // namespace rope
