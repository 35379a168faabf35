#include "tools/bugs/table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <stdexcept>

namespace rope::bugs {
namespace {

using enum BugClass;
using Rows = std::vector<Row>;

void add(Rows& all, BugClass bug_class, std::string words, Edit edit) {
  all.push_back({edit, bug_class, std::move(words)});
}

void add_counts(Rows& all) {
  using How = Count::How;
  add(all, position_offset, "the position is always 0: nothing is rotated", Count{How::zero});
  add(all, position_offset, "the position is the index of the token, whatever the call says of positions",
      Count{How::token});
  for (const int c : {1, -1, 2, -2, 3, 4, 8, 16}) {
    add(all, position_offset, fmt::format("position p {} {} is used, not p", c < 0 ? '-' : '+', std::abs(c)),
        Count{How::plus, c});
  }
  add(all, position_offset, "positions are counted from the end of the sequence", Count{How::from_end});
  add(all, position_offset, "the tokens are taken to be the last of the sequence, whatever the call says of positions",
      Count{How::last_of_sequence});
  add(all, position_offset, "the offset is added twice", Count{How::plus_offset});
  add(all, position_offset, "the number of tokens is added to the position", Count{How::plus_tokens});
  add(all, heads_batch_qk, "the head's index is added to the position", Count{How::plus_head});
  for (const int bits : {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 31, 32}) {
    const std::int64_t limit = std::int64_t{1} << bits;
    const bool is_of_table = bits >= 9 && bits <= 13;  // the usual lengths of a table
    const BugClass bug_class = is_of_table ? table_cache : position_offset;
    add(all, bug_class, fmt::format("positions from {} on start again at 0", limit), Count{How::wrapped, limit});
    add(all, bug_class, fmt::format("positions from {} on get the angles of position {}", limit, limit - 1),
        Count{How::saturated, limit});
    if (bits != 8 && bits != 16 && bits != 32) continue;
    add(all, position_offset, fmt::format("positions are kept in {}-bit signed integers", bits),
        Count{How::narrow, bits});
  }
}

struct MoveRow {
  BugClass bug_class;
  const char* words;  // {0}: the block, {1}: one less
  Move move;          // with any block
  std::vector<std::int64_t> blocks = {1};
};

void add_moves(Rows& all) {
  using enum Move::Role;
  using enum Move::Dimension;
  using enum Move::Map;
  const std::vector<std::int64_t> buffers{8, 16, 32, 64, 128, 256, 512, 1024};
  const MoveRow rows[] = {
      {position_offset,
       "the {0} tokens of a tile all get the first one's position",
       {position, token, first_of_block},
       {2, 4, 8, 16, 32}},
      {position_offset,
       "the {0} tokens of a tile get positions counted on from the first one's",
       {position, token, first_of_block, 1, true},
       {2, 4, 8, 16, 32}},
      {position_offset, "every token gets the position of the first token", {position, token, first}},
      {position_offset, "every token gets the position of the last token", {position, token, last}},
      {position_offset, "each token gets the position of the next token", {position, token, next}},
      {position_offset, "each token gets the position of the token before", {position, token, previous}},
      {position_offset, "the positions of the tokens are used in reverse order", {position, token, reversed}},
      {position_offset,
       "only the first given position of a batch is read: its tokens count on from there",
       {position, token, first, 1, true}},
      {varlen_packing_cp, "every batch gets the positions of the first batch", {position, batch, first}},
      {varlen_packing_cp, "each batch gets the positions of the batch before it", {position, batch, previous}},
      {varlen_packing_cp, "each batch gets the positions of the next batch", {position, batch, next_around}},
      {position_offset,
       "tokens from {0} on get the given positions of tokens 0, 1, .. again",
       {given_position, token, wrapped},
       buffers},
      {position_offset,
       "tokens from {0} on get the given position of token {1}",
       {given_position, token, saturated},
       buffers},
      {varlen_packing_cp,
       "batches from {0} on get the positions of batches 0, 1, .. again",
       {given_position, batch, wrapped},
       buffers},
      {varlen_packing_cp,
       "batches from {0} on get the positions of batch {1}",
       {given_position, batch, saturated},
       buffers},
      {heads_batch_qk, "every batch is computed from the first batch", {input, batch, first}},
      {heads_batch_qk, "each batch is computed from the next batch", {input, batch, next_around}},
      {heads_batch_qk, "the batches are computed from the batches in reverse order", {input, batch, reversed}},
      {heads_batch_qk, "every token is computed from the first token", {input, token, first}},
      {heads_batch_qk, "each token is computed from the next token", {input, token, next}},
      {heads_batch_qk, "the tokens are computed from the tokens in reverse order", {input, token, reversed}},
      {heads_batch_qk, "every batch is written over the first batch", {output, batch, first}},
      {heads_batch_qk, "each batch is written over the next batch", {output, batch, next_around}},
      {heads_batch_qk, "the batches are written over the batches in reverse order", {output, batch, reversed}},
      {heads_batch_qk, "every token is written over the first token", {output, token, first}},
      {heads_batch_qk, "each token is written over the next token", {output, token, next}},
      {heads_batch_qk, "the tokens are written over the tokens in reverse order", {output, token, reversed}},
      {heads_batch_qk, "every head is computed from the first head", {input, head, first}},
      {heads_batch_qk, "each head is computed from the next head", {input, head, next_around}},
      {heads_batch_qk, "the heads are used in reverse order", {input, head, reversed}},
      {heads_batch_qk, "heads are reversed within blocks of {0}", {input, head, reversed_in_block}, {2, 3, 4, 8}},
      {pipeline, "heads are transposed as a matrix of {0} rows", {input, head, transposed}, {2, 3, 4, 8}},
      {heads_batch_qk, "head h is computed from head h & (heads - 1)", {input, head, masked}},
      {heads_batch_qk, "head h is taken for head h & (heads - 1)", {row, head, masked}},
  };
  for (const MoveRow& one : rows) {
    for (const std::int64_t block : one.blocks) {
      Move move = one.move;
      move.block = block;
      add(all, one.bug_class, fmt::format(fmt::runtime(one.words), block, block - 1), move);
    }
  }
}

void add_sets(Rows& all) {
  using enum Set::What;
  using enum Set::To;
  for (const double value : {10000.0, 500000.0, 1000000.0, 100000.0, 1000.0, 100.0}) {
    add(all, frequency_base, fmt::format("base {:.0f} is used, not the given one", value), Set{base, number, value});
  }
  for (const double by : {2.0, 0.5, 10.0, 0.1}) {
    add(all, frequency_base, fmt::format("the base is multiplied by {}", by), Set{base, times, by});
  }
  const struct {
    BugClass bug_class;
    const char* words;
    Set set;
  } rows[] = {
      {frequency_base, "the base is truncated to a whole number", {base, whole}},
      {frequency_base, "the exponent is positive: theta = base^(2p/rotary_dim)", {base, inverse}},
      {scaling_config, "the attention factor is ignored", {factor, number, 1}},
      {scaling_config, "the attention factor is applied twice", {factor, squared}},
      {scaling_config, "the result is divided by the attention factor", {factor, inverse}},
      {scaling_config, "the square root of the attention factor is applied", {factor, root}},
      {pipeline, "the result is multiplied by log2(e)", {factor, times, std::numbers::log2e}},
      {pipeline, "the result is divided by sqrt(head_dim)", {factor, over_root_head, 1}},
      {pipeline, "the result is multiplied by log2(e) / sqrt(head_dim)", {factor, over_root_head, std::numbers::log2e}},
      {pipeline, "the result is doubled", {factor, times, 2}},
      {pipeline, "the result is halved", {factor, times, 0.5}},
      {pairing_layout,
       "the other pairing is used: half_split for interleaved, or interleaved for half_split",
       {pairing, other}},
      {partial_passthrough, "rotary_dim is ignored: the whole head turns", {rotary_dim, head_dim}},
      {partial_passthrough, "only rotary_dim/2 features turn", {rotary_dim, half}},
      {partial_passthrough, "rotary_dim is ignored: head_dim/2 features turn", {rotary_dim, half_head}},
      {partial_passthrough, "rotary_offset is ignored: the first rotary_dim features turn", {rotary_offset, number, 0}},
      {partial_passthrough, "the last rotary_dim features turn, not the first", {rotary_offset, end}},
      {partial_passthrough, "the features that turn begin at twice rotary_offset", {rotary_offset, times, 2}},
      {partial_passthrough, "the features that turn begin at half of rotary_offset", {rotary_offset, times, 0.5}},
      {scaling_config,
       "the partial factor is applied twice: rotary_dim^2 / head_dim features turn",
       {rotary_dim, over_head}},
  };
  for (const auto& one : rows) add(all, one.bug_class, one.words, one.set);
}

void add_mixes(Rows& all) {
  constexpr auto minus = [](Product product) { return static_cast<std::int8_t>(-product); };
  const struct {
    BugClass bug_class;
    const char* words;
    Mix mix;
  } rows[] = {
      {sign_direction, "the inverse rotation: sin is negated", {{a_cos, b_sin}, {b_cos, minus(a_sin)}}},
      {sign_direction, "cos and sin are exchanged", {{a_sin, minus(b_cos)}, {b_sin, a_cos}}},
      {sign_direction,
       "cos and sin are exchanged, and the rotation is inverse",
       {{a_sin, b_cos}, {b_sin, minus(a_cos)}}},
      {sign_direction,
       "the minus is missing: (a, b) becomes (a cos + b sin, b cos + a sin)",
       {{a_cos, b_sin}, {b_cos, a_sin}}},
      {sign_direction,
       "one minus too many: (a, b) becomes (a cos - b sin, b cos - a sin)",
       {{a_cos, minus(b_sin)}, {b_cos, minus(a_sin)}}},
      {sign_direction,
       "a reflection: (a, b) becomes (a cos + b sin, a sin - b cos)",
       {{a_cos, b_sin}, {a_sin, minus(b_cos)}}},
      {sign_direction,
       "the second result is negated: (a, b) becomes (a cos - b sin, -b cos - a sin)",
       {{a_cos, minus(b_sin)}, {minus(b_cos), minus(a_sin)}}},
      {sign_direction, "cos is negated", {{minus(a_cos), minus(b_sin)}, {minus(b_cos), a_sin}}},
      {sign_direction, "the result is negated", {{minus(a_cos), b_sin}, {minus(b_cos), minus(a_sin)}}},
      {sign_direction, "the two results of a pair are exchanged", {{a_cos, minus(b_sin)}, {b_cos, a_sin}, true}},
      {sign_direction,
       "the two features of a pair are exchanged before they turn",
       {{b_cos, minus(a_sin)}, {a_cos, b_sin}}},
      {sign_direction, "only the products with cos are written", {{a_cos}, {b_cos}}},
      {sign_direction, "only the products with sin are written", {{minus(b_sin)}, {a_sin}}},
      {launch_limits,
       "each feature is combined with itself, not with its partner",
       {{a_cos, minus(a_sin)}, {b_cos, b_sin}}},
      {launch_limits,
       "the first feature of each pair is combined with itself, not with its partner",
       {{a_cos, minus(a_sin)}, {b_cos, a_sin}}},
      {launch_limits,
       "the first feature of each pair is used as the second one too",
       {{a_cos, minus(a_sin)}, {a_cos, a_sin}}},
  };
  for (const auto& one : rows) add(all, one.bug_class, one.words, one.mix);
}

void add_writes(Rows& all) {
  using enum Write::Fate;
  using Part = Write::Part;
  const struct {
    BugClass bug_class;
    const char* words;
    Write write;
  } rows[] = {
      {strides_memory_race, "the second result is made from the first one that was just written", {from_first}},
      {strides_memory_race, "results are added to what the output held, which should be overwritten", {added}},
      {strides_memory_race, "the output is never written", {not_written}},
      {strides_memory_race, "the output is the input, unrotated", {copied}},
      {strides_memory_race, "the output is all zeros", {zero}},
      {partial_passthrough, "the rotary features are copied unrotated", {copied, Part::rotary}},
      {partial_passthrough, "pass-through features are never written", {not_written, Part::passed}},
      {partial_passthrough, "pass-through features are written as zeros", {zero, Part::passed}},
      {partial_passthrough, "pass-through features are written as ones", {one, Part::passed}},
      {pipeline, "the rotation is applied twice", {twice}},
  };
  for (const auto& row : rows) add(all, row.bug_class, row.words, row.write);
}

void add_strides(Rows& all) {
  using enum Stride::Side;
  using Of = Stride::Of;
  using As = Stride::As;
  using Whose = Stride::Whose;
  const auto of_sides = [&](BugClass bug_class, const char* of_input, const char* of_output, const char* of_both, Of of,
                            As as, Whose whose = Whose::both) {
    add(all, bug_class, of_input, Stride{input, of, as, whose});
    add(all, bug_class, of_output, Stride{output, of, as, whose});
    add(all, bug_class, of_both, Stride{both, of, as, whose});
  };
  of_sides(strides_memory_race, "the input is read as if it were contiguous",
           "the output is written as if it were contiguous",
           "input and output are addressed as if they were contiguous", Of::all, As::dense);
  constexpr const char* words[] = {"batch stride", "token stride", "head stride", "stride between features", "strides"};
  const struct {
    Whose whose;
    const char* output;
    const char* input;
  } tensors[] = {{Whose::both, "the output", "the input"},
                 {Whose::k, "the output of k", "the input k"},
                 {Whose::q, "the output of q", "the input q"}};
  for (const auto& one : tensors) {
    for (const Of of : {Of::batch, Of::token, Of::head, Of::feature, Of::all}) {
      const char* what = words[static_cast<std::size_t>(of)];
      add(all, strides_memory_race, fmt::format("{} is written with the {} of {}", one.output, what, one.input),
          Stride{output, of, As::other_side, one.whose});
      add(all, strides_memory_race, fmt::format("{} is read with the {} of {}", one.input, what, one.output),
          Stride{input, of, As::other_side, one.whose});
    }
  }
  of_sides(strides_memory_race, "the stride between features of the input is taken to be 1",
           "the stride between features of the output is taken to be 1", "the stride between features is taken to be 1",
           Of::feature, As::dense);
  of_sides(strides_memory_race, "the head stride of the input is taken to be head_dim",
           "the head stride of the output is taken to be head_dim", "the head stride is taken to be head_dim", Of::head,
           As::dense);
  of_sides(heads_batch_qk, "the token stride of the input is used as its head stride",
           "the token stride of the output is used as its head stride", "the token stride is used as the head stride",
           Of::head, As::of_token);
  of_sides(strides_memory_race, "the token stride of the input is taken to be heads * head_dim",
           "the token stride of the output is taken to be heads * head_dim",
           "the token stride is taken to be heads * head_dim", Of::token, As::dense);
  of_sides(strides_memory_race, "the batch stride of the input is taken to be seq * token stride",
           "the batch stride of the output is taken to be seq * token stride",
           "the batch stride is taken to be seq * token stride", Of::batch, As::of_tokens);
  of_sides(heads_batch_qk, "the input is read as if heads came before tokens in memory",
           "the output is written as if heads came before tokens in memory",
           "input and output are addressed as if heads came before tokens in memory", Of::all, As::heads_first);
  of_sides(heads_batch_qk, "the input k is read with the head stride of q",
           "the output of k is written with the head stride of q's output", "k is addressed with the head stride of q",
           Of::head, As::of_q, Whose::k);
  of_sides(heads_batch_qk, "the input k is read with the strides of q",
           "the output of k is written with the strides of q's output", "k is addressed with the strides of q", Of::all,
           As::of_q, Whose::k);
  add(all, strides_memory_race, "negative strides are taken for positive ones", Stride{both, Of::all, As::positive});
}

std::string words_of(const char* values, const Grid& to) {
  using enum Grid::Kind;
  const auto steps = std::int64_t{1} << to.bits;
  switch (to.kind) {
    case nearest: return fmt::format("{} rounded to {}", values, name(to.type));
    case cut_off: return fmt::format("{} truncated to {}", values, name(to.type));
    case tf32: return fmt::format("{} rounded to TF32 (10 bits)", values);
    case type_of_q: return fmt::format("{} rounded to the type of q", values);
    case output_cut_off: return fmt::format("{} cut off to the output's type, not rounded", values);
    case steps_of_bits: return fmt::format("{} multiples of 1/{}", values, steps);
    case clipped_steps: return fmt::format("{} multiples of 1/{} from -8 to 8", values, steps);
    case below_one: return fmt::format("{} fixed-point numbers of {} bits and a sign", values, to.bits);
  }
  return {};
}

void add_roundings(Rows& all) {
  using enum Grid::Kind;
  const auto add_all = [&](unsigned stages, const char* values, const std::vector<Grid>& grids,
                           BugClass bug_class = precision) {
    for (const Grid& to : grids) add(all, bug_class, words_of(values, to), Round{stages, to});
  };
  const std::vector<Grid> types{{nearest, DType::bf16}, {nearest, DType::f16}, {nearest, DType::f32}};
  const std::vector<Grid> cut{{cut_off, DType::bf16}, {cut_off, DType::f16}, {cut_off, DType::f32}};
  const std::vector<Grid> own{{type_of_q}};
  std::vector<Grid> narrow = types;
  narrow.push_back({tf32});
  const auto of_bits = [](Grid::Kind kind, std::initializer_list<int> bits) {
    std::vector<Grid> grids;
    for (const int n : bits) grids.push_back({kind, DType::f32, n});
    return grids;
  };
  add_all(of_base, "the base is", {{nearest, DType::bf16}, {nearest, DType::f16}}, frequency_base);
  add_all(of_factor, "the attention factor is", types);
  add_all(of_position, "positions are", types);
  add_all(of_position, "positions are", own);
  add_all(of_theta, "theta is", narrow);
  add_all(of_theta, "theta is", own);
  add_all(of_theta, "theta is", cut);
  add_all(of_angle, "the angle is", narrow);
  add_all(of_angle, "the angle is", own);
  add_all(of_position | of_theta | of_angle, "position, theta and their product are", narrow);
  add_all(of_position | of_theta | of_angle, "position, theta and their product are", own);
  add_all(of_own_turn, "cos and sin, computed by the kernel, are", narrow);
  add_all(of_turn, "cos and sin are", narrow);
  add_all(of_turn, "cos and sin are", cut);
  add_all(of_turn, "cos and sin are", of_bits(steps_of_bits, {4, 6, 8}));
  add_all(of_turn, "cos and sin are", of_bits(below_one, {7, 11, 12, 14, 15, 16}));
  add_all(of_input, "inputs are", narrow);
  add_all(of_input, "inputs are", cut);
  add_all(of_result, "results are", narrow);
  add_all(of_result, "results are", cut);
  add_all(of_result, "results are", of_bits(steps_of_bits, {4, 6, 8}));
  add_all(of_result, "results are", of_bits(clipped_steps, {4, 6, 8}));
  add_all(of_product | of_result, "products and results are", narrow);
  add_all(of_input | of_turn, "inputs, cos and sin are", narrow);
  add_all(of_input | of_turn | of_result, "inputs, cos, sin and results are", narrow);
  add_all(of_passed, "pass-through features are", types, partial_passthrough);
  add_all(of_passed, "pass-through features are", {{output_cut_off}}, partial_passthrough);
}

}  // namespace

const std::vector<Row>& table() {
  static const Rows all = [] {
    Rows rows;
    add_counts(rows);
    add_moves(rows);
    add_sets(rows);
    add_mixes(rows);
    add_writes(rows);
    add_strides(rows);
    add_roundings(rows);
    return rows;
  }();
  return all;
}

const Row& row_of(const Edit& edit) {
  for (const Row& row : table()) {
    if (row.edit == edit) return row;
  }
  throw std::logic_error("no row of the table of bugs has this edit");
}

}  // namespace rope::bugs
