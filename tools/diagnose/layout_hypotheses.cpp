// Rows split or assembled in the wrong order: a flat index divided by the wrong extent, features permuted in
// blocks of the wrong width.
#include <fmt/format.h>

#include <algorithm>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

std::int64_t tokens(const RowContext& s) { return s.in().shape[1]; }
std::int64_t heads_of(const RowContext& s) { return s.in().shape[2]; }

// The cost of the rarer of two causes that agree on most calls: a wrong position is a common mistake.
constexpr double beside_a_position = 0.01;

// The position that the call gives to the token of a flat index that was split wrongly.
void add_flat_indices(Hypotheses& all) {
  using Token = std::int64_t (*)(const RowContext&);
  const struct {
    const char* sentence;
    Token token;
    double cost = 0;
  } ways[] = {
      {"the flat row index is split in the wrong order: the token is (token * heads + head) % tokens",
       [](const RowContext& s) { return (s.seq * heads_of(s) + s.head) % tokens(s); }, beside_a_position},
      {"the flat row index is split in the wrong order: the token is (token * heads + head) / tokens",
       [](const RowContext& s) { return (s.seq * heads_of(s) + s.head) / tokens(s); }, beside_a_position},
      {"the flat row index is split in the wrong order: the token is (head * tokens + token) / heads",
       [](const RowContext& s) { return (s.head * tokens(s) + s.seq) / heads_of(s); }, beside_a_position},
      {"the flat row index is split in the wrong order: the token is (head * tokens + token) % heads",
       [](const RowContext& s) { return (s.head * tokens(s) + s.seq) % heads_of(s); }, beside_a_position},
      {"the position of a row is taken by its head, not by its token", [](const RowContext& s) { return s.head; }},
      {"in k, the flat row index is divided by q's number of heads to find the token",
       [](const RowContext& s) { return (s.seq * heads_of(s) + s.head) / s.call.q.shape[2]; }},
      {"the flat token index over all batches is divided by the number of batches to find the token",
       [](const RowContext& s) { return (s.batch * tokens(s) + s.seq) / s.call.q.shape[0]; }},
  };
  for (const auto& way : ways) {
    Hypothesis h{.bug_class = BugClass::heads_batch_qk, .sentence = way.sentence, .cost = way.cost};
    h.change.by_head = true;
    h.change.position = [token = way.token](const RowContext& s, int axis, long double) {
      const std::int64_t seq = std::clamp<std::int64_t>(token(s), 0, tokens(s) - 1);
      return static_cast<long double>(token_position(s.call, s.batch, seq)[static_cast<std::size_t>(axis)]);
    };
    all.push_back(std::move(h));
  }
}

// The same, counted over all batches.
void add_flat_indices_of_all_batches(Hypotheses& all) {
  for (const bool key : {true, false}) {
    Hypothesis h{.bug_class = BugClass::heads_batch_qk,
                 .sentence = fmt::format(
                     "in {}, the row index counted over all batches is divided by {}'s number of heads to find "
                     "the token",
                     key ? "k" : "q", key ? "q" : "k"),
                 .applies = [](const Call& call) {
                   return call.k && call.k->shape[2] != call.q.shape[2] && call.k->shape[2] > 0;
                 }};
    h.change.by_head = true;
    h.change.position = [key](const RowContext& s, int axis, long double p) {
      if (s.key != key || !s.call.k) return p;
      const std::int64_t row = (s.batch * tokens(s) + s.seq) * heads_of(s) + s.head;
      const std::int64_t other = key ? s.call.q.shape[2] : s.call.k->shape[2];
      const std::int64_t token = std::min(row / other, s.in().shape[0] * tokens(s) - 1);
      return static_cast<long double>(
          token_position(s.call, token / tokens(s), token % tokens(s))[static_cast<std::size_t>(axis)]);
    };
    all.push_back(std::move(h));
  }
}

