// Circumstances and quantities: properties of a call's row or of one of its elements. Bugs often show only in some of
// them, and these tell a lot. Their words are in the tables of circumstance.cpp; no code decides by the words.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tools/diagnose/evidence.hpp"
#include "tools/bugs/bug_class.hpp"

namespace rope::diagnosis {

// An observed row or one of its elements, and its weight.
struct SeenRow {
  const Observation* seen = nullptr;
  std::size_t row = 0;
  double weight = 1;
  bool whole = false;  // stands for the whole call: its wrong rows are not known
  int feature = -1;    // the element; -1: the row

  const RowKey& key() const { return seen->rows[row]; }
};

enum class Circumstance {
  in_place,
  out_of_place,
  huge_inputs,
  subnormal_inputs,
  zero_inputs,
  unusual_inputs,
  backward,
  forward,
  in_k,
  in_q,
  k_given,
  no_k_given,
  fewer_heads_in_k,
  several_batches,
  one_batch,
  past_first_batch,
  one_token,
  several_tokens,
  past_first_token,
  as_many_tokens_as_batches,
  as_many_tokens_as_heads,
  as_many_rows_as_tokens,
  several_heads,
  past_first_head,
  past_heads_of_k,
  f32,
  f64,
  f16,
  bf16,
  sixteen_bits,
  f16_output,
  bf16_output,
  output_of_other_type,
  tables_given,
  no_tables_given,
  frequencies_given,
  computed_angles,
  full_width_tables,
  half_width_tables,
  unequal_halves,
  spare_rows,
  no_spare_rows,
  tables_of_other_type,
  positions_from_offset,
  given_positions,
  positions_for_each_batch,
  shared_positions,
  starts_of_sequences,
  packed_sequences,
  second_position_follows,
  batch_begins_as_first,
  batches_begin_alike,
  i32_positions,
  i64_positions,
  rotary_below_head_dim,
  rotary_half_of_head_dim,
  rotary_equals_head_dim,
  rotary_offset,
  several_axes,
  one_axis,
  alternating_axes,
  axes_in_blocks,
  scaled,
  unscaled,
  beyond_original_length,
  other_base,
  attention_factor,
  attention_factor_below_1,
  attention_factor_above_1,
  no_attention_factor,
  half_split_pairs,
  interleaved_pairs,
  strided,
  contiguous,
  unaligned_data,
  unaligned_dense_rows,
  padded_rows,
  other_strides_of_k,
  padded_angles,
  heads_before_tokens,
  negative_strides,
  q_and_k_in_one_memory,
  one_row_for_all,
  gaps_between_batches,
  loose_strides,
  output_laid_out_otherwise,
  tokens_without_one_stride,
  rows_without_one_stride,
  rotary_no_power_of_two,
  tokens_past_heads,
  heads_past_tokens,
  tokens_past_batches,
  batches_past_tokens,
  heads_past_batches,
  batches_past_heads,
  // The opposite of some of these: other words for the same rows are better.
  f32_or_f64,
  output_of_same_type,
  no_frequencies_given,
  angles_given,
  no_packed_sequences,
  no_negative_strides,
  output_laid_out_alike,
  count  // the number of circumstances, not one itself
};

struct CircumstanceEntry {
  Circumstance what;
  std::string_view words;              // "in place"
  std::optional<BugClass> speaks_for;  // the class of a bug that shows only then
  bool (*holds)(const SeenRow&);
  bool of_row = false;  // true: of a row; false: of the call
};

// Every circumstance. If two separate the evidence equally well, the first is named.
std::span<const CircumstanceEntry> circumstances();
const CircumstanceEntry& entry_of(Circumstance what);

// Properties that are counts, not true or false. Some are places, the index of one of so many things; others are
// numbers of things.
enum class Quantity {
  position,
  head_dim,
  rotary_dim,
  number_of_heads,
  number_of_tokens,
  number_of_batches,
  token,
  head,
  batch,
  sequence_length,
  tokens_of_all_batches,
  elements_of_q,
  elements_of_tensor,
  token_of_all_batches,
  row,
  pair,
  feature,
  passed_feature,
  feature_before,  // rotary_offset
  count  // the number of quantities, not one itself
};

enum class Scope { call, row, element };

struct QuantityEntry {
  Quantity what;
  std::string_view words;              // "head_dim"
  std::int64_t (*of)(const SeenRow&);  // -1: the element has none
  Scope scope = Scope::call;
  void (*set)(Case&, std::int64_t) = nullptr;         // of a place: how many there are; null: no field of a case has it
  std::string_view plural = {};                       // of a place: "tokens"
  std::int64_t (*count)(const SeenRow&) = nullptr;    // of a place: how many there are
  std::string_view of_all = {};                       // of elements: "rotary features" have a pair
};

// Every quantity, in the same order of preference.
std::span<const QuantityEntry> quantities();
const QuantityEntry& entry_of(Quantity what);

}  // namespace rope::diagnosis
