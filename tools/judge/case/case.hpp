// Case: one situation in which a requirement is checked, as plain data. A case prints itself as text that makes it
// again, so a failure can be replayed by itself: `ropecheck replay TEXT`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"
#include "tools/judge/call/call.hpp"
#include "tools/judge/call/sanitizer_tool.hpp"
#include "tools/judge/case/fault.hpp"

namespace rope {

// How a case gives its positions to the kernel.
enum class PositionForm {
  offset,
  shared,          // all positions, the same for all batches
  per_batch,       // all positions
  seqlen_offsets,  // a start for each batch
  cu_seqlens,      // sequences packed into one row, all from one offset
  cu_seqlens_and_offsets
};

constexpr bool gives_positions(PositionForm form) {
  return form == PositionForm::shared || form == PositionForm::per_batch;
}
constexpr bool gives_starts(PositionForm form) {
  return form == PositionForm::seqlen_offsets || form == PositionForm::cu_seqlens_and_offsets;
}
constexpr bool has_position_dtype(PositionForm form) { return gives_positions(form) || gives_starts(form); }
constexpr bool is_packed(PositionForm form) {
  return form == PositionForm::cu_seqlens || form == PositionForm::cu_seqlens_and_offsets;
}

// The positions themselves; s = token, all from `start`.
enum class PositionPattern {
  consecutive,     // start + s
  repeated,        // start + s/3
  descending,      // start + (seq - 1 - s)
  exchanged,       // as consecutive, but the tokens between the first and the last are swapped in twos
  first_in_order,  // as consecutive in the first batch, as exchanged in the others
  last_apart,      // as consecutive and the same in all batches, except for the last token of the last one
  restarting,      // two sequences packed into one row: the second one begins at `start` again
  left_padded,     // start + max(0, s - pad), with another pad in each batch
  recurring,       // as consecutive, but each batch or sequence begins where the one before the last one did
  in_step,         // as consecutive, and the same on every axis
  image,           // text, then an image of 2 x 2 patches (time, row and column), then text that goes on behind it
  scattered        // anything in 0 .. start, every order of magnitude equally likely
};

enum class Layout {
  contiguous,
  shifted,          // contiguous, from the second element after an aligned address on
  strided,          // every stride larger than needed, rows padded
  key_strided,      // q contiguous, k and its output as strided
  angles_strided,   // q and k contiguous, positions and tables as strided
  seq_last,         // [batch, heads, seq, head_dim] in memory, and positions in such an order too
  heads_first,      // the same tensors, with contiguous positions
  reversed,         // every dimension from the last to the first, features two elements apart
  expanded,         // one row for all batches and heads of an input, stride 0; outputs are contiguous
  cached,           // the first tokens of longer sequences: contiguous in a batch, a gap between two
  loose_strides,    // contiguous; along extents of 1, where no stride is used, they are not the usual ones
  packed,           // in each token the heads of q, of k and of a v, as one product outputs them
  distant_batches,  // a stride of more than 2^31 elements from batch to batch, row_placement.hpp
  distant_tokens,
  distant_heads,
  distant_rows,  // contiguous tensors, and tables with such a stride from row to row
  late_rows      // contiguous; of the tables, rows before the smallest position take no memory, sparse_memory.hpp
};

constexpr bool is_contiguous(Layout layout) {
  return layout == Layout::contiguous || layout == Layout::shifted || layout == Layout::loose_strides ||
         layout == Layout::late_rows;
}

// The dimension of q and k whose rows are distant; nullopt if there is none.
constexpr std::optional<std::size_t> distant_dimension(Layout layout) {
  switch (layout) {
    case Layout::distant_batches: return 0;
    case Layout::distant_tokens: return 1;
    case Layout::distant_heads: return 2;
    default: return std::nullopt;
  }
}

constexpr bool is_distant(Layout layout) {
  return distant_dimension(layout).has_value() || layout == Layout::distant_rows || layout == Layout::late_rows;
}

// The outputs' layout, if they are not the inputs.
enum class OutputLayout { as_input, contiguous, strided, key_strided, shifted, reversed };

enum class InputKind {
  spread,     // random signs, fractions and exponents 2^-4 .. 2^3
  unit,       // first feature of each pair 1, second 0, others 1: the output is cos(phi), sin(phi)
  lonely,     // one pair of each head as in spread, all else 2^10 larger: shows leaks from other pairs
  constant,   // as spread, the same row for every token: then scores depend only on the distance
  repeated,   // as spread, the same rows again after repeated_rows: large calls are then judged in less time
  huge,       // as spread, the largest below half the largest number of input and output type
  subnormal,  // as spread, all below the smallest normal number of the type
  zero,
  // The token's position, modulo 2^16, gives the sign and the highest bits of one feature of each pair; the other is 0.
  // So 65536 tokens have every number, NaN and infinity of a 16-bit type.
  counted_first,
  counted_second,
  // As counted, but the seed plus the head takes the place of the position. Tables of a 16-bit type hold every number
  // from -1 to 1, one after the other, as cosine and as sine; tables of f32 and f64 have the cosines and sines of their
  // positions.
  products_first,
  products_second
};

constexpr bool is_of_products(InputKind input) {
  return input == InputKind::products_first || input == InputKind::products_second;
}
constexpr bool is_counted(InputKind input) {
  return input == InputKind::counted_first || input == InputKind::counted_second || is_of_products(input);
}

// A prime that divides no power of two and not 65,535: a row that is read from so far away is another one.
inline constexpr int repeated_rows = 61;

// Whether the numbers have an unusual size.
constexpr bool is_of_unusual_size(InputKind input) {
  return input == InputKind::huge || input == InputKind::subnormal || input == InputKind::zero;
}

inline constexpr int address_unit = 64;

// A call that comes before the case's own one, in the same new process. It is the case's call in another dtype, with
// another number of tokens, or at other positions.
struct EarlierCall {
  DType dtype = DType::f32;  // of inputs; of outputs too, unless it is the dtype of the case's inputs
  int seq = 1;
  std::int64_t start = 0;

