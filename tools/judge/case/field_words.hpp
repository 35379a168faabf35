// What the diagnosis calls the values of fields. The constants are both a switch of a field and a condition.
#pragma once

#include <string>
#include <string_view>

#include "tools/judge/case/case.hpp"

namespace rope::field_words {

inline constexpr std::string_view several_axes = "several axes";
inline constexpr std::string_view attention_factor = "an attention factor";
inline constexpr std::string_view rotary_below_head_dim = "rotary_dim below head_dim";
inline constexpr std::string_view rotary_offset = "rotary features behind others";
inline constexpr std::string_view interleaved_pairs = "interleaved pairs";
inline constexpr std::string_view backward = "backward";
inline constexpr std::string_view in_place = "in place";
inline constexpr std::string_view unaligned_data = "data at unaligned addresses";
inline constexpr std::string_view heads_before_tokens = "heads before tokens in memory";
inline constexpr std::string_view q_and_k_in_one_memory = "q and k in one memory";
inline constexpr std::string_view gaps_between_batches = "gaps only between batches";
inline constexpr std::string_view loose_strides = "unusual strides along extents of 1";
inline constexpr std::string_view one_row_for_all = "one input row for all batches and heads";
inline constexpr std::string_view frequencies_given = "frequencies given";
inline constexpr std::string_view computed_angles = "computed angles";
inline constexpr std::string_view spare_rows = "tables with more rows than the positions need";
inline constexpr std::string_view unequal_halves = "tables with unequal halves";
inline constexpr std::string_view full_width_tables = "full-width tables";
inline constexpr std::string_view positions_for_each_batch = "positions for each batch";
inline constexpr std::string_view given_positions = "given positions";
inline constexpr std::string_view starts_of_sequences = "a start for each sequence";
inline constexpr std::string_view packed_sequences = "packed sequences";
inline constexpr std::string_view i32_positions = "i32 positions";

// Empty for the plain ones.
std::string words_of(Layout layout);
std::string words_of(OutputLayout layout);
std::string words_of(AngleSource source);

// "data at 16 bytes past a multiple of 64"
std::string words_of_address(std::string_view what, int address);

std::string words_of_calls_before(const Case& c);  // "after an earlier bf16 call"

}  // namespace rope::field_words
