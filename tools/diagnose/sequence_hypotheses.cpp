// Positions that are counted within sequences: seqlen_offsets and cu_seqlens.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

// Where a token is: its sequence, and the sequences of the call.
struct Token {
  const Call& call;
  std::int64_t sequence;
  std::int64_t seq;  // in its row

  std::int64_t last_sequence() const { return call.sequences() - 1; }
  std::int64_t first_token(std::int64_t of) const { return call.cu_seqlens ? integer_at(*call.cu_seqlens, of) : 0; }
  std::int64_t length(std::int64_t of) const { return integer_at(*call.cu_seqlens, of + 1) - first_token(of); }
  std::int64_t longest() const {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i <= last_sequence(); ++i) most = std::max(most, length(i));
    return most;
  }
  std::int64_t start(std::int64_t of) const {
    return call.seqlen_offsets ? integer_at(*call.seqlen_offsets, of) : call.position_offset;
  }
  // Its position if it were a token of this sequence.
  std::int64_t position_in(std::int64_t of) const { return start(of) + seq - first_token(of); }
};

using Position = std::function<std::int64_t(const Token&)>;
using Applies = bool (*)(const Call&);

bool has_starts(const Call& call) { return call.seqlen_offsets.has_value(); }
bool is_packed(const Call& call) { return call.cu_seqlens.has_value(); }

void add(Hypotheses& all, Applies applies, std::string sentence, Position position) {
  Hypothesis h{.bug_class = BugClass::varlen_packing_cp, .sentence = std::move(sentence)};
  h.applies = applies;
  h.change.position = [=](const RowContext& s, int, long double p) {
    if (!applies(s.call)) return p;
    const Token token{s.call, place_in_sequence(s.call, s.batch, s.seq).sequence, s.seq};
    return static_cast<long double>(position(token));
  };
  all.push_back(std::move(h));
}

// The starts' memory as the other integer type; NaN beyond its end.
long double read_as_other_type(const Tensor& starts, std::int64_t index) {
  Tensor other = starts;
  other.dtype = starts.dtype == DType::i32 ? DType::i64 : DType::i32;
  const auto end = static_cast<std::size_t>(index + 1) * size_of(other.dtype);
  return end > other.bytes.size() ? std::numeric_limits<long double>::quiet_NaN()
                                  : static_cast<long double>(integer_at(other, index));
}

void add_starts(Hypotheses& all) {
  add(all, has_starts, "seqlen_offsets is ignored: every sequence starts at position 0",
      [](const Token& t) { return t.seq - t.first_token(t.sequence); });
  add(all, has_starts, "every sequence starts at the first value of seqlen_offsets",
      [](const Token& t) { return t.start(0) + t.seq - t.first_token(t.sequence); });
  add(all, has_starts, "every sequence starts at the largest value of seqlen_offsets", [](const Token& t) {
    std::int64_t most = t.start(0);
    for (std::int64_t i = 1; i <= t.last_sequence(); ++i) most = std::max(most, t.start(i));
    return most + t.seq - t.first_token(t.sequence);
  });
  add(all, has_starts, "the value of seqlen_offsets is added twice",
      [](const Token& t) { return t.position_in(t.sequence) + t.start(t.sequence); });
  add(all, has_starts, "every token of a sequence gets the sequence's value of seqlen_offsets",
      [](const Token& t) { return t.start(t.sequence); });
  add(all, has_starts, "each sequence starts at the value of seqlen_offsets for the next one", [](const Token& t) {
    return t.start(std::min(t.sequence + 1, t.last_sequence())) + t.seq - t.first_token(t.sequence);
  });
  add(all, has_starts, "each sequence starts at the value of seqlen_offsets for the one before", [](const Token& t) {
    return t.start(std::max<std::int64_t>(t.sequence - 1, 0)) + t.seq - t.first_token(t.sequence);
  });
  add(all, has_starts, "token t starts at value t of seqlen_offsets",
      [](const Token& t) { return t.start(std::min(t.seq, t.last_sequence())) + t.seq - t.first_token(t.sequence); });
  add(all, has_starts, "seqlen_offsets are subtracted, not added",
      [](const Token& t) { return t.position_in(t.sequence) - 2 * t.start(t.sequence); });
  Hypothesis other{.bug_class = BugClass::varlen_packing_cp,
                   .sentence = "seqlen_offsets in i32 are read as i64, or those in i64 as i32"};
  other.applies = has_starts;
  other.change.position = [](const RowContext& s, int, long double p) {
    if (!has_starts(s.call)) return p;
    const PlaceInSequence place = place_in_sequence(s.call, s.batch, s.seq);
    const auto index = static_cast<long double>(s.seq - place.first);
    return read_as_other_type(*s.call.seqlen_offsets, place.sequence) + index;
  };
  all.push_back(std::move(other));
}

// A walk over the tokens of a row, in which `leaves` says whether a token goes on to the next sequence.
template <class Leaves>
std::int64_t walked_to(const Token& t, Leaves leaves) {
  std::int64_t sequence = 0;
  for (std::int64_t token = 0; token <= t.seq; ++token) {
    if (sequence < t.last_sequence() && leaves(token, t.first_token(sequence + 1))) ++sequence;
  }
  return sequence;
}

// The borders up to a token, of which equal ones count once.
std::int64_t different_borders(const Token& t) {
  std::int64_t borders = 0, last = -1;
  for (std::int64_t i = 1; i <= t.last_sequence(); ++i) {
    const std::int64_t border = t.first_token(i);
    if (border <= t.seq && border != last) ++borders;
    last = border;
  }
  return borders;
}