  friend bool operator==(const EarlierCall&, const EarlierCall&) = default;
};

// To add a field: add it here, give it a row in the table of fields.cpp and a meaning in build_call().
struct Case {
  std::string requirement;  // id
  RopeSpec spec;
  int batch = 1;
  int seq = 4;
  int heads = 2;
  int key_heads = 0;  // 0: no k
  DType dtype = DType::f32;
  DType out_dtype = DType::f32;
  AngleSource source = AngleSource::tables;
  DType given = DType::f32;  // dtype of the tables or of theta
  bool full_tables = false;
  bool unequal_halves = false;
  std::int64_t spare_rows = 0;  // of the tables, after the row of the largest position
  PositionForm form = PositionForm::offset;
  int sequences = 1;  // of a packed row
  DType position_dtype = DType::i64;
  PositionPattern pattern = PositionPattern::consecutive;
  std::int64_t start = 0;
  std::int64_t sequence_length = 0;  // 0: the largest position + 1
  Direction direction = Direction::forward;
  bool in_place = false;
  Layout layout = Layout::contiguous;
  OutputLayout output = OutputLayout::as_input;
  // Where tensors begin: bytes past a multiple of address_unit; -1: anywhere. The first is for q and k_out, the second
  // for q_out and k. So the addresses of all pairs of tensors can differ.
  int address = -1;
  int output_address = -1;
  InputKind input = InputKind::spread;
  std::uint64_t seed = 1;
  Fault fault = Fault::none;                 // the mistake in the call
  SanitizerTool tool = SanitizerTool::none;  // that watches the call
  std::vector<EarlierCall> before;           // in the order in which they are made
  std::string golden;                        // id of a golden case; its arrays then replace seed, positions and tables

  friend bool operator==(const Case&, const Case&) = default;
};

// "ROT-01:head_dim=64,seq=3,.."; fields that hold their default are left out.
std::string to_text(const Case& c);
Case case_from_text(std::string_view text);  // throws InputError

// Positions [axes][batch][seq], flat. Axes differ from each other if the form gives positions.
std::vector<std::int64_t> positions(const Case& c);

// The first position of each sequence, and of a packed row the first token of each and the number of all. The sequences
// of a packed row have unlike lengths. The last of four or more is empty; of five or more, so is the second. If tokens
// are few, the first ones are, too.
std::vector<std::int64_t> sequence_starts(const Case& c);
std::vector<std::int64_t> packed_borders(const Case& c);
std::int64_t smallest_position(const Case& c);
std::int64_t largest_position(const Case& c);
std::int64_t sequence_length(const Case& c);

// The cases of the calls before, in order. They name no requirement.
std::vector<Case> earlier_cases(const Case& c);

// The dtype of the last call before that has another dtype than the case.
std::optional<DType> other_dtype_before(const Case& c);

}  // namespace rope
