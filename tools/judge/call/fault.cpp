#include "tools/judge/call/fault.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/input_error.hpp"

namespace rope {
namespace {

constexpr FaultWord known_faults[] = {
    {Fault::none, "none", "nothing is wrong"},
    {Fault::odd_rotary_dim, "odd_rotary_dim", "rotary_dim is odd"},
    {Fault::wide_rotary_dim, "wide_rotary_dim", "rotary_dim is larger than head_dim"},
    {Fault::negative_rotary_dim, "negative_rotary_dim", "rotary_dim is negative"},
    {Fault::no_input, "no_input", "q is NULL"},
    {Fault::no_output, "no_output", "q_out is NULL"},
    {Fault::no_cos, "no_cos", "cos is NULL and sin is not"},
    {Fault::no_sin, "no_sin", "sin is NULL and cos is not"},
    {Fault::no_theta, "no_theta", "theta is NULL"},
    {Fault::no_key_output, "no_key_output", "k_out is NULL and k is not"},
    {Fault::offset_beyond_table, "offset_beyond_table", "the last token's position is one row past the tables"},
    {Fault::position_beyond_table, "position_beyond_table", "a position is one row past the tables"},
    {Fault::negative_position, "negative_position", "a position is negative, before the first row of the tables"},
    {Fault::inner_position_beyond_table, "inner_position_beyond_table",
     "a position between the first and the last is one row past the tables"},
    {Fault::inner_negative_position, "inner_negative_position",
     "a position between the first and the last is negative, before the first row of the tables"},
    {Fault::negative_offset, "negative_offset", "the offset is negative, before the first row of the tables"},
    {Fault::wrapping_position, "wrapping_position",
     "the lower 32 bits of a position are a row of the tables, the position itself is none"},
    {Fault::wrapping_offset, "wrapping_offset",
     "the lower 32 bits of the offset are a row of the tables, the offset itself is none"},
    {Fault::position_below_0, "position_below_0", "a position is negative, in a call without tables"},
    {Fault::offset_below_0, "offset_below_0", "the offset is negative, in a call without tables"},
    {Fault::integer_input, "integer_input", "q and q_out are of an integer type"},
    {Fault::narrow_output, "narrow_output", "q_out has fewer features than q"},
    {Fault::longer_output, "longer_output", "q_out has more tokens than q"},
    {Fault::other_key, "other_key", "k has fewer tokens than q"},
    {Fault::other_key_type, "other_key_type", "k and k_out are of another type than q"},
    {Fault::float_positions, "float_positions", "positions are of type f32"},
    {Fault::odd_table, "odd_table", "the tables are one column too narrow"},
    {Fault::wide_table, "wide_table", "the tables are wider than rotary_dim, and than head_dim"},
    {Fault::unknown_pairing, "unknown_pairing", "pairing is not a rope_pairing"},
    {Fault::unknown_direction, "unknown_direction", "direction is not a rope_direction"},
    {Fault::unknown_source, "unknown_source", "angle_source is not a rope_angle_source"},
};

constexpr int no_enumerator = 77;
constexpr std::int64_t beyond_32_bits = std::int64_t{1} << 32;

[[noreturn]] void impossible(Fault fault) {
  throw InputError(fmt::format("fault {} does not go with the rest of the case", word_of(fault).word));
}

Tensor resized(const Tensor& tensor, std::size_t dimension, std::int64_t by) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape[dimension] += by;
  return Tensor::contiguous(tensor.dtype, shape);
}

// In the last batch: a kernel that looks only at the first one does not see it.
void set_position(Fault fault, Call& call, std::int64_t token, std::int64_t value) {
  if (!call.positions) impossible(fault);
  Tensor& p = *call.positions;
  for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
    if (!is_wrong_on(axis, fault, call)) continue;
    store_integer(p, axis * p.strides[0] + (p.shape[1] - 1) * p.strides[1] + token * p.strides[2], value);
  }
}

bool has_start(const Call& call) { return !call.positions && !call.cu_seqlens; }

// The position of the first token, in the last batch.
void set_start(Call& call, std::int64_t value) {
  if (!call.seqlen_offsets) {
    call.position_offset = value;
    return;
  }
  Tensor& starts = *call.seqlen_offsets;
  store_integer(starts, (starts.shape[0] - 1) * starts.strides[0], value);
}

void make_null(Tensor& tensor) {
  tensor.null = true;
  tensor.bytes = tensor.bytes.first(0);  // the memory stays: a kernel that ignores `null` reads it
}

void change_tables(Call& call, std::int64_t width) {
  const std::int64_t rows = call.cos->shape[0];
  call.cos = Tensor::contiguous(call.cos->dtype, {rows, width});
  call.sin = Tensor::contiguous(call.sin->dtype, {rows, width});
}

}  // namespace

std::span<const FaultWord> fault_words() { return known_faults; }

bool needs_positions(Fault fault) {
  switch (fault) {
    case Fault::position_beyond_table:
    case Fault::negative_position:
    case Fault::inner_position_beyond_table:
    case Fault::inner_negative_position:
    case Fault::wrapping_position:
    case Fault::position_below_0:
    case Fault::float_positions: return true;
    default: return false;
  }
}

bool needs_wide_positions(Fault fault) { return fault == Fault::wrapping_position; }