// Empty sequences in the way of a kernel that looks for the sequence of a token.
void add_empty_sequences(Hypotheses& all) {
  add(all, is_packed, "an empty sequence is never left: the tokens behind it are counted on in it", [](const Token& t) {
    return t.position_in(walked_to(t, [](std::int64_t token, std::int64_t border) { return token == border; }));
  });
  add(all, is_packed, "each token leaves one sequence at most: behind an empty one, the next token is late",
      [](const Token& t) {
        return t.position_in(walked_to(t, [](std::int64_t token, std::int64_t border) { return token >= border; }));
      });
  add(all, is_packed,
      "empty sequences are not counted: a token behind one gets the start and the first token of an earlier sequence",
      [](const Token& t) { return t.position_in(different_borders(t)); });
  add(
      all, [](const Call& call) { return is_packed(call) && has_starts(call); },
      "empty sequences are not counted: a token behind one gets an earlier sequence's value of seqlen_offsets",
      [](const Token& t) { return t.start(different_borders(t)) + t.seq - t.first_token(t.sequence); });
}

void add_packed_rows(Hypotheses& all) {
  add(all, is_packed, "cu_seqlens is ignored: tokens are counted through the whole row",
      [](const Token& t) { return t.start(0) + t.seq; });
  add(all, is_packed, "the first token of a sequence is not subtracted: positions go on from sequence to sequence",
      [](const Token& t) { return t.start(t.sequence) + t.seq; });
  add(all, is_packed, "the first token of a sequence is added, not subtracted",
      [](const Token& t) { return t.position_in(t.sequence) + 2 * t.first_token(t.sequence); });
  add(all, is_packed, "every token of a sequence gets the position of the sequence's first token",
      [](const Token& t) { return t.start(t.sequence); });
  add(all, is_packed, "the first token of a sequence is taken for the last one of the sequence before",
      [](const Token& t) {
        const bool is_first = t.seq == t.first_token(t.sequence);
        return t.position_in(is_first ? std::max<std::int64_t>(t.sequence - 1, 0) : t.sequence);
      });
  add(all, is_packed, "the last token of a sequence is taken for one of the next sequence", [](const Token& t) {
    const bool is_last = t.seq + 1 == integer_at(*t.call.cu_seqlens, t.sequence + 1);
    return t.position_in(is_last ? std::min(t.sequence + 1, t.last_sequence()) : t.sequence);
  });
  add(all, is_packed, "the tokens of a sequence are counted from its end", [](const Token& t) {
    return t.start(t.sequence) + integer_at(*t.call.cu_seqlens, t.sequence + 1) - 1 - t.seq;
  });
  // As if shorter sequences were padded in front.
  for (const bool negative : {false, true}) {
    add(all, is_packed,
        negative ? "a sequence begins before its start, by what the longest sequence is longer"
                 : "a sequence ends where the longest one would, if it had the same start",
        [=](const Token& t) {
          const std::int64_t padding = t.longest() - t.length(t.sequence);
          return t.position_in(t.sequence) + (negative ? -padding : padding);
        });
  }
  add(all, is_packed, "all sequences are taken to be as long as the first one that is not empty", [](const Token& t) {
    std::int64_t i = 0;
    while (i < t.last_sequence() && t.first_token(i + 1) == t.first_token(i)) ++i;
    const std::int64_t length = std::max<std::int64_t>(integer_at(*t.call.cu_seqlens, i + 1) - t.first_token(i), 1);
    return t.start(std::min(t.seq / length, t.last_sequence())) + t.seq % length;
  });
  for (const std::int64_t n : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
    add(all, is_packed, fmt::format("only the first {} values of cu_seqlens are looked at", n), [=](const Token& t) {
      return t.position_in(std::min(t.sequence, n - 1));
    });
  }
  add(all, is_packed, "all sequences are taken to be equally long", [](const Token& t) {
    const std::int64_t length = std::max<std::int64_t>(t.call.q.shape[1] / t.call.sequences(), 1);
    return t.start(std::min(t.seq / length, t.last_sequence())) + t.seq % length;
  });
  const auto first_with_its_border = [](const Token& t) {
    std::int64_t i = t.sequence;
    while (i > 0 && t.first_token(i - 1) == t.first_token(i)) --i;
    return t.position_in(i);
  };
  add(
      all, [](const Call& call) { return is_packed(call) && has_starts(call); },
      "a sequence after empty ones starts at the value of seqlen_offsets for the first of these",
      first_with_its_border);
  add(
      all, [](const Call& call) { return is_packed(call) && has_starts(call); },
      "the first token of a sequence after empty ones gets the value of seqlen_offsets for the first of these",
      [=](const Token& t) {
        return t.seq == t.first_token(t.sequence) ? first_with_its_border(t) : t.position_in(t.sequence);
      });
  add(all, [](const Call& call) { return is_packed(call) && has_starts(call); },
      "empty sequences have no value in seqlen_offsets: the later values belong to the wrong sequences",
      [](const Token& t) {
        std::int64_t used = 0;
        for (std::int64_t i = 0; i < t.sequence; ++i) used += t.first_token(i + 1) > t.first_token(i) ? 1 : 0;
        return t.start(used) + t.seq - t.first_token(t.sequence);
      });
}

}  // namespace

void add_sequence_hypotheses(Hypotheses& all) {
  add_starts(all);
  add_packed_rows(all);
  add_empty_sequences(all);
}

}  // namespace rope::diagnosis
