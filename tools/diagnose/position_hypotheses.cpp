// The position that a token is rotated by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/diagnose/positions.hpp"

namespace rope::diagnosis {

long double positions::of(const RowContext& s, int axis, std::int64_t batch, std::int64_t seq) {
  const std::vector<std::int64_t> all =
      token_position(s.call, std::clamp<std::int64_t>(batch, 0, s.call.q.shape[0] - 1),
                     std::clamp<std::int64_t>(seq, 0, s.call.q.shape[1] - 1));
  return static_cast<long double>(all[static_cast<std::size_t>(axis)]);
}

void positions::add(Hypotheses& all, BugClass bug_class, std::string sentence, Map map, double cost) {
  Hypothesis h{.bug_class = bug_class, .sentence = std::move(sentence), .cost = cost};
  h.change.position = std::move(map);
  all.push_back(std::move(h));
}

namespace {

using positions::add;
using positions::of;
using Map = positions::Map;

constexpr double of_tiles = 0.01;  // in small calls a tile holds all, as simpler causes say

constexpr double of_own_tables = 0.003;  // of single tokens, it says what position 0 says in fewer words

// The kernel's own table has too few rows for the call. For the missing ones it uses the last row, or starts
// again.
void add_own_tables(Hypotheses& all) {
  using Rows = std::int64_t (*)(const RowContext&);
  const struct {
    const char* words;
    Rows count;
  } tables[] = {
      {"is one row too short for the call's largest position",
       [](const RowContext& s) { return s.params.largest_position; }},
      {"is one row shorter than the sequence", [](const RowContext& s) { return s.call.sequence_length - 1; }},
      {"has only as many rows as the call has tokens", [](const RowContext& s) { return s.call.q.shape[1]; }},
  };
  for (const auto& table : tables) {
    for (const bool again : {false, true}) {
      add(all, BugClass::table_cache,
          fmt::format("the kernel's own table {}: positions beyond it get {}", table.words,
                      again ? "the first rows again" : "the last row"),
          [count = table.count, again](const RowContext& s, int, long double p) {
            const auto rows = static_cast<long double>(count(s));
            if (rows < 1 || p < rows) return p;
            return again ? std::fmod(p, rows) : rows - 1;
          });
      all.back().cost = of_own_tables;
    }
  }
}

// Sequences packed one after the other.
void add_packed(Hypotheses& all) {
  using Begins = std::function<bool(long double before, long double here)>;
  const struct {
    const char* where;
    Begins begins;
  } ways[] = {
      {"positions decrease", [](long double before, long double here) { return here < before; }},
      {"positions do not increase by one", [](long double before, long double here) { return here != before + 1; }}};
  for (const auto& way : ways) {
    const auto begins = [starts = way.begins](const RowContext& s, int a, std::int64_t seq) {
      return seq > 0 && seq < s.call.q.shape[1] && starts(of(s, a, s.batch, seq - 1), of(s, a, s.batch, seq));
    };
    const auto packed = [&](const char* sentence, Map map) {
      add(all, BugClass::varlen_packing_cp, fmt::format("{} (a packed sequence begins where {})", sentence, way.where),
          std::move(map));
    };
    packed("the first token of a packed sequence gets the next position of the sequence before it",
           [=](const RowContext& s, int a, long double p) {
             return begins(s, a, s.seq) ? of(s, a, s.batch, s.seq - 1) + 1 : p;
           });
    packed("the first token of a packed sequence is at position 0",
           [=](const RowContext& s, int a, long double p) { return begins(s, a, s.seq) ? 0 : p; });
    packed("the last token of a packed sequence gets the first position of the next one",
           [=](const RowContext& s, int a, long double p) {
             return begins(s, a, s.seq + 1) ? of(s, a, s.batch, s.seq + 1) : p;
           });
    packed("packed sequences are counted from 0, not from their first position",
           [=](const RowContext& s, int a, long double p) {
             std::int64_t first = s.seq;
             while (first > 0 && !begins(s, a, first)) --first;
             return first == 0 ? p : static_cast<long double>(s.seq - first);
           });
  }
}

// Sequences cut into as many chunks as there are devices.
void add_chunks(Hypotheses& all) {
  for (const int chunks : {2, 4}) {
    const auto length = [=](const RowContext& s) { return s.call.q.shape[1] / chunks; };
    const auto add_where_whole = [&](std::string sentence, Map map) {
      add(all, BugClass::varlen_packing_cp, std::move(sentence), std::move(map));
      all.back().applies = [=](const Call& call) { return call.q.shape[1] % chunks == 0 && call.q.shape[1] > chunks; };
    };
    add_where_whole(
        fmt::format("the tokens come in {} chunks: the later ones get positions counted on from the first chunk",
                    chunks),
        [=](const RowContext& s, int a, long double p) {
          const std::int64_t last = length(s) - 1;
          return s.seq <= last ? p : of(s, a, s.batch, last) + static_cast<long double>(s.seq - last);
        });
    add_where_whole(fmt::format("the tokens come in {} chunks: each gets the positions of the first chunk", chunks),
                    [=](const RowContext& s, int a, long double) { return of(s, a, s.batch, s.seq % length(s)); });
    add_where_whole(
        fmt::format("the tokens come in {} chunks: the chunks' positions are used in reverse order", chunks),
        [=](const RowContext& s, int a, long double) {
          const std::int64_t chunk = chunks - 1 - s.seq / length(s);
          return of(s, a, s.batch, chunk * length(s) + s.seq % length(s));
        });
  }
}

// Positions whose dimensions are taken to come in another order, as by a reshape in the place of a transposition.
void add_reshaped(Hypotheses& all) {
  // The element of [axis, batch, token] at a place in memory.
  const auto at = [](const RowContext& s, std::int64_t place) {
    const std::int64_t batches = s.call.q.shape[0], tokens = s.call.q.shape[1];
    return of(s, static_cast<int>(place / (batches * tokens)), place / tokens % batches, place % tokens);
  };
  const auto add_axes = [&](const char* order, auto place) {
    add(all, BugClass::multi_axis, fmt::format("the positions are read as [{}], but are [axis, batch, token]", order),
        [=](const RowContext& s, int a, long double) { return at(s, place(s, a)); });
    all.back().applies = [](const Call& call) { return call.axes > 1; };
  };
  add_axes("batch, token, axis", [](const RowContext& s, int a) {
    return (s.batch * s.call.q.shape[1] + s.seq) * s.call.axes + a;
  });
  add_axes("batch, axis, token", [](const RowContext& s, int a) {
    return (s.batch * s.call.axes + a) * s.call.q.shape[1] + s.seq;
  });
  add(all, BugClass::heads_batch_qk, "the positions are read as [token, batch], but are [batch, token]",
      [](const RowContext& s, int a, long double) {
        const std::int64_t tokens = s.call.q.shape[1], place = s.seq * s.call.q.shape[0] + s.batch;
        return of(s, a, place / tokens, place % tokens);
      });
  add(all, BugClass::heads_batch_qk,
      "the positions are put in the order [token, batch], but the tokens are [batch, token]",
      [](const RowContext& s, int a, long double) {
        const std::int64_t batches = s.call.q.shape[0], row = s.batch * s.call.q.shape[1] + s.seq;
        return of(s, a, row % batches, row / batches);
      });
}

void add_other_tokens(Hypotheses& all) {
  add(all, BugClass::position_offset, "every token gets the last token's position plus one",
      [](const RowContext& s, int a, long double) { return of(s, a, s.batch, s.call.q.shape[1] - 1) + 1; });
  add(all, BugClass::multi_axis, "every batch gets the positions of the first batch on all axes but the first",
      [](const RowContext& s, int a, long double p) { return a == 0 ? p : of(s, a, 0, s.seq); });
  add(all, BugClass::varlen_packing_cp,
      "the batch of a token is found by multiplying the token's number by 1/tokens in f32, which gives one too few",
      [](const RowContext& s, int a, long double p) {
        const std::int64_t tokens = s.call.q.shape[1], number = s.batch * tokens + s.seq;
        const auto batch =
            static_cast<std::int64_t>(static_cast<float>(number) * (1.0F / static_cast<float>(tokens)));
        if (batch == s.batch) return p;
        return of(s, a, batch, 0) + static_cast<long double>(number - batch * tokens);
      });
  add(all, BugClass::varlen_packing_cp, "positions are counted on from one batch to the next",
      [](const RowContext& s, int, long double p) {
        return p + static_cast<long double>(s.batch * s.call.q.shape[1]);
      });
  add(all, BugClass::position_offset, "token t gets the first position of batch t, plus t",
      [](const RowContext& s, int a, long double) { return of(s, a, s.seq, 0) + static_cast<long double>(s.seq); });
  add(all, BugClass::position_offset, "token t of batch b gets the position of token b of batch t",
      [](const RowContext& s, int a, long double) { return of(s, a, s.seq, s.batch); });
  add(all, BugClass::position_offset, "token t gets the first position of batch t",
      [](const RowContext& s, int a, long double) { return of(s, a, s.seq, 0); });
}

void add_neighbours(Hypotheses& all) {
  add_tile_hypotheses(all);
  add_reshaped(all);
  add_other_tokens(all);
}

}  // namespace

void add_position_hypotheses(Hypotheses& all) {
  add(all, BugClass::position_offset, "the offset is taken to be the number of table rows minus the number of tokens",
      [](const RowContext& s, int, long double p) {
        if (!s.call.cos || !counts_from_offset(s.call)) return p;
        return static_cast<long double>(s.call.cos->shape[0] - s.call.q.shape[1] + s.seq);
      });
  for (const std::int64_t n : {4, 8, 16, 32, 64}) {
    add(
        all, BugClass::heads_batch_qk,
        fmt::format("rows (batch, token and head) come in tiles of {}: all of one get the position of its first row",
                    n),
        [=](const RowContext& s, int a, long double) {
          const std::int64_t heads = s.in().shape[2], tokens = s.in().shape[1];
          const std::int64_t row = (s.batch * tokens + s.seq) * heads + s.head, token = row / n * n / heads;
          return of(s, a, token / tokens, token % tokens);
        },
        of_tiles);
    all.back().change.by_head = true;
  }
  add(all, BugClass::multi_axis, "without given positions, only the first axis counts tokens; the others stay at 0",
      [](const RowContext& s, int a, long double p) { return s.call.positions || a == 0 ? p : 0.0L; });
  add(all, BugClass::multi_axis, "without given positions, the offset is added only on the first axis",
      [](const RowContext& s, int a, long double p) {
        return s.call.positions || a == 0 ? p : p - static_cast<long double>(s.call.position_offset);
      });
  add_neighbours(all);
  add_own_tables(all);
  add_packed(all);
  add_chunks(all);
  add_given_position_hypotheses(all);
  add_sequence_hypotheses(all);
}

}  // namespace rope::diagnosis
