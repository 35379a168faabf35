// Rows of cos and sin that are kept for a later token because its position looks the same.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tools/diagnose/hypothesis.hpp"

namespace rope::diagnosis {
namespace {

struct TokenIndex {
  std::int64_t batch = 0, seq = 0;
};

std::int64_t position_of(const Call& call, const TokenIndex& token, std::size_t axis) {
  return token_position(call, token.batch, token.seq)[axis];
}

// The token whose row a token gets.
using Find = std::function<TokenIndex(const Call&, TokenIndex, std::size_t axis)>;

// The first of the tokens before this one, in the order of the call, that have the same position on the axis.
TokenIndex first_in_a_row(const Call& call, TokenIndex token, std::size_t axis, bool within_batch) {
  const std::int64_t position = position_of(call, token, axis);
  while (true) {
    TokenIndex before{token.batch, token.seq - 1};
    if (before.seq < 0) before = {token.batch - 1, call.q.shape[1] - 1};
    if (before.batch < 0 || (within_batch && before.batch != token.batch)) return token;
    if (position_of(call, before, axis) != position) return token;
    token = before;
  }
}

TokenIndex first_of_the_call(const Call& call, TokenIndex token, std::size_t axis) {
  const std::int64_t position = position_of(call, token, axis);
  for (std::int64_t b = 0; b <= token.batch; ++b) {
    const std::int64_t end = b < token.batch ? call.q.shape[1] : token.seq;
    for (std::int64_t s = 0; s < end; ++s) {
      if (position_of(call, {b, s}, axis) == position) return {b, s};
    }
  }
  return token;
}

}  // namespace

void add_kept_row_hypotheses(Hypotheses& all) {
  const struct {
    const char* words;
    Find find;
  } ways[] = {
      {"the row of the token before is kept while the position on axis {} is the same; other axes are not compared",
       [](const Call& call, TokenIndex token, std::size_t axis) { return first_in_a_row(call, token, axis, false); }},
      {"within a batch, the row of the token before is kept while the position on axis {} is the same; other axes are "
       "not compared",
       [](const Call& call, TokenIndex token, std::size_t axis) { return first_in_a_row(call, token, axis, true); }},
      {"a row is made only once for each position on axis {} and used again; other axes are not compared",
       first_of_the_call},
  };
  for (const auto& way : ways) {
    for (const std::size_t axis : {0U, 1U, 2U}) {
      Hypothesis h{.bug_class = BugClass::multi_axis, .sentence = fmt::format(fmt::runtime(way.words), axis)};
      const auto has_axis = [axis](const Call& call) {
        return call.positions && call.positions->shape[0] > std::max<std::int64_t>(static_cast<std::int64_t>(axis), 1);
      };
      h.applies = has_axis;
      h.change.position = [=, find = way.find](const RowContext& s, int of, long double p) {
        if (!has_axis(s.call)) return p;
        const TokenIndex from = find(s.call, {s.batch, s.seq}, axis);
        return static_cast<long double>(position_of(s.call, from, static_cast<std::size_t>(of)));
      };
      all.push_back(std::move(h));
    }
  }
}

}  // namespace rope::diagnosis
