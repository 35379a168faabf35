#include "tools/judge/case/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "reference/input_error.hpp"
#include "tools/judge/case/case.hpp"

namespace rope {
namespace {

Tensor resized(const Tensor& tensor, std::size_t dimension, std::int64_t by) {
  std::vector<std::int64_t> shape = tensor.shape;
  shape[dimension] += by;
  return Tensor::contiguous(tensor.dtype, shape);
}

Tensor& tensor_of(Tensor& tensor) { return tensor; }
Tensor& tensor_of(std::optional<Tensor>& tensor) { return *tensor; }

template <auto member>
void make_null(Call& call) {
  Tensor& tensor = tensor_of(call.*member);
  tensor.null = true;
  tensor.bytes = tensor.bytes.first(0);  // the memory stays: a kernel that ignores `null` reads it
}

void give_tables(Call& call, std::int64_t width) {
  const std::int64_t rows = call.cos->shape[0];
  call.cos = Tensor::contiguous(call.cos->dtype, {rows, width});
  call.sin = Tensor::contiguous(call.sin->dtype, {rows, width});
}

void give_other_key_type(Call& call) {
  for (Tensor* tensor : {&*call.k, &*call.k_out}) {
    *tensor = Tensor::contiguous(tensor->dtype == DType::f32 ? DType::f16 : DType::f32, tensor->shape);
  }
}

template <auto member>
void give_no_enumerator(Call& call) {
  call.*member = static_cast<std::remove_cvref_t<decltype(call.*member)>>(77);
}

struct NeedRow {
  FaultNeed need;
  std::string_view lacking;
  bool (*is_met)(const Case&);
};

std::span<const NeedRow> known_needs() {
  using enum FaultNeed;
  static constexpr NeedRow rows[] = {
      {tables, "it has no tables", [](const Case& c) { return c.source == AngleSource::tables; }},
      {no_tables, "it has tables", [](const Case& c) { return c.source != AngleSource::tables; }},
      {frequencies, "it has no frequencies", [](const Case& c) { return c.source == AngleSource::frequencies; }},
      {positions, "it has no positions", [](const Case& c) { return gives_positions(c.form); }},
      {start, "it has no offset",
       [](const Case& c) { return c.form == PositionForm::offset || c.form == PositionForm::seqlen_offsets; }},
      {i64, "its positions are not in i64",
       [](const Case& c) { return !has_position_dtype(c.form) || c.position_dtype == DType::i64; }},
      {own_output, "it is in place", [](const Case& c) { return !c.in_place; }},
      {key, "it has no k", [](const Case& c) { return c.key_heads > 0; }},
      {two_tokens, "it has no second token", [](const Case& c) { return c.seq > 1; }},
      {inner_token, "it has no token between two others", [](const Case& c) { return c.seq > 2; }},
      {two_pairs, "its tables cannot be narrower", [](const Case& c) { return c.spec.rotary_dim > 2; }},
      {rotary_offset, "its rotary features come first", [](const Case& c) { return c.spec.rotary_offset != 0; }},
      {f32, "it is not f32 to f32", [](const Case& c) { return c.dtype == DType::f32 && c.out_dtype == DType::f32; }},
  };
  return rows;
}

constexpr std::int64_t beyond_32_bits = std::int64_t{1} << 32;

void give_position(const Case& c, Call& call, std::int64_t token, std::int64_t value) {
  Tensor& p = *call.positions;
  for (std::int64_t axis = 0; axis < p.shape[0]; ++axis) {
    if (!is_wrong_on(axis, c.fault, call)) continue;
    store_integer(p, axis * p.strides[0] + (p.shape[1] - 1) * p.strides[1] + token * p.strides[2], value);
  }
}

// The position of the first token.
void give_start(Call& call, std::int64_t value) {
  if (!call.seqlen_offsets) {
    call.position_offset = value;
    return;
  }
  Tensor& starts = *call.seqlen_offsets;
  store_integer(starts, (starts.shape[0] - 1) * starts.strides[0], value);
}

void give_wrong_position(const Case& c, WrongPosition::Value wrong, Call& call) {
  const std::int64_t table_rows = call.cos ? call.cos->shape[0] : 0, token = *wrong_token(c);
  const bool is_given = has_need(c.fault, FaultNeed::positions);
  std::int64_t value = -1;
  if (wrong == WrongPosition::Value::past_tables) {
    value = table_rows;
    call.sequence_length = table_rows + 1;
  } else if (wrong == WrongPosition::Value::wrapping) {
    value = beyond_32_bits + table_rows - (is_given ? 1 : c.seq);  // of a start: all its tokens have such a row
    call.sequence_length = beyond_32_bits + table_rows;
  }
  is_given ? give_position(c, call, token, value) : give_start(call, value - token);
}

}  // namespace

std::span<const FaultRow> fault_rows() {
  using enum FaultNeed;
  using Token = WrongPosition::Token;
  using Value = WrongPosition::Value;
  constexpr auto at = [](Token token, Value value) { return WrongPosition{token, value}; };
  static constexpr FaultRow rows[] = {
      {Fault::none, "none", "nothing is wrong", FaultKind::none},
      {Fault::odd_rotary_dim, "odd_rotary_dim", "rotary_dim is odd", FaultKind::rotary_dim, 0,
       [](Call& call) { call.rotary_dim += call.rotary_dim < call.q.shape[3] ? 1 : -1; }},
      {Fault::wide_rotary_dim, "wide_rotary_dim", "rotary_dim is larger than head_dim", FaultKind::rotary_dim, 0,
       [](Call& call) { call.rotary_dim = static_cast<std::int32_t>(call.q.shape[3] + 2); }},
      {Fault::negative_rotary_dim, "negative_rotary_dim", "rotary_dim is negative", FaultKind::rotary_dim, 0,
       [](Call& call) { call.rotary_dim = -call.rotary_dim; }},
      {Fault::odd_rotary_offset, "odd_rotary_offset", "rotary_offset is odd", FaultKind::rotary_offset,
       mask(rotary_offset), [](Call& call) { call.rotary_offset = 1; }},
      {Fault::wide_rotary_offset, "wide_rotary_offset", "rotary_offset ends the rotary features beyond the head",
       FaultKind::rotary_offset, mask(rotary_offset),
       [](Call& call) { call.rotary_offset = static_cast<std::int32_t>(call.q.shape[3]); }},
      {Fault::negative_rotary_offset, "negative_rotary_offset", "rotary_offset is negative", FaultKind::rotary_offset,
       mask(rotary_offset), [](Call& call) { call.rotary_offset = -2; }},
      {Fault::no_input, "no_input", "q is NULL", FaultKind::pointer, mask(own_output), make_null<&Call::q>},
      {Fault::no_output, "no_output", "q_out is NULL", FaultKind::pointer, mask(own_output), make_null<&Call::q_out>},
      {Fault::no_cos, "no_cos", "cos is NULL and sin is not", FaultKind::pointer, mask(tables), make_null<&Call::cos>},
      {Fault::no_sin, "no_sin", "sin is NULL and cos is not", FaultKind::pointer, mask(tables), make_null<&Call::sin>},
      {Fault::no_theta, "no_theta", "theta is NULL", FaultKind::pointer, mask(frequencies), make_null<&Call::theta>},
      {Fault::no_key_output, "no_key_output", "k_out is NULL and k is not", FaultKind::pointer, key | own_output,
       make_null<&Call::k_out>},
      {Fault::offset_beyond_table, "offset_beyond_table", "the last token's position is one row past the tables",
       FaultKind::position, tables | start, nullptr, at(Token::last, Value::past_tables)},
      {Fault::position_beyond_table, "position_beyond_table", "a position is one row past the tables",
       FaultKind::position, tables | positions, nullptr, at(Token::first, Value::past_tables)},
      {Fault::negative_position, "negative_position", "a position is negative, before the first row of the tables",
       FaultKind::position, tables | positions, nullptr, at(Token::first, Value::below_0)},
      {Fault::inner_position_beyond_table, "inner_position_beyond_table",
       "a position between the first and the last is one row past the tables", FaultKind::position,
       tables | positions | inner_token, nullptr, at(Token::inner, Value::past_tables)},
      {Fault::inner_negative_position, "inner_negative_position",
       "a position between the first and the last is negative, before the first row of the tables", FaultKind::position,
       tables | positions | inner_token, nullptr, at(Token::inner, Value::below_0)},
      {Fault::negative_offset, "negative_offset", "the offset is negative, before the first row of the tables",
       FaultKind::position, tables | start, nullptr, at(Token::first, Value::below_0)},
      {Fault::wrapping_position, "wrapping_position",
       "the lower 32 bits of a position are a row of the tables, the position itself is none", FaultKind::position,
       tables | positions | i64, nullptr, at(Token::first, Value::wrapping)},
      {Fault::wrapping_offset, "wrapping_offset",
       "the lower 32 bits of the offset are a row of the tables, the offset itself is none", FaultKind::position,
       tables | start | i64, nullptr, at(Token::first, Value::wrapping)},
      {Fault::position_below_0, "position_below_0", "a position is negative, in a call without tables",
       FaultKind::negative_angle, no_tables | positions, nullptr, at(Token::first, Value::below_0)},
      {Fault::offset_below_0, "offset_below_0", "the offset is negative, in a call without tables",
       FaultKind::negative_angle, no_tables | start, nullptr, at(Token::first, Value::below_0)},
      {Fault::integer_input, "integer_input", "q and q_out are of an integer type", FaultKind::shape, f32 | own_output,
       [](Call& call) { call.q.dtype = call.q_out->dtype = DType::i32; }},
      {Fault::narrow_output, "narrow_output", "q_out has fewer features than q", FaultKind::shape, mask(own_output),
       [](Call& call) { call.q_out = resized(*call.q_out, 3, -2); }},
      {Fault::longer_output, "longer_output", "q_out has more tokens than q", FaultKind::shape, mask(own_output),
       [](Call& call) { call.q_out = resized(*call.q_out, 1, 1); }},
      {Fault::other_key, "other_key", "k has fewer tokens than q", FaultKind::shape, key | own_output | two_tokens,
       [](Call& call) {
         call.k = resized(*call.k, 1, -1);
         call.k_out = resized(*call.k_out, 1, -1);
       }},
      {Fault::other_key_type, "other_key_type", "k and k_out are of another type than q", FaultKind::shape,
       key | own_output, give_other_key_type},
      {Fault::float_positions, "float_positions", "positions are of type f32", FaultKind::shape, mask(positions),
       [](Call& call) { *call.positions = Tensor::contiguous(DType::f32, call.positions->shape); }},
      {Fault::odd_table, "odd_table", "the tables are one column too narrow", FaultKind::shape, tables | two_pairs,
       [](Call& call) { give_tables(call, call.cos->shape[1] - 1); }},
      {Fault::wide_table, "wide_table", "the tables are wider than rotary_dim, and than head_dim", FaultKind::shape,
       mask(tables), [](Call& call) { give_tables(call, call.q.shape[3] + 2); }},
      {Fault::unknown_pairing, "unknown_pairing", "pairing is not a rope_pairing", FaultKind::enumerator, 0,
       give_no_enumerator<&Call::pairing>},
      {Fault::unknown_direction, "unknown_direction", "direction is not a rope_direction", FaultKind::enumerator, 0,
       give_no_enumerator<&Call::direction>},
      {Fault::unknown_source, "unknown_source", "angle_source is not a rope_angle_source", FaultKind::enumerator, 0,
       give_no_enumerator<&Call::source>},
  };
  return rows;
}

const FaultRow& row_of(Fault fault) { return fault_rows()[static_cast<std::size_t>(fault)]; }

bool has_need(Fault fault, FaultNeed need) { return (row_of(fault).needs & static_cast<FaultNeeds>(need)) != 0; }

std::optional<std::int64_t> wrong_token(const Case& c) {
  const std::optional<WrongPosition>& wrong = row_of(c.fault).position;
  if (!wrong) return std::nullopt;
  if (wrong->token == WrongPosition::Token::first) return 0;
  return wrong->token == WrongPosition::Token::inner ? c.seq / 2 : c.seq - 1;
}

bool is_wrong_on(std::int64_t axis, Fault fault, const Call& call) {
  if (row_of(fault).kind == FaultKind::negative_angle) return true;
  std::int64_t last = 0;
  for (std::int64_t pair = 0; call.axis && pair < call.axis->shape[0]; ++pair) {
    last = std::max(last, integer_at(*call.axis, pair * call.axis->strides[0]));
  }
  return axis == last;
}

std::string unfit_for_fault(const Case& c) {
  for (const NeedRow& known : known_needs()) {
    if (!has_need(c.fault, known.need) || known.is_met(c)) continue;
    return fmt::format("the fault {} does not fit this case: {}", row_of(c.fault).word, known.lacking);
  }
  return c.fault == Fault::none || c.golden.empty() ? "" : "the call of a golden case has no fault";
}

void put_fault(const Case& c, Call& call) {
  if (const std::string why = unfit_for_fault(c); !why.empty()) throw InputError(why);
  const FaultRow& row = row_of(c.fault);
  if (row.position) give_wrong_position(c, row.position->value, call);
  if (row.change != nullptr) row.change(call);
}

}  // namespace rope
