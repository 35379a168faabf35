// What a grid or a block of the wrong size leaves out: rows and features past a limit, or left over from blocks.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/diagnose/hypothesis.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::diagnosis {
namespace {

constexpr BugClass limits = BugClass::launch_limits;

void add_features(Hypotheses& all, std::string sentence,
                  std::function<bool(const RowContext&, int feature)> is_left_out) {
  Hypothesis h{.bug_class = limits, .sentence = std::move(sentence)};
  h.change.skips = std::move(is_left_out);
  all.push_back(std::move(h));
}

std::int64_t batches(const Tensor& t) { return t.shape[0]; }
std::int64_t tokens(const Tensor& t) { return t.shape[1]; }
std::int64_t heads(const Tensor& t) { return t.shape[2]; }

// A grid cut to this many threads, each of which does one element or one pair.
void add_flat_limits(Hypotheses& all) {
  for (std::int64_t limit = 1024; limit <= std::int64_t{1} << 18; limit *= 2) {
    const auto row_of = [](const RowContext& s) { return (s.batch * tokens(s.in()) + s.seq) * heads(s.in()) + s.head; };
    const auto more_than = [](std::int64_t n) {
      const auto elements = [](const Tensor& t) { return batches(t) * tokens(t) * heads(t) * t.shape[3]; };
      return [=](const Call& call) { return elements(call.q) > n || (call.k && elements(*call.k) > n); };
    };
    add_features(all, fmt::format("elements from number {} on, counted over all rows, are not written", limit),
                 [=](const RowContext& s, int f) { return row_of(s) * s.params.head_dim + f >= limit; });
    all.back().applies = more_than(limit);
    add_features(all, fmt::format("pairs from number {} on, counted over all rows, are not written", limit),
                 [=](const RowContext& s, int f) {
                   const int half = s.params.rotary_dim / 2;
                   const int pair = s.params.pairing == Pairing::interleaved ? f / 2 : f % std::max(half, 1);
                   return f < s.params.rotary_dim && row_of(s) * half + pair >= limit;
                 });
    all.back().applies = more_than(2 * limit);
  }
}

// A last block that is moved back, so that it ends with the last token or pair, does some of the block before again. In
// place these turn twice.
void add_moved_back(Hypotheses& all) {
  const auto is_shared = [](std::int64_t i, std::int64_t count, std::int64_t block) {
    return count > block && count % block != 0 && i >= count - block && i < count / block * block;
  };
  const auto in_place = [](const Call& call) { return call.in_place; };
  for (const int block : {2, 4, 8, 16, 32, 64}) {
    Hypothesis h{.bug_class = limits,
                 .sentence = fmt::format(
                     "the last block of {} tokens is moved back to end with the last token: those that it shares "
                     "with the block before turn twice",
                     block),
                 .applies = in_place};
    h.change.rotate = [=](const RowContext& s, Values, Values c, Values n, Values y) {
      return is_shared(s.seq, tokens(s.in()), block) ? second_turn(s, c, n, y) : y;
    };
    all.push_back(h);
    h.sentence = fmt::format(
        "the last vector of {} pairs is moved back to end with the last pair: those that it shares with the vector "
        "before turn twice",
        block);
    h.change = {};
    h.change.row = [=](const RowContext& s, const PairList& pairs, Row& row) {
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        if (!is_shared(static_cast<std::int64_t>(p), std::ssize(pairs), block)) continue;
        for (const int feature : {pairs[p].first, pairs[p].second}) {
          const auto f = static_cast<std::size_t>(feature);
          const double c = row.cos[f], n = row.sin[f];
          row.cos[f] = s.params.lambda * (c * c - n * n);
          row.sin[f] = s.params.lambda * 2 * c * n;
        }
      }
    };
    all.push_back(std::move(h));
  }
}

}  // namespace

void add_launch_hypotheses(Hypotheses& all) {
  add_moved_back(all);
  for (const std::int64_t limit : {32, 64, 128, 256, 512, 1024}) {
    const auto is_beyond = [=](const RowContext& s, int f) {
      const int half = s.params.rotary_dim / 2;
      const int pair = s.params.pairing == Pairing::interleaved ? f / 2 : f % std::max(half, 1);
      return f < s.params.rotary_dim && s.head * half + pair >= limit;
    };
    add_features(all, fmt::format("only the first {} pairs of a token, counted over all heads, are written", limit),
                 is_beyond);
    Hypothesis h{
        .bug_class = limits,
        .sentence = fmt::format("only the first {} pairs of a token, counted over all heads, are rotated", limit)};
    h.change.store = [=](const RowContext& s, int f, double y) {
      return is_beyond(s, f) ? value_at(s.in(), {s.batch, s.seq, s.head}, f) : y;
    };
    all.push_back(std::move(h));
  }
  add_flat_limits(all);
}

}  // namespace rope::diagnosis