// Tables without positions: the kernel counts rows once through everything that it is given.
void add_counted_rows(Hypotheses& all) {
  const auto counted = [](const Call& call) { return call.source == AngleSource::tables && counts_from_offset(call); };
  const auto add = [&](const char* sentence, std::int64_t (*further)(const RowContext&)) {
    for (const bool again : {true, false}) {
      Hypothesis h{.bug_class = BugClass::table_cache,
                   .sentence = fmt::format("{}; past the last row, {}", sentence,
                                           again ? "they start again at the first" : "the last row is used"),
                   .applies = counted};
      h.change.by_head = true;
      h.change.position = [=](const RowContext& s, int, long double p) {
        const std::int64_t rows = s.call.cos->shape[0], row = static_cast<std::int64_t>(p) + further(s);
        return static_cast<long double>(again ? row % rows : std::min(row, rows - 1));
      };
      h.cost = beside_a_position;
      all.push_back(std::move(h));
    }
  };
  add("rows of the tables are counted on from batch to batch", [](const RowContext& s) { return s.batch * tokens(s); });
  add("rows of the tables are counted on from head to head", [](const RowContext& s) { return s.head; });
  add("rows of the tables are counted on from q to k", [](const RowContext& s) { return s.key ? tokens(s) : 0; });
}

// Where a feature goes when its row is changed from interleaved to half-split, or back, in blocks of `width`.
std::int64_t permuted(std::int64_t index, std::int64_t width, bool to_half_split) {
  const std::int64_t in_block = index % width, half = width / 2;
  return index - in_block +
         (to_half_split ? in_block % half * 2 + in_block / half : in_block % 2 * half + in_block / 2);
}

struct BlockWidth {
  const char* words;
  std::int64_t (*of)(const RowContext&);
};

void add_permutations(Hypotheses& all) {
  const BlockWidth widths[] = {
      {"as wide as all heads", [](const RowContext& s) { return heads_of(s) * s.in().shape[3]; }},
      {"as wide as all heads divided by the group size",
       [](const RowContext& s) {
         const std::int64_t shared = s.call.k ? s.call.q.shape[2] / std::max<std::int64_t>(s.call.k->shape[2], 1) : 1;
         return heads_of(s) * s.in().shape[3] / std::max<std::int64_t>(shared, 1);
       }},
      {"of two heads", [](const RowContext& s) { return 2 * s.in().shape[3]; }},
      {"of half a head", [](const RowContext& s) { return s.in().shape[3] / 2; }},
      {"of rotary_dim features", [](const RowContext& s) { return std::int64_t{s.params.rotary_dim}; }},
  };
  const struct {
    const char* words;
    bool q, k;
  } tensors[] = {{"k", false, true}, {"q", true, false}, {"q and k", true, true}};
  for (const BlockWidth& width : widths) {
    for (const auto& tensor : tensors) {
      for (const bool to_half_split : {true, false}) {
        Hypothesis h{
            .bug_class = BugClass::pipeline,
            .sentence = fmt::format("the features of {} are reordered to {} in blocks {}, not within each head",
                                    tensor.words, to_half_split ? "half_split" : "interleaved", width.words),
            .applies = [of_q = tensor.q](const Call& call) { return of_q || call.k; }};
        h.change.index = [=](const RowContext& s, bool output, int feature, std::int64_t right) {
          const std::int64_t dim = s.in().shape[3], block = width.of(s);
          const bool in_question = s.key ? tensor.k : tensor.q;
          if (output || !in_question || block < 4 || block % 2 != 0 || heads_of(s) * dim % block != 0) return right;
          const std::int64_t file = permuted(s.head * dim + feature, block, to_half_split);
          const std::int64_t from = permuted(file, dim, !to_half_split);
          return row_offset(s.in(), {s.batch, s.seq, from / dim}) + from % dim * s.in().strides[3];
        };
        all.push_back(std::move(h));
      }
    }
  }
}

}  // namespace

void add_layout_hypotheses(Hypotheses& all) {
  add_flat_indices(all);
  add_flat_indices_of_all_batches(all);
  add_counted_rows(all);
  add_permutations(all);
}

}  // namespace rope::diagnosis
