// Diagnoses of tokens that get another position: runs and tiles that count on, sequences, batches, axes.
#include <algorithm>

#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// The right position of each token.
struct RightPositions {
  explicit RightPositions(const Call& given) : call(given), batches(given.q.shape[0]), tokens(given.q.shape[1]) {
    for (std::int64_t b = 0; b < batches; ++b) {
      for (std::int64_t s = 0; s < tokens; ++s) {
        const std::vector<std::int64_t> of_axes = token_position(call, b, s);
        all.insert(all.end(), of_axes.begin(), of_axes.end());
      }
    }
  }
  std::int64_t at(int axis, std::int64_t batch, std::int64_t seq) const {
    return all.at(static_cast<std::size_t>((batch * tokens + seq) * call.axes + axis));
  }

  const Call& call;
  const std::int64_t batches, tokens;
  std::vector<std::int64_t> all;
};

using TokenPosition =
    std::function<std::int64_t(const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq)>;

// A kernel that gives each token the position `of`, with angles from one source only.
Fake turning_by(const TokenPosition& of, std::uint32_t source = ROPE_BIT(ROPE_COMPUTED)) {
  Claims claims = plain_claims();
  claims.capabilities.angle_sources = source;
  if (source == ROPE_BIT(ROPE_TABLES)) claims.capabilities.max_position = 131071;
  return with_modified_call(
      [of](Call& call) {
        if (call.q.count() == 0) return;
        const RightPositions right(call);
        Tensor given = Tensor::contiguous(DType::i64, {call.axes, right.batches, right.tokens});
        std::int64_t index = 0;
        for (int axis = 0; axis < call.axes; ++axis) {
          for (std::int64_t b = 0; b < right.batches; ++b) {
            for (std::int64_t s = 0; s < right.tokens; ++s) store_integer(given, index++, of(right, axis, b, s));
          }
        }
        call.positions = given;
        call.position_offset = 0;
        call.seqlen_offsets = call.cu_seqlens = std::nullopt;
      },
      claims);
}

// The same for the tokens of all batches, by their number.
Fake turning_rows_by(
    const std::function<std::int64_t(const RightPositions&, int axis, std::int64_t number, std::int64_t all)>& of) {
  return turning_by([of](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
    return of(right, axis, batch * right.tokens + seq, right.batches * right.tokens);
  });
}

std::int64_t border(const Call& call, std::int64_t i) { return integer_at(*call.cu_seqlens, i); }

std::int64_t start_of(const Call& call, std::int64_t sequence) {
  return call.seqlen_offsets ? integer_at(*call.seqlen_offsets, sequence) : call.position_offset;
}

// A kernel that finds the sequence of each token of a packed row by `sequence_of`.
Fake in_sequences(std::function<std::int64_t(const Call&, std::int64_t seq)> sequence_of) {
  return turning_by([=](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
    if (!right.call.cu_seqlens) return right.at(axis, batch, seq);
    const std::int64_t sequence = sequence_of(right.call, seq);
    return start_of(right.call, sequence) + seq - border(right.call, sequence);
  });
}

// The sequence of a token, for a kernel that goes on by at most one sequence at each token.
std::int64_t walked_to(const Call& call, std::int64_t seq, bool only_at_borders) {
  std::int64_t i = 0;
  for (std::int64_t s = 0; s <= seq; ++s) {
    if (i + 1 >= call.sequences()) continue;
    if (only_at_borders ? s == border(call, i + 1) : s >= border(call, i + 1)) ++i;
  }
  return i;
}

const std::vector<std::string> given{"ROT-01", "POS-03"}, packed{"ROT-01", "POS-07"};

}  // namespace

TEST_CASE("Positions that are taken to count on are named, with what decides it") {
  expect(
      "by the second", turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
        const std::int64_t begin = seq / 16 * 16, from = right.at(axis, batch, begin);
        const bool counts = begin + 1 < right.tokens && right.at(axis, batch, begin + 1) == from + 1;
        return counts ? from + seq - begin : right.at(axis, batch, seq);
      }),
      {"in each block of 16 tokens, positions are taken to count on from the first if the second does", {}, {}, given});
  expect("by the span", turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           std::int64_t least = right.at(axis, batch, 0), most = least;
           for (std::int64_t s = 1; s < right.tokens; ++s) {
             least = std::min(least, right.at(axis, batch, s));
             most = std::max(most, right.at(axis, batch, s));
           }
           return most - least == right.tokens - 1 ? least + seq : right.at(axis, batch, seq);
         }),
         {"positions are taken to count on from the smallest if the largest is as far away as then, in any order",
          {},
          {},
          given});
  expect("by the last", turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           const std::int64_t from = right.at(axis, batch, 0), last = right.at(axis, batch, right.tokens - 1);
           return last - from == right.tokens - 1 ? from + seq : right.at(axis, batch, seq);
         }),
         {"positions are taken to count on from the first if the last is as far away as then, whatever lies between",
          {},
          {},
          given});
}

