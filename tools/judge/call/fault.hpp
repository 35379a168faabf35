// Faults: the mistakes that a call can contain, one at a time. A robust kernel answers each with a status.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tools/judge/call/call.hpp"

namespace rope {

enum class Fault {
  none,
  odd_rotary_dim,
  wide_rotary_dim,
  negative_rotary_dim,
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

struct FaultWord {
  Fault fault;
  std::string_view word;     // in the text of a case
  std::string_view meaning;  // "rotary_dim is odd"
};
std::span<const FaultWord> fault_words();
const FaultWord& word_of(Fault fault);

// Whether the call has to give positions for it, and whether only i64 holds the wrong one.
bool needs_positions(Fault fault);
bool needs_wide_positions(Fault fault);

// The token between the first and the last of at least three whose position is wrong. A wrong position is in the last
// batch.
constexpr std::int64_t inner_token(std::int64_t tokens) { return tokens / 2; }

// Whether the fault's position is wrong on this axis. On one, the last that a pair follows: kernels may look only at
// the first. On all where a kernel may turn by the negative angle, which one axis by itself would not show.
bool is_wrong_on(std::int64_t axis, Fault fault, const Call& call);

// Puts the fault into a right call. Throws InputError if the call has nothing that this fault could change.
void apply(Fault fault, Call& call);

}  // namespace rope
