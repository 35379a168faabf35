// Faults: the mistakes that a call can contain, one at a time. A robust kernel answers each with a status.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/judge/call/call.hpp"

namespace rope {

struct Case;

enum class Fault {
  none,
  odd_rotary_dim,
  wide_rotary_dim,
  negative_rotary_dim,
  odd_rotary_offset,
  wide_rotary_offset,
  negative_rotary_offset,
  no_input,
  no_output,
  no_cos,
  no_sin,
  no_theta,
  no_key_output,
  offset_beyond_table,
  position_beyond_table,
  negative_position,
  inner_position_beyond_table,
  inner_negative_position,
  negative_offset,
  wrapping_position,
  wrapping_offset,
  position_below_0,
  offset_below_0,
  integer_input,
  narrow_output,
  longer_output,
  other_key,
  other_key_type,
  float_positions,
  odd_table,
  wide_table,
  unknown_pairing,
  unknown_direction,
  unknown_source
};

// What is wrong. One requirement asks for each kind.
enum class FaultKind { none, rotary_dim, rotary_offset, pointer, position, negative_angle, shape, enumerator };

// What a case must have for a fault.
enum class FaultNeed : unsigned {
  tables = 1,
  no_tables = 2,
  frequencies = 4,
  positions = 8,
  start = 16,
  i64 = 32,  // for positions or starts, if the call gives them
  own_output = 64,
  key = 128,
  two_tokens = 256,
  inner_token = 512,  // between the first and the last
  two_pairs = 1024,
  f32 = 2048,
  rotary_offset = 4096
};
using FaultNeeds = unsigned;  // a mask

constexpr FaultNeeds mask(FaultNeed need) { return static_cast<FaultNeeds>(need); }
constexpr FaultNeeds operator|(FaultNeed a, FaultNeed b) { return mask(a) | mask(b); }
constexpr FaultNeeds operator|(FaultNeeds a, FaultNeed b) { return a | mask(b); }

// A wrong position is in the last batch: a kernel that looks only at the first one does not see it.
struct WrongPosition {
  enum class Token { first, inner, last } token;
  enum class Value { below_0, past_tables, wrapping } value;  // wrapping: the lower 32 bits are a row of the tables
};

struct FaultRow {
  Fault fault;
  std::string_view word;     // in the text of a case
  std::string_view meaning;  // "rotary_dim is odd"
  FaultKind kind;
  FaultNeeds needs = 0;
  void (*change)(Call&) = nullptr;
  std::optional<WrongPosition> position = std::nullopt;  // in place of `change`
};
std::span<const FaultRow> fault_rows();
const FaultRow& row_of(Fault fault);
bool has_need(Fault fault, FaultNeed need);

// The token with the wrong position.
std::optional<std::int64_t> wrong_token(const Case& c);

// Whether the fault's position is wrong on this axis. On one, the last that a pair follows: kernels may look only at
// the first. On all where a kernel may turn by the negative angle, which one axis by itself would not show.
bool is_wrong_on(std::int64_t axis, Fault fault, const Call& call);

// Empty if the case has all that its fault needs.
std::string unfit_for_fault(const Case& c);

// Puts the case's fault into its call, which is right. Throws InputError if the case is unfit.
void put_fault(const Case& c, Call& call);

}  // namespace rope
