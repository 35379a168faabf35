// Diagnoses of mistakes in some places only: pairs, features, heads and tokens, by their numbers. No hypothesis names
// these places: the search for conditions finds them.
#include <fmt/format.h>

#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// A kernel whose results are right, but as `with_modified_call` by a change where `is_wrong` says so.
Fake wrong_where(const std::function<void(Call&)>& change, const std::function<bool(const ResultElement&)>& is_wrong) {
  const std::shared_ptr<Fake> other(new Fake(with_modified_call(change)));
  return Fake(other->claims(), [=](Call& call) {
    const Call before = call;
    Call changed = call;
    other->apply(changed);
    const Reply reply = computed(call);
    for (const bool key : {false, true}) {
      if (key && !call.k) continue;
      Tensor& output = key ? k_of(call) : q_of(call);
      const Tensor& wrong = key ? k_of(changed) : q_of(changed);
      for_each_row(output, [&](const RowIndex& row, std::byte* data) {
        for (std::int64_t f = 0; f < output.shape[3]; ++f) {
          if (!is_wrong({before, key, row, f, 0, 0})) continue;
          store(output.dtype, data + f * output.strides[3] * static_cast<std::int64_t>(size_of(output.dtype)),
                value_at(wrong, row, static_cast<int>(f)));
        }
      });
    }
    return reply;
  });
}

void turn_back(Call& call) {
  call.direction = call.direction == Direction::forward ? Direction::backward : Direction::forward;
}
void next_position(Call& call) {
  if (!call.positions && !call.cu_seqlens && !call.seqlen_offsets) ++call.position_offset;
}

}  // namespace

TEST_CASE("Literals about blocks hold for the rows and elements that their words say") {
  using namespace diagnosis;
  Observation seen;
  seen.c.spec.head_dim = 30;
  seen.c.spec.rotary_dim = 22;
  seen.c.heads = 1;
  seen.rows.emplace_back();
  const auto tokens = [&](Comparison op, std::int64_t block, int count, std::int64_t limit = 0) {
    std::string held;
    seen.c.seq = count;
    for (seen.rows[0].seq = 0; seen.rows[0].seq < count; ++seen.rows[0].seq) {
      held += predicate_of({Quantity::token, op, limit, block})({&seen, 0}) ? 'x' : '.';
    }
    return held;
  };
  CHECK(tokens(Comparison::left_over, 4, 11) == "........xxx");
  CHECK(tokens(Comparison::left_over, 4, 3) == "...");  // one block is started
  CHECK(tokens(Comparison::in_no_whole_block, 4, 11) == "........xxx");
  CHECK(tokens(Comparison::in_no_whole_block, 4, 3) == "xxx");
  CHECK(tokens(Comparison::in_whole_blocks, 4, 11) == "xxxxxxxx...");
  CHECK(tokens(Comparison::before_last_block, 4, 11) == "xxxxxxxx...");
  CHECK(tokens(Comparison::before_last_block, 4, 8) == "xxxx....");
  CHECK(tokens(Comparison::last, 0, 5) == "....x");
  CHECK(tokens(Comparison::remainder, 4, 9, 3) == "...x...x.");
  CHECK(tokens(Comparison::no_multiple, 4, 9) == ".xxx.xxx.");
  const auto features = [&](Quantity quantity, std::int64_t block) {
    std::string held;
    for (int f = 0; f < seen.c.spec.head_dim; ++f) {
      held += predicate_of({quantity, Comparison::left_over, 0, block})({&seen, 0, 1, false, f}) ? 'x' : '.';
    }
    return held;
  };
  // 11 pairs, half_split, and 8 pass-through features
  CHECK(features(Quantity::pair, 4) == "........xxx........xxx........");
  CHECK(features(Quantity::pair, 16) == "xxxxxxxxxxxxxxxxxxxxxx........");  // a loop over vectors does none
  CHECK(features(Quantity::feature, 8) == "........................xxxxxx");
  CHECK(features(Quantity::passed_feature, 5) == "...........................xxx");
  CHECK(predicate_of({Quantity::pair, Comparison::left_over, 0, 4})({&seen, 0}));  // of a row: some element
  CHECK(words_of(Literal{Quantity::pair, Comparison::at_least, 0}) == "rotary features");
  CHECK(words_of(Literal{Quantity::pair, Comparison::remainder, 3, 4}) == "pair 3 of each 4");
  CHECK(words_of(Literal{Quantity::number_of_heads, Comparison::remainder, 1, 2}) == "an odd number of heads");
  CHECK(words_of(Literal{Quantity::head_dim, Comparison::remainder, 0, 64}) == "head_dim a multiple of 64");
}