const FaultWord& word_of(Fault fault) { return known_faults[static_cast<std::size_t>(fault)]; }

bool is_wrong_on(std::int64_t axis, Fault fault, const Call& call) {
  if (fault == Fault::position_below_0) return true;
  std::int64_t last = 0;
  for (std::int64_t pair = 0; call.axis && pair < call.axis->shape[0]; ++pair) {
    last = std::max(last, integer_at(*call.axis, pair * call.axis->strides[0]));
  }
  return axis == last;
}

void apply(Fault fault, Call& call) {
  const auto needs = [&](bool holds) {
    if (!holds) impossible(fault);
  };
  const std::int64_t rows = call.cos ? call.cos->shape[0] : 0;
  switch (fault) {
    case Fault::none: break;
    case Fault::odd_rotary_dim: call.rotary_dim += call.rotary_dim < call.q.shape[3] ? 1 : -1; break;
    case Fault::wide_rotary_dim: call.rotary_dim = static_cast<std::int32_t>(call.q.shape[3] + 2); break;
    case Fault::negative_rotary_dim: call.rotary_dim = -call.rotary_dim; break;
    case Fault::no_input:
      needs(!call.in_place);
      make_null(call.q);
      break;
    case Fault::no_output:
      needs(call.q_out.has_value());
      make_null(*call.q_out);
      break;
    case Fault::no_cos:
      needs(call.cos.has_value());
      make_null(*call.cos);
      break;
    case Fault::no_sin:
      needs(call.sin.has_value());
      make_null(*call.sin);
      break;
    case Fault::no_theta:
      needs(call.theta.has_value());
      make_null(*call.theta);
      break;
    case Fault::no_key_output:
      needs(call.k_out.has_value());
      make_null(*call.k_out);
      break;
    case Fault::offset_beyond_table:
      needs(call.cos && has_start(call));
      set_start(call, rows - call.q.shape[1] + 1);
      call.sequence_length = rows + 1;
      break;
    case Fault::position_beyond_table:
      needs(call.cos.has_value());
      set_position(fault, call, 0, rows);
      call.sequence_length = rows + 1;
      break;
    case Fault::negative_position:
      needs(call.cos.has_value());
      set_position(fault, call, 0, -1);
      break;
    case Fault::inner_position_beyond_table:
      needs(call.cos && call.q.shape[1] > 2);
      set_position(fault, call, inner_token(call.q.shape[1]), rows);
      call.sequence_length = rows + 1;
      break;
    case Fault::inner_negative_position:
      needs(call.cos && call.q.shape[1] > 2);
      set_position(fault, call, inner_token(call.q.shape[1]), -1);
      break;
    case Fault::negative_offset:
      needs(call.cos && has_start(call));
      set_start(call, -1);
      break;
    case Fault::wrapping_position:
      needs(call.cos && call.positions && call.positions->dtype == DType::i64);
      set_position(fault, call, 0, beyond_32_bits + rows - 1);
      call.sequence_length = beyond_32_bits + rows;
      break;
    case Fault::wrapping_offset:
      needs(call.cos && has_start(call) && (!call.seqlen_offsets || call.seqlen_offsets->dtype == DType::i64));
      set_start(call, beyond_32_bits + rows - call.q.shape[1]);
      call.sequence_length = beyond_32_bits + rows;
      break;
    case Fault::position_below_0:
      needs(!call.cos);
      set_position(fault, call, 0, -1);
      break;
    case Fault::offset_below_0:
      needs(!call.cos && has_start(call));
      set_start(call, -1);
      break;
    case Fault::integer_input:
      needs(call.q.dtype == DType::f32 && call.q_out && call.q_out->dtype == DType::f32);
      call.q.dtype = call.q_out->dtype = DType::i32;
      break;
    case Fault::narrow_output:
      needs(call.q_out.has_value());
      call.q_out = resized(*call.q_out, 3, -2);
      break;
    case Fault::longer_output:
      needs(call.q_out.has_value());
      call.q_out = resized(*call.q_out, 1, 1);
      break;
    case Fault::other_key:
      needs(call.k && call.k_out);
      call.k = resized(*call.k, 1, -1);
      call.k_out = resized(*call.k_out, 1, -1);
      break;
    case Fault::other_key_type:
      needs(call.k && call.k_out);
      for (Tensor* tensor : {&*call.k, &*call.k_out}) {
        *tensor = Tensor::contiguous(tensor->dtype == DType::f32 ? DType::f16 : DType::f32, tensor->shape);
      }
      break;
    case Fault::float_positions:
      needs(call.positions.has_value());
      *call.positions = Tensor::contiguous(DType::f32, call.positions->shape);
      break;
    case Fault::odd_table:
      needs(call.cos.has_value());
      change_tables(call, call.cos->shape[1] - 1);
      break;
    case Fault::wide_table:
      needs(call.cos.has_value());
      change_tables(call, call.q.shape[3] + 2);
      break;
    case Fault::unknown_pairing: call.pairing = static_cast<Pairing>(no_enumerator); break;
    case Fault::unknown_direction: call.direction = static_cast<Direction>(no_enumerator); break;
    case Fault::unknown_source: call.source = static_cast<AngleSource>(no_enumerator); break;
  }
}

}  // namespace rope
