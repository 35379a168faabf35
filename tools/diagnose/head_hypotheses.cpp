// Which tensor, batch and head are read and written.
#include <fmt/format.h>

#include <algorithm>

#include "tools/diagnose/addressing.hpp"

namespace rope::diagnosis {
namespace {

constexpr BugClass heads_class = BugClass::heads_batch_qk;

// In place, exchanging the two pointers changes nothing.
bool has_key_apart(const Call& call) { return has_key(call) && !call.in_place; }

std::int64_t heads(const RowContext& s) { return s.in().shape[2]; }

void add_source(Hypotheses& all, BugClass bug_class, const char* sentence,
                std::function<void(const RowContext&, int feature, bool& key, std::int64_t& head)> change,
                std::function<bool(const Call&)> applies) {
  Hypothesis h{.bug_class = bug_class, .sentence = sentence, .applies = std::move(applies)};
  h.change.source = std::move(change);
  all.push_back(std::move(h));
}

using Whose = std::function<bool(const RowContext&, bool second, bool across)>;

// Results made from both q and k.
void add_operands(Hypotheses& all) {
  const auto add = [&](const char* sentence, Whose whose) {
    Hypothesis h{.bug_class = BugClass::heads_batch_qk, .sentence = sentence, .applies = has_key};
    h.change.operand_key = std::move(whose);
    all.push_back(std::move(h));
  };
  add("in q and k, the first result of a pair is computed from q, the second from k",
      [](const RowContext&, bool is_second, bool) { return is_second; });
  add("in q and k, the first result of a pair is computed from k, the second from q",
      [](const RowContext&, bool is_second, bool) { return !is_second; });
  add("the second result of a pair is computed from the other tensor: q for k, k for q",
      [](const RowContext& s, bool is_second, bool) { return is_second != s.key; });
  add("in k, sin is multiplied by features of q",
      [](const RowContext& s, bool, bool across) { return s.key && !across; });
  add("in q, sin is multiplied by features of k",
      [](const RowContext& s, bool, bool across) { return s.key || across; });
  add("sin is multiplied by features of the other tensor: q for k, k for q",
      [](const RowContext& s, bool, bool across) { return s.key != across; });
  add("in k, cos is multiplied by features of q",
      [](const RowContext& s, bool, bool across) { return s.key && across; });
  add("in q, cos is multiplied by features of k",
      [](const RowContext& s, bool, bool across) { return s.key || !across; });
}

void add_other_tensors(Hypotheses& all) {
  add_source(
      all, heads_class, "in q and k, the first feature of a pair is read from q, the second from k",
      [](const RowContext& s, int f, bool& key, std::int64_t&) { key = is_second(s, f); }, has_key);
  add_source(
      all, heads_class, "in q and k, the first feature of a pair is read from k, the second from q",
      [](const RowContext& s, int f, bool& key, std::int64_t&) { key = !is_second(s, f); }, has_key);
  add_source(
      all, heads_class, "the second feature of a pair is read from the other tensor: q for k, k for q",
      [](const RowContext& s, int f, bool& key, std::int64_t&) { key = is_second(s, f) ? !s.key : s.key; }, has_key);
  add_source(
      all, heads_class, "k is computed from q", [](const RowContext&, int, bool& key, std::int64_t&) { key = false; },
      has_key);
  add_source(
      all, heads_class, "q is computed from k", [](const RowContext&, int, bool& key, std::int64_t&) { key = true; },
      has_key);
  add_source(
      all, heads_class, "q and k are exchanged",
      [](const RowContext& s, int, bool& key, std::int64_t&) { key = !s.key; }, has_key_apart);
  const auto fewer_heads_in_k = [](const Call& call) {
    return has_key(call) && call.k->shape[2] > 0 && call.k->shape[2] < call.q.shape[2];
  };
  // Which heads of the repeated k are returned, or read.
  add_source(
      all, heads_class,
      "k is repeated to q's heads, each head in a row, and the first of these are taken for k's heads",
      [](const RowContext& s, int, bool& key, std::int64_t& head) {
        if (key) head = head * heads(s) / s.call.q.shape[2];
      },
      fewer_heads_in_k);
  add_source(
      all, heads_class, "k is repeated to q's heads as a whole, and every (q's heads / k's heads)-th is taken for k's",
      [](const RowContext& s, int, bool& key, std::int64_t& head) {
        if (key) head = head * (s.call.q.shape[2] / heads(s)) % heads(s);
      },
      fewer_heads_in_k);
  {
    Hypothesis h{.bug_class = heads_class, .sentence = "a head of k is rotated once for each head of q that shares it"};
    h.applies = [=](const Call& call) { return call.in_place && fewer_heads_in_k(call); };
    h.change.rotate = [](const RowContext& s, Values, Values c, Values n, Values y) {
      for (std::int64_t i = 1; s.key && i < s.call.q.shape[2] / heads(s); ++i) y = second_turn(s, c, n, y);
      return y;
    };
    all.push_back(std::move(h));
  }
}

// In calls with few heads they say what is left over in k, or that k is left out, which is said in fewer words.
constexpr double of_tiles_of_heads = 0.025;

// The heads of q and k are one list in tiles. A tile belongs to the tensor of its first head, or only as many tiles are
// made as q's heads need.
void add_tiles_over_q_and_k(Hypotheses& all) {
  for (const std::int64_t n : {2, 4, 8, 16, 32}) {
    for (const bool within : {true, false}) {
      for (const bool copied : {false, true}) {
        Hypothesis h{.bug_class = heads_class,
                     .sentence = fmt::format(
                         "heads come in tiles of {}, q's and then k's: k's heads {} the last tile of q are not {}", n,
                         within ? "in" : "behind", copied ? "rotated" : "written"),
                     .cost = of_tiles_of_heads,
                     .applies = has_key};
        h.change.write = [=](const RowContext& s) {
          const std::int64_t of_q = s.call.q.shape[2], tiles_end = (of_q + n - 1) / n * n;
          const bool left_out = s.key && within == (of_q + s.head < tiles_end);
          return left_out ? (copied ? Write::copied : Write::nothing) : Write::rotated;
        };
        all.push_back(std::move(h));
      }
    }
    // The rest is looked at where q has one.
    for (const bool copied : {false, true}) {
      Hypothesis h{.bug_class = heads_class,
                   .sentence = fmt::format(
                       "heads come in tiles of {}: where q has whole tiles only, k's heads behind its own last "
                       "whole tile are not {}",
                       n, copied ? "rotated" : "written"),
                   .cost = of_tiles_of_heads,
                   .applies = has_key};
      h.change.write = [=](const RowContext& s) {
        const bool left_out = s.key && s.call.q.shape[2] % n == 0 && s.head >= s.call.k->shape[2] / n * n;
        return left_out ? (copied ? Write::copied : Write::nothing) : Write::rotated;
      };
      all.push_back(std::move(h));
    }
  }
}

void add_other_heads(Hypotheses& all) {
  add_source(
      all, BugClass::pipeline, "heads of k are transposed as a matrix with one row for each q head of a group",
      [](const RowContext& s, int, bool&, std::int64_t& head) {
        const std::int64_t n = std::max<std::int64_t>(s.call.q.shape[2] / std::max<std::int64_t>(heads(s), 1), 1);
        if (s.key && heads(s) % n == 0) head = s.head % n * (heads(s) / n) + s.head / n;
      },
      has_key);
}

// A remainder taken as a bit mask, which is one only for powers of two.
void add_masked_heads(Hypotheses& all) {
  const auto is_other = [](std::int64_t n) { return (n & (n - 1)) != 0; };
  const auto group = [](const Call& call) { return call.q.shape[2] / std::max<std::int64_t>(call.k->shape[2], 1); };
  Hypothesis h{
      .bug_class = heads_class,
      .sentence =
          "a head of k is rotated for each head h of q with (h & (group - 1)) == 0, where group is the number of q "
          "heads that share it",
      .applies = [=](const Call& call) { return has_key(call) && is_other(group(call)); }};
  const auto turns = [=](const RowContext& s) {
    const std::int64_t n = group(s.call);
    int count = 0;
    for (std::int64_t q = s.head * n; q < (s.head + 1) * n; ++q) count += (q & (n - 1)) == 0 ? 1 : 0;
    return s.key ? count : 1;
  };
  h.change.write = [=](const RowContext& s) { return turns(s) == 0 ? Write::nothing : Write::rotated; };
  h.change.rotate = [=](const RowContext& s, Values, Values c, Values n, Values y) {
    for (int i = 1; s.call.in_place && i < turns(s); ++i) y = second_turn(s, c, n, y);
    return y;
  };
  all.push_back(std::move(h));
}

void add_head_counts(Hypotheses& all) {
  {
    Hypothesis h{.bug_class = heads_class, .sentence = "k is rotated with q's number of heads", .applies = has_key};
    h.change.heads = [](const RowContext& s) { return static_cast<int>(s.call.q.shape[2]); };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{.bug_class = heads_class, .sentence = "q is rotated with k's number of heads", .applies = has_key};
    h.change.heads = [](const RowContext& s) { return static_cast<int>(s.call.k->shape[2]); };
    all.push_back(std::move(h));
  }
  {
    Hypothesis h{.bug_class = heads_class, .sentence = "q and k are both rotated with the smaller number of heads",
                 .applies = has_key};
    h.change.heads = [](const RowContext& s) {
      return static_cast<int>(std::min(s.call.q.shape[2], s.call.k->shape[2]));
    };
    all.push_back(std::move(h));
  }
}

}  // namespace

void add_head_hypotheses(Hypotheses& all) {
  add_other_tensors(all);
  add_tiles_over_q_and_k(all);
  add_other_heads(all);
  add_operands(all);
  add_masked_heads(all);
  add_head_counts(all);
}

}  // namespace rope::diagnosis
