// What a grid or a block of the wrong size leaves out: rows and features past a limit, or left over from blocks.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/diagnose/hypothesis.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::diagnosis {
namespace {

constexpr BugClass limits = BugClass::launch_limits;

// Rows that keep their memory's content, or the input if an earlier pass copied it.
void add_rows(Hypotheses& all, const std::string& which, std::function<bool(const Call&)> applies,
              std::function<bool(const Spot&)> is_left_out) {
  for (const Write left : {Write::nothing, Write::copied}) {
    Hypothesis h{
        limits, fmt::format("{} not {}", which, left == Write::nothing ? "written" : "rotated"), {}, 0, applies, false};
    h.change.write = [=](const Spot& s) { return is_left_out(s) ? left : Write::rotated; };
    all.push_back(std::move(h));
  }
}

void add_features(Hypotheses& all, std::string sentence, std::function<bool(const Spot&, int feature)> is_left_out) {
  Hypothesis h{limits, std::move(sentence), {}, 0, {}, false};
  h.change.skips = std::move(is_left_out);
  all.push_back(std::move(h));
}

std::int64_t batches(const Tensor& t) { return t.shape[0]; }
std::int64_t tokens(const Tensor& t) { return t.shape[1]; }
std::int64_t heads(const Tensor& t) { return t.shape[2]; }

// At least one block is always started: most devices refuse a launch of none.
bool is_left_over(std::int64_t index, std::int64_t count, std::int64_t block) {
  return index >= std::max<std::int64_t>(count / block, 1) * block;
}

void add_unturned(Hypotheses& all, std::string sentence, std::function<bool(const Params&, int pair)> is_still) {
  Hypothesis h{limits, std::move(sentence), {}, 0, {}, false};
  h.change.still = std::move(is_still);
  all.push_back(std::move(h));
}

// A grid cut to this many threads, each of which does one element or one pair.
void add_flat_limits(Hypotheses& all) {
  for (std::int64_t limit = 1024; limit <= std::int64_t{1} << 18; limit *= 2) {
    const auto row_of = [](const Spot& s) { return (s.batch * tokens(s.in()) + s.seq) * heads(s.in()) + s.head; };
    const auto more_than = [](std::int64_t n) {
      const auto elements = [](const Tensor& t) { return batches(t) * tokens(t) * heads(t) * t.shape[3]; };
      return [=](const Call& call) { return elements(call.q) > n || (call.k && elements(*call.k) > n); };
    };
    add_features(all, fmt::format("elements from number {} on, counted over all rows, are not written", limit),
                 [=](const Spot& s, int f) { return row_of(s) * s.params.head_dim + f >= limit; });
    all.back().applies = more_than(limit);
    add_features(all, fmt::format("pairs from number {} on, counted over all rows, are not written", limit),
                 [=](const Spot& s, int f) {
                   const int half = s.params.rotary_dim / 2;
                   const int pair = s.params.pairing == Pairing::interleaved ? f / 2 : f % std::max(half, 1);
                   return f < s.params.rotary_dim && row_of(s) * half + pair >= limit;
                 });
    all.back().applies = more_than(2 * limit);
  }
}

// A shuffle that leads out of its warp gives a lane its own value.
void add_shuffles(Hypotheses& all) {
  const struct {
    const char* sentence;
    Values (*partners)(Values x);  // of the first feature, of the second
  } ways[] = {
      {"each feature is combined with itself, not with its partner", [](Values x) { return x; }},
      {"the first feature of each pair is combined with itself, not with its partner",
       [](Values x) {
         return Values{x.first, x.first};
       }},
  };
  for (const auto& way : ways) {
    Hypothesis h{limits, way.sentence, {}, 0, {}, false};
    h.change.rotate = [partners = way.partners](const Spot& s, Values x, Values c, Values n, Values) {
      const Values other = partners(x);
      const double l = s.params.lambda;
      return Values{l * (x.first * c.first - other.first * n.first),
                    l * (x.second * c.second + other.second * n.second)};
    };
    all.push_back(std::move(h));
  }
  Hypothesis h{limits, "the first feature of each pair is used as the second one too", {}, 0, {}, false};
  h.change.rotate = [](const Spot& s, Values x, Values c, Values n, Values) {
    const double l = s.params.lambda;
    return Values{l * (x.first * c.first - x.first * n.first), l * (x.first * c.second + x.first * n.second)};
  };
  all.push_back(std::move(h));
}

void add_left_overs(Hypotheses& all) {
  const struct {
    const char* what;
    std::int64_t (*index)(const Spot&);
    std::int64_t (*count)(const Tensor&);
    std::int64_t most;  // that a case has: larger blocks never leave a rest
  } ways[] = {
      {"rows (batch, token and head)",
       [](const Spot& s) { return (s.batch * tokens(s.in()) + s.seq) * heads(s.in()) + s.head; },
       [](const Tensor& t) { return batches(t) * tokens(t) * heads(t); }, 1024},
      {"tokens of all batches", [](const Spot& s) { return s.batch * tokens(s.in()) + s.seq; },
       [](const Tensor& t) { return batches(t) * tokens(t); }, 1024},
      {"tokens", [](const Spot& s) { return s.seq; }, tokens, 1024},
      {"heads", [](const Spot& s) { return s.head; }, heads, 64},
      {"batches", [](const Spot& s) { return s.batch; }, batches, 32},
  };
  for (const auto& way : ways) {
    const auto more_than = [count = way.count](std::int64_t n) {
      return [=](const Call& call) { return count(call.q) > n || (call.k && count(*call.k) > n); };
    };
    for (std::int64_t block = 2; block <= way.most; block *= 2) {
      add_rows(all, fmt::format("{} left over from blocks of {} are", way.what, block), more_than(block),
               [=](const Spot& s) { return is_left_over(way.index(s), way.count(s.in()), block); });
      if (block < 8) continue;
      add_rows(all, fmt::format("{} before the last block of {} are", way.what, block), more_than(block),
               [=](const Spot& s) { return way.index(s) < (way.count(s.in()) - 1) / block * block; });
      add_rows(all, fmt::format("{} from {} on are", way.what, block), more_than(block),
               [=](const Spot& s) { return way.index(s) >= block; });
    }
    // Equal shares of threads, one for each, without the rest.
    for (const std::int64_t shares : {3, 5, 6, 7}) {
      add_rows(all, fmt::format("{} left over from {} equal shares are", way.what, shares), more_than(shares),
               [=](const Spot& s) { return is_left_over(way.index(s), way.count(s.in()), shares); });
    }
    add_rows(all, fmt::format("the last of the {} is", way.what), {},
             [=](const Spot& s) { return way.index(s) == way.count(s.in()) - 1; });
    all.back().unrotated = all[all.size() - 2].unrotated = true;
  }
  for (const int block : {4, 8, 16, 32, 64, 128}) {
    // For a loop over vectors without a loop over the rest.
    add_unturned(all, fmt::format("pairs left over from vectors of {} are not rotated", block),
                 [=](const Params& p, int pair) { return is_left_over(pair, p.rotary_dim / 2, block); });
    add_features(all, fmt::format("features left over from vectors of {} are not written", block),
                 [=](const Spot& s, int f) { return is_left_over(f, s.params.head_dim, block); });
    add_features(all, fmt::format("pairs left over from vectors of {} are not written", block),
                 [=](const Spot& s, int f) {
                   const int half = s.params.rotary_dim / 2;
                   const int pair = s.params.pairing == Pairing::interleaved ? f / 2 : f % std::max(half, 1);
                   return f < s.params.rotary_dim && is_left_over(pair, half, block);
                 });
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
    Hypothesis h{limits,
                 fmt::format("the last block of {} tokens is moved back to end with the last token: those that it shares "
                             "with the block before turn twice",
                             block),
                 {},
                 0,
                 in_place,
                 false};
    h.change.rotate = [=](const Spot& s, Values, Values c, Values n, Values y) {
      return is_shared(s.seq, tokens(s.in()), block) ? second_turn(s, c, n, y) : y;
    };
    all.push_back(h);
    h.sentence = fmt::format(
        "the last vector of {} pairs is moved back to end with the last pair: those that it shares with the vector "
        "before turn twice",
        block);
    h.change = {};
    h.change.row = [=](const Spot& s, const PairList& pairs, Row& row) {
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
  for (const int limit : {32, 64, 128, 256, 512, 1024}) {
    add_features(all, fmt::format("features from {} on are not written", limit),
                 [=](const Spot&, int feature) { return feature >= limit; });
    all.back().applies = [=](const Call& call) { return call.q.shape[3] > limit; };
    add_unturned(all, fmt::format("pairs from {} on are not rotated", limit),
                 [=](const Params&, int pair) { return pair >= limit; });
    all.back().applies = [=](const Call& call) { return call.rotary_dim / 2 > limit; };
  }
  for (const std::int64_t limit : {32, 64, 128, 256, 512, 1024}) {
    const auto is_beyond = [=](const Spot& s, int f) {
      const int half = s.params.rotary_dim / 2;
      const int pair = s.params.pairing == Pairing::interleaved ? f / 2 : f % std::max(half, 1);
      return f < s.params.rotary_dim && s.head * half + pair >= limit;
    };
    add_features(all, fmt::format("only the first {} pairs of a token, counted over all heads, are written", limit),
                 is_beyond);
    Hypothesis h{limits, fmt::format("only the first {} pairs of a token, counted over all heads, are rotated", limit),
                 {},     0,
                 {},     false};
    h.change.store = [=](const Spot& s, int f, double y) {
      return is_beyond(s, f) ? value_at(s.in(), {s.batch, s.seq, s.head}, f) : y;
    };
    all.push_back(std::move(h));
  }
  add_flat_limits(all);
  add_left_overs(all);
  add_shuffles(all);
}

}  // namespace rope::diagnosis
