// Features that do not turn, and the backward pass.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tools/diagnose/hypothesis.hpp"
#include "tools/judge/call/tensor_walk.hpp"

namespace rope::diagnosis {
namespace {

bool partial(const Call& call) { return call.rotary_dim < call.q.shape[3]; }
bool backward(const Call& call) { return call.direction == Direction::backward; }

void add_pass(Hypotheses& all, std::string sentence, std::function<double(const RowContext&, int, double)> change) {
  Hypothesis h{.bug_class = BugClass::partial_passthrough, .sentence = std::move(sentence), .applies = partial};
  h.change.pass = std::move(change);
  all.push_back(std::move(h));
}

void add_direct(Hypotheses& all, const char* sentence,
                std::function<void(const Params&, const PairList&, Row&)> change) {
  Hypothesis h{.bug_class = BugClass::backward, .sentence = sentence, .applies = backward};
  h.change.direct = std::move(change);
  all.push_back(std::move(h));
}

// The number that the output's type reads in the memory of the input: `feature` elements of that type after the first
// pass-through feature, or after the start of the row.
double read_as_output(const RowContext& s, int feature, bool from_first_passed) {
  const Tensor& in = s.in();
  const auto from = static_cast<std::int64_t>(size_of(in.dtype));
  const auto to = static_cast<std::int64_t>(size_of(s.out().dtype));
  const std::int64_t rotary = s.params.rotary_dim;
  const std::int64_t row = in.origin + row_offset(in, {s.batch, s.seq, s.head});
  const std::int64_t at =
      from_first_passed ? (row + rotary * in.strides[3]) * from + (feature - rotary) * to : row * from + feature * to;
  if (at < 0 || at + to > static_cast<std::int64_t>(in.bytes.size())) return 0;
  return load(s.out().dtype, in.bytes.data() + at);
}

void add_copied_bytes(Hypotheses& all) {
  for (const bool from_first_passed : {true, false}) {
    add_pass(all,
             fmt::format("the bytes of pass-through features are copied{}, though the output has another type",
                         from_first_passed ? "" : " from where they would be in a row of the output's type"),
             [=](const RowContext& s, int feature, double x) {
               return s.in().dtype == s.out().dtype ? x : read_as_output(s, feature, from_first_passed);
             });
    all.back().applies = [](const Call& call) { return partial(call) && call.q.dtype != call.q_result().dtype; };
  }
}

void add_passed_features(Hypotheses& all) {
  add_copied_bytes(all);
  add_pass(all, "pass-through features are multiplied by the attention factor",
           [](const RowContext& s, int, double x) { return rounded(s.out().dtype, x * s.params.lambda); });
  for (const int block : {2, 4, 8, 16}) {
    add_pass(all,
             fmt::format("the last block of {} pairs goes beyond rotary_dim: features there are multiplied by the "
                         "attention factor",
                         block),
             [=](const RowContext& s, int feature, double x) {
               const int pairs = s.params.rotary_dim / 2, end = 2 * ((pairs + block - 1) / block * block);
               return feature < end ? rounded(s.out().dtype, x * s.params.lambda) : x;
             });
  }
  add_pass(all, "pass-through features are copied from the start of the head", [](const RowContext& s, int f, double) {
    return value_at(s.in(), {s.batch, s.seq, s.head}, f - s.params.rotary_dim);
  });
  for (const int block : {4, 8, 16, 32}) {
    Hypothesis h{
        .bug_class = BugClass::partial_passthrough,
        .sentence = fmt::format("features pass through from the last multiple of {} below rotary_dim on", block),
        .applies = partial};
    h.change.store = [=](const RowContext& s, int feature, double y) {
      return feature < s.params.rotary_dim / block * block ? y : value_at(s.in(), {s.batch, s.seq, s.head}, feature);
    };
    all.push_back(std::move(h));
  }
}

// Pass-through features that are copied as one block.
void add_block_copies(Hypotheses& all) {
  const struct {
    bool output, input;
    const char* words;
  } adjacent[] = {
      {true, false, "the stride between pass-through features of the output is taken to be 1"},
      {false, true, "the stride between pass-through features of the input is taken to be 1"},
      {true, true,
       "pass-through features are copied as one block, as if their stride were 1 in the input and the output"},
  };
  for (const auto& where : adjacent) {
    Hypothesis h{.bug_class = BugClass::strides_memory_race, .sentence = where.words, .applies = partial};
    h.change.index = [=](const RowContext& s, bool output, int feature, std::int64_t index) {
      const std::int64_t beyond = feature - s.params.rotary_dim;
      const std::int64_t stride = (output ? s.out() : s.in()).strides[3];
      return (output ? where.output : where.input) && beyond > 0 ? index - beyond * (stride - 1) : index;
    };
    all.push_back(std::move(h));
  }
}

// One offset for the input and the output, in which pass-through features are copied.
void add_passed_by_other_strides(Hypotheses& all) {
  for (const bool of_input : {true, false}) {
    Hypothesis h{.bug_class = BugClass::strides_memory_race,
                 .sentence = fmt::format(
                     "pass-through features are {}",
                     of_input ? "read from the input with the output's strides" : "written with the input's strides"),
                 .applies = [](const Call& call) { return partial(call) && !call.in_place; }};
    h.change.index = [=](const RowContext& s, bool output, int feature, std::int64_t index) {
      if (output == of_input || feature < s.params.rotary_dim) return index;
      const Tensor& other = output ? s.in() : s.out();
      return row_offset(other, {s.batch, s.seq, s.head}) + feature * other.strides[3];
    };
    all.push_back(std::move(h));
  }
}

// Pass-through features that are copied from another row than the rotated ones.
void add_passed_of_other_rows(Hypotheses& all) {
  const auto element = [](const Tensor& from, const RowIndex& row, int feature) {
    RowIndex inside = row;
    inside.head = std::min(row.head, from.shape[2] - 1);
    return value_at(from, inside, feature);
  };
  for (const bool key : {true, false}) {
    add_pass(all, fmt::format("pass-through features of {} are copied from {}", key ? "k" : "q", key ? "q" : "k"),
             [=](const RowContext& s, int f, double x) {
               const RowIndex row{s.batch, s.seq, s.head};
               return s.key == key ? rounded(s.out().dtype, element(key ? s.call.q : *s.call.k, row, f)) : x;
             });
    all.back().applies = [](const Call& call) { return partial(call) && call.k.has_value(); };
  }
  const struct {
    const char* words;
    RowIndex (*row)(const RowContext&);
  } others[] = {
      {"the first head", [](const RowContext& s) { return RowIndex{s.batch, s.seq, 0}; }},
      {"the first token", [](const RowContext& s) { return RowIndex{s.batch, 0, s.head}; }},
      {"the first batch", [](const RowContext& s) { return RowIndex{0, s.seq, s.head}; }},
  };
  for (const auto& other : others) {
    add_pass(all, fmt::format("pass-through features are copied from {}", other.words),
             [row = other.row](const RowContext& s, int f, double) {
               return rounded(s.out().dtype, value_at(s.in(), row(s), f));
             });
  }
}

void add_gradients(Hypotheses& all) {
  add_direct(all, "backward rotates forward", [](const Params&, const PairList&, Row&) {});
  add_direct(all, "backward negates sin without exchanging it between the two features of a pair",
             [](const Params&, const PairList&, Row& row) {
               for (double& s : row.sin) s = -s;
             });
  add_direct(all, "backward takes the sine of the feature rotary_dim/2 further on, in both pairings",
             [](const Params& p, const PairList&, Row& row) {
               const std::vector<double> forward = row.sin;
               const auto half = static_cast<std::size_t>(p.rotary_dim / 2);
               for (std::size_t f = 0; f < forward.size(); ++f) row.sin[f] = -forward[(f + half) % forward.size()];
             });
  add_direct(all, "backward exchanges cos between the two features of a pair, not only sin",
             [](const Params&, const PairList& pairs, Row& row) {
               for (const auto& [first, second] : pairs) {
                 const auto i = static_cast<std::size_t>(first), j = static_cast<std::size_t>(second);
                 std::swap(row.cos[i], row.cos[j]);
                 std::swap(row.sin[i], row.sin[j]);
                 row.sin[i] = -row.sin[i];
                 row.sin[j] = -row.sin[j];
               }
             });
  for (const bool zero : {false, true}) {
    Hypothesis h{.bug_class = BugClass::backward, .sentence = zero ? "every gradient is 0" : "every gradient is 1",
                 .applies = backward};
    const double value = zero ? 0 : 1;
    h.change.rotate = [=](const RowContext&, Values, Values, Values, Values) { return Values{value, value}; };
    h.change.pass = [=](const RowContext&, int, double) { return value; };
    all.push_back(std::move(h));
  }
}

}  // namespace

void add_partial_hypotheses(Hypotheses& all) {
  add_passed_features(all);
  add_block_copies(all);
  add_passed_by_other_strides(all);
  add_passed_of_other_rows(all);
  add_gradients(all);
}

}  // namespace rope::diagnosis