TEST_CASE("Two limits are a range only if something between them fails") {
  using namespace diagnosis;
  const Condition from_64_to_128{{Quantity::head_dim, Comparison::at_least, 64},
                                 {Quantity::head_dim, Comparison::at_most, 128}};
  Observations seen;
  const auto add = [&](int head_dim, char wrong) {
    seen.push_back(std::make_unique<Observation>());
    seen.back()->c.spec.head_dim = head_dim;
    seen.back()->rows.push_back({});
    seen.back()->wrong.push_back(wrong);
  };
  add(64, 1);
  add(128, 1);
  add(96, 0);
  CHECK(has_gap(from_64_to_128, seen));
  CHECK_FALSE(has_gap({{Quantity::head_dim, Comparison::at_least, 64}}, seen));
  add(80, 1);
  CHECK_FALSE(has_gap(from_64_to_128, seen));
}

TEST_CASE("A mistake in one of each four pairs is named with the pair") {
  Fake subject = wrong_where(turn_back, [](const ResultElement& e) { return e.pair() % 4 == 3; });
  const auto found = diagnosed(subject);
  CHECK(with_condition(found) == "the inverse rotation: sin is negated, only pair 3 of each 4");
  CHECK(first_of(found).bug_class == BugClass::sign_direction);
  CHECK(found->certain);
}

TEST_CASE("A mistake in the whole vectors of pairs, but not in the rest, is named with their size") {
  Fake subject = wrong_where(turn_back, [](const ResultElement& e) {
    return e.pair() >= 0 && e.pair() < e.call.rotary_dim / 2 / 8 * 8;
  });
  CHECK(with_condition(diagnosed(subject)) == "the inverse rotation: sin is negated, only pairs in whole blocks of 8");
}

TEST_CASE("A mistake in a range of pairs is named with both ends") {
  Fake subject = wrong_where(turn_back, [](const ResultElement& e) { return e.pair() >= 4 && e.pair() < 12; });
  CHECK(with_condition(diagnosed(subject)) ==
        "the inverse rotation: sin is negated, only pair 4 or more, pair 11 or less");
}

TEST_CASE("A mistake where the number of heads is odd is named so") {
  Fake subject = wrong_where(turn_back, [](const ResultElement& e) { return e.heads() % 2 == 1; });
  CHECK(with_condition(diagnosed(subject)) == "the inverse rotation: sin is negated, only an odd number of heads");
}

TEST_CASE("A position that is wrong in tokens left over from blocks is named with the size of the blocks") {
  Fake subject = wrong_where(next_position, [](const ResultElement& e) {
    return e.row.seq >= std::max<std::int64_t>(e.call.q.shape[1] / 8, 1) * 8;
  });
  CHECK(with_condition(diagnosed(subject)) ==
        "position p + 1 is used, not p, only tokens left over from blocks of 8, positions from an offset");
}

TEST_CASE("Features that are not written are named by where they are") {
  const auto said = [](const std::function<bool(const ResultElement&)>& is_left_out) {
    Fake subject = leaving_out(is_left_out);
    const auto found = diagnosed(subject);
    return fmt::format("{}: {}", word_of(first_of(found).bug_class), with_condition(found));
  };
  CHECK(said([](const ResultElement& e) { return e.feature >= 64; }) ==
        "launch-limits: the output is never written, only feature 64 or more");
  CHECK_THAT(said([](const ResultElement& e) {
               const std::int64_t passed = e.call.q.shape[3] - e.call.rotary_dim;
               return e.feature - e.call.rotary_dim >= passed / 8 * 8;
             }),
             Catch::StartsWith("partial-passthrough: ") &&
                 Catch::EndsWith(" never written, only pass-through features left over from blocks of 8"));
}

TEST_CASE("Rows that a launch with two sizes exchanged leaves out are named by both sizes") {
  Fake subject = leaving_out([](const ResultElement& e) { return e.row.seq >= e.heads(); });
  const auto found = diagnosed(subject);
  CHECK(with_condition(found) == "the output is never written, only in tokens from the number of heads on");
  CHECK(first_of(found).bug_class == BugClass::launch_limits);
}

TEST_CASE("What is never written is not said to be written over another row, which is right") {
  Fake kernel = leaving_out([](const ResultElement& e) {
    const bool has_own = e.call.positions && e.call.positions->strides[1] != 0;
    return has_own && e.row.batch > 0 && e.row.batch + 1 == e.call.q.shape[0];
  });
  CHECK(first_of(diagnosed(kernel, {"ROT-01", "POS-04"})).sentence == "the output is never written");
}

TEST_CASE("A k that comes out as it went in is not said to lie in the last tile of q's heads") {
  Fake kernel = altered([](const ResultElement& e) { return e.key ? e.x : e.y; });
  CHECK(with_condition(diagnosed(kernel)) == "the output is the input, unrotated, only in k");
}
