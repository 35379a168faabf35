// Tokens that are done in tiles, runs and blocks, and get positions of other tokens.
#include <fmt/format.h>

#include "tools/diagnose/positions.hpp"

namespace rope::diagnosis {
namespace {

using positions::add;
using positions::of;

constexpr double holds_all = 0.01;  // one tile or run holds a small call, as simpler causes say

std::int64_t length_of_runs(const RowContext& s, std::int64_t runs) {
  return (s.call.q.shape[0] * s.call.q.shape[1] + runs - 1) / runs;
}

// Counted on from the first token of a run of so many tokens of all batches.
long double counted_on(const RowContext& s, int axis, std::int64_t length) {
  const std::int64_t tokens = s.call.q.shape[1], number = s.batch * tokens + s.seq;
  const std::int64_t first = number / length * length;
  return of(s, axis, first / tokens, first % tokens) + static_cast<long double>(number - first);
}

// The tokens of all batches come in runs of one size. A run's first position is right, and the others count on from it.
void add_runs_over_batches(Hypotheses& all) {
  for (const std::int64_t runs : {2, 3, 4, 8, 16}) {
    add(all, BugClass::varlen_packing_cp,
        fmt::format("the tokens of all batches come in {} runs: positions count on from a run's first token into the "
                    "next batch",
                    runs),
        [=](const RowContext& s, int a, long double) { return counted_on(s, a, length_of_runs(s, runs)); });
    all.back().applies = [](const Call& call) { return call.q.shape[0] > 1; };
  }
  for (const std::int64_t length : {8, 16, 32, 64, 128}) {
    add(
        all, BugClass::varlen_packing_cp,
        fmt::format("in each tile of {} tokens of all batches, positions count on into the next batch", length),
        [=](const RowContext& s, int a, long double) { return counted_on(s, a, length); }, holds_all);
    all.back().applies = [](const Call& call) { return call.q.shape[0] > 1; };
  }
  // Only the batch of the first token is looked up.
  const auto of_first_batch = [&](std::string words, auto length_of) {
    add(
        all, BugClass::varlen_packing_cp,
        fmt::format(
            "the tokens of all batches come in {}: all of one get the positions of the batch in which it begins",
            words),
        [=](const RowContext& s, int a, long double) {
          const std::int64_t tokens = s.call.q.shape[1], number = s.batch * tokens + s.seq, length = length_of(s);
          return of(s, a, number / length * length / tokens, s.seq);
        },
        holds_all);
    all.back().applies = [](const Call& call) { return call.q.shape[0] > 1; };
  };
  for (const std::int64_t runs : {2, 3, 4, 8}) {
    of_first_batch(fmt::format("{} runs", runs), [=](const RowContext& s) { return length_of_runs(s, runs); });
  }
  for (const std::int64_t length : {4, 8, 16, 32, 64}) {
    of_first_batch(fmt::format("tiles of {}", length), [=](const RowContext&) { return length; });
  }
}

// Positions of a tile's tokens, or of other tokens and batches.
void add_tiles(Hypotheses& all) {
  for (int n : {2, 4, 8, 16, 32}) {
    add(all, BugClass::position_offset, fmt::format("the position grows by one only every {} tokens", n),
        [=](const RowContext& s, int a, long double) {
          return of(s, a, s.batch, 0) + static_cast<long double>(s.seq / n);
        });
  }
  for (int n : {2, 4, 8, 16}) {
    add(all, BugClass::position_offset,
        fmt::format("tokens left over from blocks of {} get the position of the last token in a block", n),
        [=](const RowContext& s, int a, long double p) {
          const std::int64_t whole = s.call.q.shape[1] / n * n;
          return s.seq < whole || whole == 0 ? p : of(s, a, s.batch, whole - 1);
        });
  }
  for (int n : {16, 32, 64, 128, 256}) {
    add(all, BugClass::position_offset,
        fmt::format("each chunk of {} tokens starts at the last position of the chunk before", n),
        [=](const RowContext& s, int, long double p) { return p - static_cast<long double>(s.seq / n); });
  }
  for (int n : {4, 8, 16, 32, 64, 128, 256}) {
    add(all, BugClass::position_offset,
        fmt::format("each chunk of {} tokens starts at the first chunk's position again", n),
        [=](const RowContext& s, int, long double p) { return p - static_cast<long double>(s.seq / n * n); });
  }
  // The positions go through a buffer of this many tokens.
  for (const std::int64_t n : {16, 32, 64, 128, 256}) {
    add(all, BugClass::position_offset,
        fmt::format("counted over all batches, tokens from {} on get the positions of tokens 0, 1, .. again", n),
        [=](const RowContext& s, int a, long double) {
          const std::int64_t token = (s.batch * s.call.q.shape[1] + s.seq) % n;
          return of(s, a, token / s.call.q.shape[1], token % s.call.q.shape[1]);
        });
  }
}

// The tokens are divided among this many blocks, the first of which get one token more than the others.
void add_uneven_blocks(Hypotheses& all) {
  for (const std::int64_t blocks : {2, 3, 4, 8, 16}) {
    add(all, BugClass::position_offset,
        fmt::format(
            "of {} blocks of tokens, whose lengths differ by one, each is taken to begin at its number times its "
            "own length",
            blocks),
        [=](const RowContext& s, int a, long double) {
          const std::int64_t tokens = s.call.q.shape[1], length = tokens / blocks, longer = tokens % blocks;
          const bool in_longer = s.seq < longer * (length + 1);
          const std::int64_t own = in_longer ? length + 1 : length;
          const std::int64_t rest = in_longer ? s.seq : s.seq - longer * (length + 1);
          const std::int64_t block = (in_longer ? 0 : longer) + rest / std::max<std::int64_t>(own, 1);
          return of(s, a, s.batch, block * own + rest % std::max<std::int64_t>(own, 1));
        });
    all.back().applies = [=](const Call& call) { return call.q.shape[1] % blocks != 0; };
  }
  for (const std::int64_t n : {4, 8, 16, 32, 64, 128}) {
    add(all, BugClass::position_offset,
        fmt::format(
            "tokens left over from tiles of {} are taken to begin at the number of tiles before them times their "
            "own number",
            n),
        [=](const RowContext& s, int a, long double p) {
          const std::int64_t left = s.call.q.shape[1] % n, tile = s.seq / n;
          return s.seq < s.call.q.shape[1] - left ? p : of(s, a, s.batch, tile * left + s.seq % n);
        });
    all.back().applies = [=](const Call& call) { return call.q.shape[1] > n && call.q.shape[1] % n != 0; };
  }
}

}  // namespace

void add_tile_hypotheses(Hypotheses& all) {
  add_runs_over_batches(all);
  add_tiles(all);
  add_uneven_blocks(all);
}

}  // namespace rope::diagnosis
