// One change of one stage of rope's loop, as data: stage x operator x argument. Two programs read it and share no
// arithmetic: tools/diagnose makes a hypothesis of it (over the model, with bounds), tests/kernels/mutants a wrong
// kernel (over rope_call, with byte addresses).
#pragma once

#include <cstdint>
#include <variant>

#include "reference/dtype.hpp"

namespace rope::bugs {

// The stages at which values may be rounded, in the order of the loop. They are bits: some code rounds several.
enum Stage : unsigned {
  of_base = 1U << 0,
  of_factor = 1U << 1,
  of_position = 1U << 2,
  of_theta = 1U << 3,
  of_angle = 1U << 4,
  of_own_turn = 1U << 5,  // cos and sin that the kernel computes
  of_turn = 1U << 6,      // given tables, too
  of_input = 1U << 7,
  of_product = 1U << 8,
  of_result = 1U << 9,
  of_passed = 1U << 10  // features that do not turn
};

// The numbers to which values are rounded.
struct Grid {
  enum class Kind {
    nearest,  // of `type`; ties to even
    cut_off,  // of `type`, towards zero
    tf32,     // 10 bits behind the first
    type_of_q,
    output_cut_off,  // the type of the output, towards zero
    steps_of_bits,   // multiples of 2^-bits
    clipped_steps,   // the same, from -8 to 8
    below_one        // the same, less than 1
  };
  Kind kind = Kind::nearest;
  DType type = DType::f32;
  int bits = 0;

  bool operator==(const Grid&) const = default;
};

struct Round {
  unsigned at = 0;  // stages
  Grid to;

  bool operator==(const Round&) const = default;
};

// The two results of a pair (a, b) as sums of up to two products; negative: subtracted. 0: nothing.
enum Product : std::int8_t { a_cos = 1, a_sin = 2, b_cos = 3, b_sin = 4 };

struct Mix {
  std::int8_t first[2] = {}, second[2] = {};
  bool exchanged = false;  // each result is made with the other's cos and sin, and takes its place

  bool operator==(const Mix&) const = default;
};

// What becomes of elements.
struct Write {
  enum class Fate {
    not_written,
    copied,  // the input, unrotated
    zero,
    one,
    twice,      // turned a second time, by the same cos and sin
    added,      // to what the output held
    from_first  // the second result of a pair is made from the first, which was just written
  };
  enum class Part { all, rotary, passed };
  Fate fate = Fate::not_written;
  Part part = Part::all;

  bool operator==(const Write&) const = default;
};

// An index i of n, replaced by another one.
struct Move {
  enum class Role {
    position,        // whose position a token gets
    given_position,  // the same, where positions are given
    input,           // the row that is read
    output,          // the row that is written
    row              // both
  };
  enum class Dimension { batch, token, head };
  enum class Map {
    first,
    last,
    next,         // the last one's is its own
    next_around,  // the last one's is the first
    previous,
    reversed,
    first_of_block,  // of `block`
    saturated,       // block - 1 at most
    wrapped,         // i mod block
    reversed_in_block,
    transposed,  // as a matrix of `block` rows, where these hold all
    masked       // i & (n - 1)
  };
  Role role = Role::position;
  Dimension of = Dimension::token;
  Map map = Map::first;
  std::int64_t block = 1;
  bool counted_on = false;  // a position counts on from the other token's to its own

  bool operator==(const Move&) const = default;
};

// A position p, replaced by another number.
struct Count {
  enum class How {
    zero,
    token,             // its index
    plus,              // p + number
    wrapped,           // p mod number
    saturated,         // number - 1 at most
    narrow,            // p in `number` bits, with a sign
    from_end,          // sequence_length - 1 - p
    last_of_sequence,  // the tokens are the sequence's last
    plus_offset,
    plus_tokens,  // how many the call has
    plus_head
  };
  How how = How::zero;
  std::int64_t number = 0;

  bool operator==(const Count&) const = default;
};

// A parameter of the call, replaced by another value.
struct Set {
  enum class What { base, factor, rotary_dim, rotary_offset, pairing };
  enum class To {
    number,
    times,  // the number
    squared,
    inverse,
    root,
    whole,  // cut to a whole number
    head_dim,
    half,  // to an even number
    half_head,
    over_head,       // squared, over head_dim
    over_root_head,  // times the number, over sqrt(head_dim)
    end,             // of the head
    other            // of two
  };
  What what = What::base;
  To to = To::number;
  double number = 1;

  bool operator==(const Set&) const = default;
};

// A stride of q, k and their outputs, taken for another one.
struct Stride {
  enum class Side { input, output, both };
  enum class Whose { both, q, k };
  enum class Of { batch, token, head, feature, all };
  enum class As {
    dense,       // as if the tensor were contiguous
    other_side,  // the output's for the input, or the input's for the output
    of_q,        // for k
    of_token,    // the token stride
    of_tokens,   // the token stride times the tokens
    positive,    // without its sign
    heads_first  // as if heads came before tokens in memory
  };
  Side side = Side::both;
  Of of = Of::all;
  As as = As::dense;
  Whose whose = Whose::both;

  bool operator==(const Stride&) const = default;
};

using Edit = std::variant<Round, Mix, Write, Move, Count, Set, Stride>;

}  // namespace rope::bugs
