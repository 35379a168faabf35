#include "tools/diagnose/circumstance.hpp"

#include <algorithm>
#include <array>

#include "tools/judge/case/field_words.hpp"

namespace rope::diagnosis {
namespace {

constexpr std::nullopt_t nothing = std::nullopt;  // most circumstances speak for no class

const Case& of(const SeenRow& r) { return r.seen->c; }
std::int64_t heads_of(const SeenRow& r) { return r.key().key ? of(r).key_heads : of(r).heads; }

bool is_unscaled(const SeenRow& r) { return std::holds_alternative<scaling::None>(of(r).spec.scaling); }

bool is_output_laid_out_otherwise(const SeenRow& r) {
  return of(r).output != OutputLayout::as_input || of(r).layout == Layout::expanded;
}

const Tensor& output_of(const SeenRow& r) {
  return r.key().key ? r.seen->before.k_result() : r.seen->before.q_result();
}

// Whether the first extents can be taken for one, as reshape() without a copy does. Workers place rows far
// apart, which the tensor's own strides do not say.
bool have_one_stride(const SeenRow& r, std::size_t extents) {
  const Tensor& t = output_of(r);
  const std::optional<std::size_t> distant = distant_dimension(of(r).layout);
  // k's heads lie behind q's.
  const bool is_shared = of(r).layout == Layout::packed && of(r).output == OutputLayout::as_input;
  std::optional<std::size_t> outer;
  for (std::size_t i = 0; i < extents; ++i) {
    if (t.shape[i] < 2) continue;
    const bool is_apart = distant == outer || distant == i || (is_shared && i == 2);
    if (outer && (is_apart || t.strides[*outer] != t.shape[i] * t.strides[i])) return false;
    outer = i;
  }
  return true;
}

std::int64_t first_position(const SeenRow& r, std::int64_t batch, std::int64_t seq) {
  return token_position(r.seen->before, batch, seq).front();
}

constexpr std::array<CircumstanceEntry, static_cast<std::size_t>(Circumstance::count)> known_circumstances{{
    {Circumstance::in_place, field_words::in_place, BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).in_place; }},
    {Circumstance::out_of_place, "out of place", nothing, [](const SeenRow& r) { return !of(r).in_place; }},
    {Circumstance::huge_inputs, "very large inputs", BugClass::special_values,
     [](const SeenRow& r) { return of(r).input == InputKind::huge; }},
    {Circumstance::subnormal_inputs, "subnormal inputs", BugClass::special_values,
     [](const SeenRow& r) { return of(r).input == InputKind::subnormal; }},
    {Circumstance::zero_inputs, "zero inputs", BugClass::special_values,
     [](const SeenRow& r) { return of(r).input == InputKind::zero; }},
    {Circumstance::unusual_inputs, "inputs of an unusual size", BugClass::special_values,
     [](const SeenRow& r) { return is_of_unusual_size(of(r).input); }},
    {Circumstance::backward, field_words::backward, BugClass::backward,
     [](const SeenRow& r) { return of(r).direction == Direction::backward; }},
    {Circumstance::forward, "forward", nothing, [](const SeenRow& r) { return of(r).direction == Direction::forward; }},
    {Circumstance::in_k, "in k", BugClass::heads_batch_qk, [](const SeenRow& r) { return r.key().key; }, true},
    {Circumstance::in_q, "in q", BugClass::heads_batch_qk, [](const SeenRow& r) { return !r.key().key; }, true},
    {Circumstance::k_given, "k given", BugClass::heads_batch_qk, [](const SeenRow& r) { return of(r).key_heads > 0; }},
    {Circumstance::no_k_given, "no k", nothing, [](const SeenRow& r) { return of(r).key_heads == 0; }},
    {Circumstance::fewer_heads_in_k, "k with fewer heads than q", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return of(r).key_heads > 0 && of(r).key_heads < of(r).heads; }},
    {Circumstance::several_batches, "several batches", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return of(r).batch > 1; }},
    {Circumstance::one_batch, "one batch", nothing, [](const SeenRow& r) { return of(r).batch == 1; }},
    {Circumstance::past_first_batch, "past the first batch", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return r.key().batch > 0; }, true},
    {Circumstance::one_token, "one token", nothing, [](const SeenRow& r) { return of(r).seq == 1; }},
    {Circumstance::several_tokens, "several tokens", nothing, [](const SeenRow& r) { return of(r).seq > 1; }},
    {Circumstance::past_first_token, "past the first token", nothing, [](const SeenRow& r) { return r.key().seq > 0; },
     true},
    {Circumstance::as_many_tokens_as_batches, "as many tokens as batches", nothing,
     [](const SeenRow& r) { return of(r).seq == of(r).batch; }},
    {Circumstance::as_many_tokens_as_heads, "as many tokens as heads", nothing,
     [](const SeenRow& r) { return of(r).seq == (r.key().key ? of(r).key_heads : of(r).heads); }, true},
    {Circumstance::as_many_rows_as_tokens, "tables with as many rows as tokens", BugClass::table_cache,
     [](const SeenRow& r) {
       const std::optional<Tensor>& table = r.seen->before.cos;
       return table && table->shape[0] == of(r).seq;
     }},
    {Circumstance::several_heads, "several heads", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return of(r).heads > 1; }},
    {Circumstance::past_first_head, "past the first head", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return r.key().head > 0; }, true},
    {Circumstance::past_heads_of_k, "in heads whose number k has not", BugClass::heads_batch_qk,
     [](const SeenRow& r) { return of(r).key_heads > 0 && r.key().head >= of(r).key_heads; }, true},
    {Circumstance::f32, "f32", BugClass::precision, [](const SeenRow& r) { return of(r).dtype == DType::f32; }},
    {Circumstance::f64, "f64", BugClass::precision, [](const SeenRow& r) { return of(r).dtype == DType::f64; }},
    {Circumstance::f16, "f16", BugClass::precision, [](const SeenRow& r) { return of(r).dtype == DType::f16; }},
    {Circumstance::bf16, "bf16", BugClass::precision, [](const SeenRow& r) { return of(r).dtype == DType::bf16; }},
    {Circumstance::sixteen_bits, "16-bit tensors", BugClass::precision,
     [](const SeenRow& r) { return of(r).dtype == DType::f16 || of(r).dtype == DType::bf16; }},
    {Circumstance::f16_output, "an output in f16", BugClass::precision,
     [](const SeenRow& r) { return of(r).out_dtype == DType::f16; }},
    {Circumstance::bf16_output, "an output in bf16", BugClass::precision,
     [](const SeenRow& r) { return of(r).out_dtype == DType::bf16; }},
    {Circumstance::output_of_other_type, "an output of another type than q", nothing,
     [](const SeenRow& r) { return of(r).dtype != of(r).out_dtype; }},
    {Circumstance::tables_given, "tables given", BugClass::table_cache,
     [](const SeenRow& r) { return of(r).source == AngleSource::tables; }},
    {Circumstance::no_tables_given, "no tables given", nothing,
     [](const SeenRow& r) { return of(r).source != AngleSource::tables; }},
    {Circumstance::frequencies_given, field_words::frequencies_given, nothing,
     [](const SeenRow& r) { return of(r).source == AngleSource::frequencies; }},
    {Circumstance::computed_angles, field_words::computed_angles, nothing,
     [](const SeenRow& r) { return of(r).source == AngleSource::computed; }},
    {Circumstance::full_width_tables, field_words::full_width_tables, BugClass::table_cache,
     [](const SeenRow& r) { return of(r).full_tables; }},
    {Circumstance::half_width_tables, "half-width tables", BugClass::table_cache,
     [](const SeenRow& r) { return of(r).source == AngleSource::tables && !of(r).full_tables; }},
    {Circumstance::unequal_halves, field_words::unequal_halves, BugClass::table_cache,
     [](const SeenRow& r) { return of(r).unequal_halves; }},
    {Circumstance::spare_rows, field_words::spare_rows, BugClass::table_cache,
     [](const SeenRow& r) { return of(r).spare_rows > 0; }},
    {Circumstance::no_spare_rows, "tables that end with the largest position", BugClass::table_cache,
     [](const SeenRow& r) { return of(r).source == AngleSource::tables && of(r).spare_rows == 0; }},
    {Circumstance::tables_of_other_type, "tables of another type than q", BugClass::table_cache,
     [](const SeenRow& r) { return of(r).source == AngleSource::tables && of(r).given != of(r).dtype; }},
    {Circumstance::positions_from_offset, "positions from an offset", BugClass::position_offset,
     [](const SeenRow& r) { return !has_position_dtype(of(r).form); }},
    {Circumstance::given_positions, field_words::given_positions, BugClass::position_offset,
     [](const SeenRow& r) { return gives_positions(of(r).form); }},
    {Circumstance::positions_for_each_batch, field_words::positions_for_each_batch, BugClass::position_offset,
     [](const SeenRow& r) { return of(r).form == PositionForm::per_batch; }},
    {Circumstance::shared_positions, "positions shared by the batches", nothing,
     [](const SeenRow& r) { return of(r).form == PositionForm::shared; }},
    {Circumstance::starts_of_sequences, field_words::starts_of_sequences, BugClass::varlen_packing_cp,
     [](const SeenRow& r) { return gives_starts(of(r).form); }},
    {Circumstance::packed_sequences, field_words::packed_sequences, BugClass::varlen_packing_cp,
     [](const SeenRow& r) { return is_packed(of(r).form); }},
    {Circumstance::second_position_follows, "positions whose second is the first plus one", nothing,
     [](const SeenRow& r) {
       return of(r).seq > 1 && first_position(r, r.key().batch, 1) == first_position(r, r.key().batch, 0) + 1;
     },
     true},
    {Circumstance::batch_begins_as_first, "in a batch that starts at the first batch's position", nothing,
     [](const SeenRow& r) {
       return r.key().batch > 0 && first_position(r, r.key().batch, 0) == first_position(r, 0, 0);
     },
     true},
    {Circumstance::batches_begin_alike, "batches that all start at the same position", nothing,
     [](const SeenRow& r) {
       for (std::int64_t b = 1; b < of(r).batch; ++b) {
         if (first_position(r, b, 0) != first_position(r, 0, 0)) return false;
       }
       return of(r).batch > 1 && of(r).form == PositionForm::per_batch;
     }},
    {Circumstance::i32_positions, field_words::i32_positions, nothing,
     [](const SeenRow& r) { return has_position_dtype(of(r).form) && of(r).position_dtype == DType::i32; }},
    {Circumstance::i64_positions, "i64 positions", nothing,
     [](const SeenRow& r) { return has_position_dtype(of(r).form) && of(r).position_dtype == DType::i64; }},
    {Circumstance::rotary_below_head_dim, field_words::rotary_below_head_dim, BugClass::partial_passthrough,
     [](const SeenRow& r) { return of(r).spec.rotary_dim < of(r).spec.head_dim; }},
    {Circumstance::rotary_half_of_head_dim, "rotary_dim half of head_dim", BugClass::partial_passthrough,
     [](const SeenRow& r) { return 2 * of(r).spec.rotary_dim == of(r).spec.head_dim; }},
    {Circumstance::rotary_equals_head_dim, "rotary_dim equal to head_dim", nothing,
     [](const SeenRow& r) { return of(r).spec.rotary_dim == of(r).spec.head_dim; }},
    {Circumstance::rotary_offset, field_words::rotary_offset, BugClass::partial_passthrough,
     [](const SeenRow& r) { return of(r).spec.rotary_offset != 0; }},
    {Circumstance::several_axes, field_words::several_axes, BugClass::multi_axis,
     [](const SeenRow& r) { return of(r).spec.axes.count() > 1; }},
    {Circumstance::one_axis, "one axis", nothing, [](const SeenRow& r) { return of(r).spec.axes.count() == 1; }},
    {Circumstance::alternating_axes, "axes that alternate", BugClass::multi_axis,
     [](const SeenRow& r) {
       return of(r).spec.axes.count() > 1 && of(r).spec.axes.order != AxisLayout::Order::chunked;
     }},
    {Circumstance::axes_in_blocks, "axes in blocks", BugClass::multi_axis,
     [](const SeenRow& r) {
       return of(r).spec.axes.count() > 1 && of(r).spec.axes.order == AxisLayout::Order::chunked;
     }},
    {Circumstance::scaled, "scaling", BugClass::scaling_config, [](const SeenRow& r) { return !is_unscaled(r); }},
    {Circumstance::unscaled, "no scaling", nothing, is_unscaled},
    {Circumstance::beyond_original_length, "a sequence longer than the original length", nothing,
     [](const SeenRow& r) {
       const double length = original_length(of(r).spec.scaling);
       return length > 0 && static_cast<double>(r.seen->before.sequence_length) > length;
     }},
    {Circumstance::other_base, "a base other than 10000", nothing,
     [](const SeenRow& r) { return of(r).spec.base != 10000; }},
    {Circumstance::attention_factor, field_words::attention_factor, BugClass::scaling_config,
     [](const SeenRow& r) { return r.seen->before.attention_factor != 1; }},
    {Circumstance::attention_factor_below_1, "an attention factor below 1", BugClass::scaling_config,
     [](const SeenRow& r) { return r.seen->before.attention_factor < 1; }},
    {Circumstance::attention_factor_above_1, "an attention factor above 1", BugClass::scaling_config,
     [](const SeenRow& r) { return r.seen->before.attention_factor > 1; }},
    {Circumstance::no_attention_factor, "no attention factor", nothing,
     [](const SeenRow& r) { return r.seen->before.attention_factor == 1; }},
    {Circumstance::half_split_pairs, "half-split pairs", nothing,
     [](const SeenRow& r) { return of(r).spec.pairing == Pairing::half_split; }},
    {Circumstance::interleaved_pairs, field_words::interleaved_pairs, nothing,
     [](const SeenRow& r) { return of(r).spec.pairing == Pairing::interleaved; }},
    {Circumstance::strided, "tensors that are not contiguous", BugClass::strides_memory_race,
     [](const SeenRow& r) { return !is_contiguous(of(r).layout); }},
    {Circumstance::contiguous, "contiguous tensors", nothing,
     [](const SeenRow& r) { return is_contiguous(of(r).layout); }},
    {Circumstance::unaligned_data, field_words::unaligned_data, nothing,
     [](const SeenRow& r) { return of(r).layout == Layout::shifted || of(r).layout == Layout::strided; }},
    {Circumstance::unaligned_dense_rows, "rows without gaps at unaligned addresses", BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::shifted || of(r).output == OutputLayout::shifted; }},
    {Circumstance::padded_rows, "padded rows", BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::strided; }},
    {Circumstance::other_strides_of_k, "k with other strides than q", BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::key_strided || of(r).output == OutputLayout::key_strided; }},
    {Circumstance::padded_angles, "padded positions and tables", BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::angles_strided; }},
    {Circumstance::heads_before_tokens, field_words::heads_before_tokens, BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::seq_last || of(r).layout == Layout::heads_first; }},
    {Circumstance::negative_strides, "negative strides, features apart", BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::reversed; }},
    {Circumstance::q_and_k_in_one_memory, field_words::q_and_k_in_one_memory, nothing,
     [](const SeenRow& r) { return of(r).layout == Layout::packed; }},
    {Circumstance::one_row_for_all, field_words::one_row_for_all, nothing,
     [](const SeenRow& r) { return of(r).layout == Layout::expanded; }},
    {Circumstance::gaps_between_batches, field_words::gaps_between_batches, BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::cached; }},
    {Circumstance::loose_strides, field_words::loose_strides, BugClass::strides_memory_race,
     [](const SeenRow& r) { return of(r).layout == Layout::loose_strides; }},
    {Circumstance::output_laid_out_otherwise, "an output with another layout than the input",
     BugClass::strides_memory_race, is_output_laid_out_otherwise},
    {Circumstance::tokens_without_one_stride, "outputs whose tokens of all batches have no common stride",
     BugClass::strides_memory_race, [](const SeenRow& r) { return !have_one_stride(r, 2); }, true},
    {Circumstance::rows_without_one_stride, "outputs whose heads of all tokens have no common stride",
     BugClass::strides_memory_race, [](const SeenRow& r) { return !have_one_stride(r, 3); }, true},
    {Circumstance::rotary_no_power_of_two, "rotary_dim not a power of two", nothing,
     [](const SeenRow& r) { return (of(r).spec.rotary_dim & (of(r).spec.rotary_dim - 1)) != 0; }},
    // What a launch leaves out whose sizes are exchanged.
    {Circumstance::tokens_past_heads, "in tokens from the number of heads on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().seq >= heads_of(r); }, true},
    {Circumstance::heads_past_tokens, "in heads from the number of tokens on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().head >= of(r).seq; }, true},
    {Circumstance::tokens_past_batches, "in tokens from the number of batches on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().seq >= of(r).batch; }, true},
    {Circumstance::batches_past_tokens, "in batches from the number of tokens on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().batch >= of(r).seq; }, true},
    {Circumstance::heads_past_batches, "in heads from the number of batches on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().head >= of(r).batch; }, true},
    {Circumstance::batches_past_heads, "in batches from the number of heads on", BugClass::launch_limits,
     [](const SeenRow& r) { return r.key().batch >= heads_of(r); }, true},
    {Circumstance::f32_or_f64, "f32 or f64", nothing,
     [](const SeenRow& r) { return of(r).dtype == DType::f32 || of(r).dtype == DType::f64; }},
    {Circumstance::output_of_same_type, "an output of the type of q", nothing,
     [](const SeenRow& r) { return of(r).dtype == of(r).out_dtype; }},
    {Circumstance::no_frequencies_given, "no frequencies given", nothing,
     [](const SeenRow& r) { return of(r).source != AngleSource::frequencies; }},
    {Circumstance::angles_given, "tables or frequencies given", nothing,
     [](const SeenRow& r) { return of(r).source != AngleSource::computed; }},
    {Circumstance::no_packed_sequences, "no packed sequences", nothing,
     [](const SeenRow& r) { return !is_packed(of(r).form); }},
    {Circumstance::no_negative_strides, "no negative strides", nothing,
     [](const SeenRow& r) { return of(r).layout != Layout::reversed; }},
    {Circumstance::output_laid_out_alike, "an output with the layout of the input", nothing,
     [](const SeenRow& r) { return !is_output_laid_out_otherwise(r); }},
}};

void set_head_dim(Case& c, std::int64_t dim) {
  if (c.spec.rotary_dim == c.spec.head_dim) c.spec.rotary_dim = static_cast<int>(dim);
  c.spec.head_dim = static_cast<int>(dim);
  keep_in_head(c.spec);
}

void set_rotary_dim(Case& c, std::int64_t dim) {
  if (c.spec.rotary_dim == c.spec.head_dim) c.spec.head_dim = static_cast<int>(dim);
  c.spec.rotary_dim = static_cast<int>(dim);
  keep_in_head(c.spec);
}

// Of q, and of k as many as before for each of q's.
void set_heads(Case& c, std::int64_t heads) {
  const std::int64_t of_k = heads * c.key_heads / c.heads;
  c.heads = static_cast<int>(heads);
  c.key_heads = static_cast<int>(of_k);
}

void set_tokens(Case& c, std::int64_t tokens) {
  c.seq = static_cast<int>(tokens);
  c.sequence_length = 0;
}

void set_batches(Case& c, std::int64_t batches) { c.batch = static_cast<int>(batches); }
void set_tokens_of_all_batches(Case& c, std::int64_t tokens) { set_tokens(c, tokens / c.batch); }

std::int64_t elements_of(const SeenRow& r, bool key) {
  const Case& c = of(r);
  return std::int64_t{c.batch} * c.seq * (key ? c.key_heads : c.heads) * c.spec.head_dim;
}

void set_elements(Case& c, std::int64_t elements) {
  set_tokens(c, elements / (std::int64_t{c.batch} * c.heads * c.spec.head_dim));
}

std::int64_t tokens_of(const SeenRow& r) { return of(r).seq; }
std::int64_t batches_of(const SeenRow& r) { return of(r).batch; }
std::int64_t tokens_of_all_batches(const SeenRow& r) { return batches_of(r) * tokens_of(r); }
std::int64_t token_of_all_batches(const SeenRow& r) { return r.key().batch * tokens_of(r) + r.key().seq; }

std::int64_t pair_of(const SeenRow& r) {
  const RopeSpec& spec = of(r).spec;
  const std::int64_t in_block = r.feature - spec.rotary_offset;
  if (in_block < 0 || in_block >= spec.rotary_dim) return -1;
  return spec.pairing == Pairing::interleaved ? in_block / 2 : in_block % (spec.rotary_dim / 2);
}

// Counted from the last feature that rotates; those before rotary_offset come last.
std::int64_t passed_feature_of(const SeenRow& r) {
  const RopeSpec& spec = of(r).spec;
  const std::int64_t before = r.feature < spec.rotary_offset ? spec.head_dim : 0;
  return std::max<std::int64_t>(r.feature + before - spec.rotary_offset - spec.rotary_dim, -1);
}

constexpr std::array<QuantityEntry, static_cast<std::size_t>(Quantity::count)> known_quantities{{
    {Quantity::position, "position", [](const SeenRow& r) { return r.key().position; }, Scope::row},
    {Quantity::head_dim, "head_dim", [](const SeenRow& r) { return std::int64_t{of(r).spec.head_dim}; }, Scope::call,
     set_head_dim},
    {Quantity::rotary_dim, "rotary_dim", [](const SeenRow& r) { return std::int64_t{of(r).spec.rotary_dim}; },
     Scope::call, set_rotary_dim},
    {Quantity::number_of_heads, "number of heads", heads_of, Scope::call, set_heads},
    {Quantity::number_of_tokens, "number of tokens", tokens_of, Scope::call, set_tokens},
    {Quantity::number_of_batches, "number of batches", batches_of, Scope::call, set_batches},
    {Quantity::token, "token", [](const SeenRow& r) { return r.key().seq; }, Scope::row, set_tokens, "tokens",
     tokens_of},
    {Quantity::head, "head", [](const SeenRow& r) { return r.key().head; }, Scope::row, set_heads, "heads", heads_of},
    {Quantity::batch, "batch", [](const SeenRow& r) { return r.key().batch; }, Scope::row, set_batches, "batches",
     batches_of},
    {Quantity::sequence_length, "sequence length", [](const SeenRow& r) { return r.seen->before.sequence_length; },
     Scope::call, [](Case& c, std::int64_t length) { c.sequence_length = length; }},
    {Quantity::tokens_of_all_batches, "number of tokens of all batches", tokens_of_all_batches, Scope::call,
     set_tokens_of_all_batches},
    {Quantity::elements_of_q, "number of elements of q", [](const SeenRow& r) { return elements_of(r, false); },
     Scope::call, set_elements},
    {Quantity::elements_of_tensor, "number of elements of the tensor",
     [](const SeenRow& r) { return elements_of(r, r.key().key); }, Scope::call, set_elements},
    {Quantity::token_of_all_batches, "token of all batches", token_of_all_batches, Scope::row,
     set_tokens_of_all_batches, "tokens of all batches", tokens_of_all_batches},
    {Quantity::row, "row (batch, token and head)",
     [](const SeenRow& r) { return token_of_all_batches(r) * heads_of(r) + r.key().head; }, Scope::row,
     [](Case& c, std::int64_t rows) { set_tokens_of_all_batches(c, rows / std::max(c.heads, 1)); },
     "rows (batch, token and head)", [](const SeenRow& r) { return tokens_of_all_batches(r) * heads_of(r); }},
    {Quantity::pair, "pair", pair_of, Scope::element, [](Case& c, std::int64_t pairs) { set_rotary_dim(c, 2 * pairs); },
     "pairs", [](const SeenRow& r) { return std::int64_t{of(r).spec.rotary_dim / 2}; }, "rotary features"},
    {Quantity::feature, "feature", [](const SeenRow& r) { return std::int64_t{r.feature}; }, Scope::element, nullptr,
     "features", [](const SeenRow& r) { return std::int64_t{of(r).spec.head_dim}; }, "features"},
    {Quantity::passed_feature, "pass-through feature",
     passed_feature_of,
     Scope::element, nullptr, "pass-through features",
     [](const SeenRow& r) { return std::int64_t{of(r).spec.head_dim - of(r).spec.rotary_dim}; },
     "pass-through features"},
    {Quantity::feature_before, "feature before rotary_offset",
     [](const SeenRow& r) { return r.feature < of(r).spec.rotary_offset ? std::int64_t{r.feature} : -1; },
     Scope::element, nullptr, "features before rotary_offset",
     [](const SeenRow& r) { return std::int64_t{of(r).spec.rotary_offset}; }, "features before rotary_offset"},
}};

template <class Table>
constexpr bool is_complete(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (static_cast<std::size_t>(table[i].what) != i || table[i].words.empty()) return false;
  }
  return true;
}
static_assert(is_complete(known_circumstances), "every circumstance has its row, in the order of the enumerators");
static_assert(is_complete(known_quantities), "every quantity has its row, in the order of the enumerators");

}  // namespace

std::span<const CircumstanceEntry> circumstances() { return known_circumstances; }
std::span<const QuantityEntry> quantities() { return known_quantities; }

const CircumstanceEntry& entry_of(Circumstance what) { return known_circumstances[static_cast<std::size_t>(what)]; }
const QuantityEntry& entry_of(Quantity what) { return known_quantities[static_cast<std::size_t>(what)]; }

}  // namespace rope::diagnosis
