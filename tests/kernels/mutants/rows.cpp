// The mutants that are rows of the table of bugs: an edit, and the calls or elements in which it is made. What no row
// can say is a class of its own in the other files.
#include <array>
#include <numbers>
#include <optional>
#include <utility>

#include "tests/kernels/mutants/edited.hpp"
#include "tools/bugs/table.hpp"

namespace rope::mutants {
namespace {

using bugs::a_cos;
using bugs::a_sin;
using bugs::b_cos;
using bugs::b_sin;
using bugs::Count;
using bugs::Grid;
using bugs::Mix;
using bugs::Move;
using bugs::Round;
using bugs::Set;
using bugs::Stride;
using bugs::Write;

struct RowMutant {
  const char* id;
  bugs::Edit edit;
  Guard guard = {};
  std::optional<BugClass> bug_class = {};  // where the guard decides it
};

constexpr Mix inverse{{a_cos, b_sin}, {b_cos, -a_sin}};
constexpr Set other_pairing{Set::What::pairing, Set::To::other};
constexpr Write not_written{Write::Fate::not_written}, copied{Write::Fate::copied}, twice{Write::Fate::twice};
constexpr Write from_first{Write::Fate::from_first};
constexpr Write tail_not_written{Write::Fate::not_written, Write::Part::passed};
constexpr Write tail_zero{Write::Fate::zero, Write::Part::passed}, tail_one{Write::Fate::one, Write::Part::passed};
constexpr Set without_factor{Set::What::factor, Set::To::number, 1};

constexpr Round rounded(unsigned at, DType type) { return {at, {Grid::Kind::nearest, type}}; }
constexpr Round in_tf32(unsigned at) { return {at, {Grid::Kind::tf32}}; }
constexpr Count counted(Count::How how, std::int64_t number = 0) { return {how, number}; }
constexpr Set of_base(Set::To to, double number = 1) { return {Set::What::base, to, number}; }

Literal of_type(rope_dtype dtype) { return {Of::dtype, Literal::Is::equal, dtype}; }
Literal exactly(Of of, std::int64_t n) { return {of, Literal::Is::equal, n}; }
Literal is(Of fact) { return {fact}; }

using enum DType;
using How = Count::How;
using Side = Stride::Side;
using As = Stride::As;

const auto all_rows = std::to_array<RowMutant>({
    {"PAIR-01", other_pairing, {is(Of::interleaved)}},
    {"PAIR-ALWAYS-INTERLEAVED", other_pairing, {is(Of::half_split)}},
    {"PAIR-PARTIAL", other_pairing, {is(Of::interleaved), is(Of::partial)}},
    {"PAIR-DECODE-IN-PLACE", other_pairing, {is(Of::half_split), is(Of::in_place), exactly(Of::tokens, 1)}},
    {"SIGN-01", inverse},
    {"SIGN-03", Mix{{a_sin, -b_cos}, {b_sin, a_cos}}},
    {"SIGN-REFLECTION", Mix{{a_cos, b_sin}, {b_cos, a_sin}}},
    {"SIGN-INTERLEAVED", inverse, {is(Of::interleaved)}},
    {"SIGN-CONJUGATE", Mix{{a_cos, -b_sin}, {-b_cos, -a_sin}}},
    {"SIGN-LEFT-OVER", inverse, {left_over(Of::pair, 8)}},
    {"SIGN-KEY-TABLES", inverse, {is(Of::key), is(Of::tables), is(Of::interleaved)}},
    {"FREQ-01", of_base(Set::To::number, 10000)},
    {"FREQ-05", of_base(Set::To::inverse)},
    {"FREQ-WHOLE-BASE", of_base(Set::To::whole)},
    {"SCALE-23", Set{Set::What::rotary_dim, Set::To::over_head}},
    {"SCALE-FACTOR-IGNORED", without_factor},
    {"SCALE-QUERY-ONLY", without_factor, {is(Of::key), exactly(Of::rule, ROPE_SCALING_YARN)}},
    {"PREC-01", rounded(bugs::of_theta, bf16)},
    {"PREC-F16-THETA", rounded(bugs::of_theta, f16)},
    {"PREC-F32-THETA", rounded(bugs::of_theta, f32)},
    {"PREC-BF16-256", rounded(bugs::of_theta, bf16), {of_type(ROPE_BF16), exactly(Of::head_dim, 256)}},
    {"PREC-03", rounded(bugs::of_angle, f16), {from(Of::dtype, ROPE_F16)}},
    {"PREC-BF16-ANGLE", rounded(bugs::of_angle, bf16), {from(Of::dtype, ROPE_F16)}},
    {"PREC-F32-ANGLE", rounded(bugs::of_angle, f32)},
    {"PREC-05", rounded(bugs::of_turn, bf16), {of_type(ROPE_F32)}},
    {"PREC-F16-TABLES", rounded(bugs::of_own_turn, f16), {of_type(ROPE_F32)}},
    {"PREC-BF16-TABLES", rounded(bugs::of_own_turn, bf16), {of_type(ROPE_F16)}},
    {"PREC-07", rounded(bugs::of_position | bugs::of_theta | bugs::of_angle, bf16)},
    {"PREC-TF32-ANGLE", in_tf32(bugs::of_position | bugs::of_theta | bugs::of_angle)},
    {"PREC-11", copied, {of_type(ROPE_BF16), exactly(Of::head_dim, 128)}, BugClass::precision},
    {"PREC-BF16-POSITIONS", rounded(bugs::of_position, bf16)},
    {"PREC-F16-POSITIONS", rounded(bugs::of_position, f16)},
    {"PREC-F32-POSITIONS", rounded(bugs::of_position, f32)},
    {"PREC-BF16-FACTOR", rounded(bugs::of_factor, bf16)},
    {"PREC-BF16-INPUT", rounded(bugs::of_input, bf16), {of_type(ROPE_F32)}},
    {"PREC-TF32", in_tf32(bugs::of_input), {of_type(ROPE_F32)}},
    {"PREC-F64-AS-F32", rounded(bugs::of_turn, f32), {of_type(ROPE_F64)}},
    {"PREC-F32-RESULT", rounded(bugs::of_result, f32), {of_type(ROPE_F64)}},
    {"PREC-F16-RESULT", rounded(bugs::of_result, f16), {of_type(ROPE_F32)}},
    {"PREC-FIXED-POINT", Round{bugs::of_result, {Grid::Kind::clipped_steps, f32, 4}}},
    {"POS-03", counted(How::token), {is(Of::given)}},
    {"POS-INT16", counted(How::narrow, 16)},
    {"POS-INT32", counted(How::narrow, 32)},
    {"POS-CONSECUTIVE", Move{Move::Role::position, Move::Dimension::token, Move::Map::first, 1, true}},
    {"POS-FROM-ONE", counted(How::plus, 1)},
    {"POS-LIMIT", counted(How::saturated, 131072)},
    {"POS-OFFSET-TWICE", counted(How::plus_offset), {is(Of::counted)}},
    {"POS-DECODE-STALE", counted(How::plus, -1), {exactly(Of::tokens, 1), from(Of::largest_position, 1)}},
    {"POS-BUFFER-1024", Move{Move::Role::given_position, Move::Dimension::token, Move::Map::wrapped, 1024}},
    {"VAR-01", Move{Move::Role::position, Move::Dimension::batch, Move::Map::first}},
    {"VAR-64-SEQUENCES", Move{Move::Role::given_position, Move::Dimension::batch, Move::Map::saturated, 64}},
    {"VAR-LAST-SEQUENCE",
     not_written,
     {is(Of::own_positions), from(Of::batches, 2), last(Of::batch)},
     BugClass::varlen_packing_cp},
    {"TAB-09", counted(How::wrapped, 2048)},
    {"TAB-FACTOR", without_factor, {is(Of::tables)}, BugClass::table_cache},
    {"TAB-FROM-40000",
     inverse,
     {is(Of::tables), from(Of::largest_position, 40'000), up_to(Of::largest_position, 49'999)},
     BugClass::table_cache},
    {"TAB-FROM-100000", inverse, {is(Of::tables), from(Of::largest_position, 100'000)}, BugClass::table_cache},
    {"PART-01", Set{Set::What::rotary_dim, Set::To::head_dim}},
    {"OFF-IGNORED", Set{Set::What::rotary_offset, Set::To::number, 0}},
    {"PART-05", Set{Set::What::rotary_offset, Set::To::end}},
    {"OFF-DOUBLED", Set{Set::What::rotary_offset, Set::To::times, 2}, {is(Of::interleaved)}},
    {"PART-03", copied, {is(Of::partial)}, BugClass::partial_passthrough},
    {"PART-UNWRITTEN", tail_not_written},
    {"PART-KEY-TAIL", tail_not_written, {is(Of::key)}},
    {"PART-TAIL-VECTORS", tail_not_written, {left_over(Of::passed, 8)}},
    {"HEAD-AS-TOKEN", counted(How::plus_head), {is(Of::counted), exactly(Of::tokens, 1)}},
    {"HEAD-ODD-LAST", copied, {from(Of::heads, 2), left_over(Of::head, 2)}, BugClass::heads_batch_qk},
    {"HEAD-ONE-KEY", copied, {is(Of::key), exactly(Of::heads, 1), from(Of::batch, 1)}, BugClass::heads_batch_qk},
    {"HEAD-FAST-DECODE",
     copied,
     {is(Of::key), is(Of::in_place), of_type(ROPE_BF16), exactly(Of::tokens, 1), exactly(Of::head_dim, 128)},
     BugClass::heads_batch_qk},
    {"BATCH-DECODE", copied, {exactly(Of::tokens, 1), from(Of::batch, 1)}, BugClass::heads_batch_qk},
    {"BATCH-FIRST-INPUT", Move{Move::Role::input, Move::Dimension::batch, Move::Map::first}},
    {"HEAD-03", Stride{Side::both, Stride::Of::head, As::of_q, Stride::Whose::k}},
    {"HEAD-05", Stride{Side::both, Stride::Of::head, As::of_token}, {is(Of::in_place), exactly(Of::tokens, 1)}},
    {"MEM-01", Stride{Side::input, Stride::Of::all, As::dense}},
    {"MEM-OUT-CONTIGUOUS", Stride{Side::output, Stride::Of::all, As::dense}, {is(Of::out_of_place)}},
    {"MEM-EXPANDED", Stride{Side::input, Stride::Of::all, As::dense}, {is(Of::expanded)}},
    {"MEM-KEY-DENSE", Stride{Side::both, Stride::Of::all, As::dense}, {is(Of::key), is(Of::dense_query)}},
    {"MEM-KEY-OUT-DENSE", Stride{Side::output, Stride::Of::all, As::dense}, {is(Of::key), is(Of::dense_query_out)}},
    {"MEM-FEATURE-STRIDE", Stride{Side::both, Stride::Of::feature, As::dense}},
    {"MEM-STRIDES-OF-INPUT", Stride{Side::output, Stride::Of::all, As::other_side}},
    {"MEM-STRIDE-SIGN", Stride{Side::both, Stride::Of::all, As::positive}},
    {"MEM-BATCH-IN-PLACE", Stride{Side::both, Stride::Of::batch, As::of_tokens}, {is(Of::in_place)}},
    {"MEM-03", from_first, {is(Of::in_place)}},
    {"MEM-13", copied, {is(Of::key)}},
    {"PIPE-01", twice},
    {"PIPE-05", Set{Set::What::factor, Set::To::times, std::numbers::log2e}, {is(Of::query)}},
    {"PIPE-KEY-TWICE", twice, {is(Of::key), exactly(Of::tokens, 1)}},
    {"PIPE-SOFTMAX-SCALE", Set{Set::What::factor, Set::To::over_root_head, 1}, {is(Of::query)}},
    {"SHP-ONE-HEAD-DIM", copied, {of_type(ROPE_F16), exactly(Of::head_dim, 22)}, BugClass::precision},
    {"LIM-01", not_written, {from(Of::token, 65535)}, BugClass::launch_limits},
    {"LIM-BATCHES", not_written, {from(Of::batch, 65535)}, BugClass::launch_limits},
    {"LIM-HEADS", not_written, {from(Of::head, 65535)}, BugClass::launch_limits},
    {"LIM-03", not_written, {from(Of::feature, 1024)}, BugClass::launch_limits},
    {"LIM-ROWS", not_written, {from(Of::row, 65536)}, BugClass::launch_limits},
    {"LIM-KEY-TOKENS", not_written, {is(Of::key), from(Of::token, 65535)}, BugClass::launch_limits},
    {"LIM-GRADIENT-TOKENS", not_written, {is(Of::backward), from(Of::token, 65535)}, BugClass::launch_limits},
    {"LIM-HALF-TOKENS", not_written, {of_type(ROPE_F16), from(Of::token, 65535)}, BugClass::launch_limits},
    {"LIM-FOUR-TOKENS", not_written, {from(Of::token, 262140)}, BugClass::launch_limits},
    {"LIM-BLOCKS", not_written, {from(Of::row, 8), left_over(Of::row, 8)}, BugClass::launch_limits},
    {"LIM-ODD-TOKENS",
     not_written,
     {is(Of::in_place), from(Of::token, 1), left_over(Of::token, 2)},
     BugClass::launch_limits},
    {"LIM-LAST-OF-2049",
     copied,
     {is(Of::in_place), exactly(Of::batches, 2), exactly(Of::tokens, 2049), last(Of::token)},
     BugClass::launch_limits},
    {"LIM-PAIRS", copied, {from(Of::pair, 128)}, BugClass::launch_limits},
    {"LIM-KEY-HEADS", copied, {is(Of::key), from(Of::head, 32)}, BugClass::launch_limits},
    {"LIM-LONG-VECTORS", copied, {from(Of::tokens, 128), left_over(Of::pair, 4)}, BugClass::launch_limits},
    {"BWD-01", tail_one, {is(Of::backward)}, BugClass::backward},
    {"BWD-TAIL-ZERO", tail_zero, {is(Of::backward)}, BugClass::backward},
    {"BWD-KEY", copied, {is(Of::backward), is(Of::key)}, BugClass::backward},
    {"BWD-IN-PLACE", from_first, {is(Of::backward), is(Of::in_place)}, BugClass::backward},
    {"BWD-HALF-SPLIT", other_pairing, {is(Of::backward), is(Of::interleaved)}, BugClass::backward},
    {"BWD-NO-FACTOR", without_factor, {is(Of::backward)}, BugClass::backward},
    {"BWD-INVERSE", Set{Set::What::factor, Set::To::inverse}, {is(Of::backward)}, BugClass::backward},
    {"BWD-POSITIONS", counted(How::token), {is(Of::backward), is(Of::given)}, BugClass::backward},
    {"BWD-NARROW", rounded(bugs::of_result, bf16), {is(Of::backward), of_type(ROPE_F32)}, BugClass::backward},
});

// A kernel is a function without arguments of its own, so each row has one.
template <std::size_t i>
const Edited& edited() {
  static const Edited kernel(all_rows[i].edit, all_rows[i].guard);
  return kernel;
}

struct Words {
  std::string bug_class, sentence;
};

Words words_of(const RowMutant& one) {
  const bugs::Row& row = bugs::row_of(one.edit);
  const std::string where = words_of(one.guard);
  return {std::string(word_of(one.bug_class.value_or(row.bug_class))),
          where.empty() ? row.words : row.words + ", " + where};
}

template <std::size_t... i>
std::vector<Mutant> listed(std::index_sequence<i...>) {
  static const Words words[] = {words_of(all_rows[i])...};
  return {{all_rows[i].id, words[i].bug_class.c_str(), words[i].sentence.c_str(),
           [](const rope_call* call) { return edited<i>().apply(call); }, []() -> const Kernel& { return edited<i>(); },
           edited<i>().stages()}...};
}

}  // namespace

Mutants row_mutants() {
  static const std::vector<Mutant> all = listed(std::make_index_sequence<all_rows.size()>());
  return all;
}

}  // namespace rope::mutants