TEST_CASE("Runs and tiles of tokens that get positions of others are named, with their size") {
  expect("counts on into the next batch",
         turning_rows_by([](const RightPositions& right, int axis, std::int64_t number, std::int64_t) {
           const std::int64_t first = number / 16 * 16;
           return right.at(axis, first / right.tokens, first % right.tokens) + number - first;
         }),
         {"in each tile of 16 tokens of all batches, positions count on into the next batch", ""});
  expect("the batch of a run's first token",
         turning_rows_by([](const RightPositions& right, int axis, std::int64_t number, std::int64_t all) {
           const std::int64_t length = (all + 1) / 2, first = number / length * length;
           return right.at(axis, (all < 16 ? number : first) / right.tokens, number % right.tokens);
         }),
         {"the tokens of all batches come in 2 runs: all of one get the positions of the batch in which it begins",
          "only number of tokens of all batches 16 or more"});
  expect("the batch of a tile's first token",
         turning_rows_by([](const RightPositions& right, int axis, std::int64_t number, std::int64_t) {
           return right.at(axis, number / 8 * 8 / right.tokens, number % right.tokens);
         }),
         {"the tokens of all batches come in tiles of 8: all of one get the positions of the batch in which it begins",
          ""});
  expect("left over from tiles", with_modified_call([](Call& call) {
           if (!counts_from_offset(call) || call.axes > 1) return;
           const std::int64_t tokens = call.q.shape[1], left = tokens % 16;
           call.positions = Tensor::contiguous(DType::i64, {1, 1, tokens});
           call.positions->strides[1] = 0;
           for (std::int64_t s = 0; s < tokens; ++s) {
             const std::int64_t at = s < tokens - left ? s : s / 16 * left + s % 16;
             store_integer(*call.positions, s, call.position_offset + at);
           }
         }),
         {"tokens left over from tiles of 16 are taken to begin at the number of tiles before them times their own "
          "number",
          {},
          true,
          {"ROT-01", "SHP-01", "SHP-08"}});
}

TEST_CASE("What becomes of tokens behind an empty sequence is told apart") {
  expect("never left", in_sequences([](const Call& call, std::int64_t seq) { return walked_to(call, seq, true); }),
         {"an empty sequence is never left: the tokens behind it are counted on in it", {}, {}, packed});
  expect("late", in_sequences([](const Call& call, std::int64_t seq) { return walked_to(call, seq, false); }),
         {"each token leaves one sequence at most: behind an empty one, the next token is late", {}, {}, packed});
  expect("not counted", in_sequences([](const Call& call, std::int64_t seq) {
           std::int64_t borders = 0;
           for (std::int64_t i = 1; i < call.sequences(); ++i) {
             borders += border(call, i) <= seq && (i == 1 || border(call, i) != border(call, i - 1)) ? 1 : 0;
           }
           return borders;
         }),
         {"empty sequences are not counted: a token behind one gets the start and the first token of an earlier "
          "sequence",
          {},
          {},
          packed});
  expect("only the first token",
         turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           const Call& call = right.call;
           if (!call.cu_seqlens || !call.seqlen_offsets) return right.at(axis, batch, seq);
           const PlaceInSequence place = place_in_sequence(call, batch, seq);
           std::int64_t of = place.sequence;
           while (seq == place.first && of > 0 && border(call, of - 1) == seq) --of;
           return start_of(call, of) + seq - place.first;
         }),
         {"the first token of a sequence after empty ones gets the value of seqlen_offsets for the first of these",
          {},
          {},
          packed});
}

TEST_CASE("Positions of another axis, another batch or of none are named") {
  expect("two axes decide that a token is text",
         turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           const bool is_text = right.call.axes > 2 && right.at(1, batch, seq) == right.at(2, batch, seq);
           return right.at(is_text ? 0 : axis, batch, seq);
         }),
         {"a token with the same position on axes 1 and 2 is taken for text: all pairs follow axis 0",
          {},
          true,
          {"ROT-01", "ANG-07"}});
  expect("kept while one axis stands still",
         turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           while (right.call.axes > 1 && seq > 0 && right.at(0, batch, seq) == right.at(0, batch, seq - 1)) --seq;
           return right.at(axis, batch, seq);
         }),
         {"the row of the token before is kept while the position on axis 0 is the same; other axes are not compared"});
  expect("batches that start alike",
         turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           bool is_first = right.call.positions.has_value();
           for (int a = 0; a < right.call.axes; ++a) {
             for (std::int64_t b = 1; b < right.batches; ++b) is_first &= right.at(a, b, 0) == right.at(a, 0, 0);
           }
           return right.at(axis, is_first ? 0 : batch, seq);
         }),
         {"every batch gets the positions of the first batch",
          "only batches that all start at the same position",
          {},
          {"ROT-01", "POS-04"}});
  expect("nothing is rotated in calls with one token",
         turning_by([](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
           const bool is_lost = right.tokens == 1 && batch > 0 && counts_from_offset(right.call);
           return is_lost ? 0 : right.at(axis, batch, seq);
         }),
         {"the position is always 0: nothing is rotated", {}, {}, {"ROT-01", "POS-01", "POS-02"}});
  expect("wraps, of tables",
         turning_by(
             [](const RightPositions& right, int axis, std::int64_t batch, std::int64_t seq) {
               const std::int64_t far = counts_from_offset(right.call) ? 65536 : 0;
               return right.at(axis, batch, seq) - (right.call.position_offset >= far ? far : 0);
             },
             ROPE_BIT(ROPE_TABLES)),
         {"positions from 65536 on start again at 0", {}, {}, {"ANG-02", "ANG-03"}});
}
