// The tables of words: every enumerator has its own, and no decision rests on them.
#include <catch2/catch.hpp>

#include <set>
#include <string>

#include "tools/diagnose/cause_class.hpp"

using namespace rope;
using diagnosis::Circumstance;
using diagnosis::class_of_condition;
using diagnosis::Comparison;
using diagnosis::Condition;
using diagnosis::Literal;
using diagnosis::Quantity;
using diagnosis::UnderRule;

TEST_CASE("Every class, circumstance, rule and quantity has its own words") {
  std::set<std::string_view> classes;
  for (const BugClassWord& row : bug_class_words()) {
    CHECK_FALSE(row.word.empty());
    CHECK(classes.insert(row.word).second);
    CHECK(word_of(row.bug_class) == row.word);
  }
  CHECK(classes.size() == static_cast<std::size_t>(BugClass::count));
  std::set<std::string> conditions;
  for (const auto& entry : diagnosis::circumstances()) CHECK(conditions.insert(words_of(Literal{entry.what})).second);
  for (std::size_t rule = 0; rule < std::variant_size_v<Scaling>; ++rule) {
    CHECK(conditions.insert(words_of(Literal{UnderRule{rule}})).second);
  }
  for (const auto& entry : diagnosis::quantities()) {
    for (const Comparison op : {Comparison::equal, Comparison::at_least, Comparison::at_most}) {
      CHECK(conditions.insert(words_of(Literal{entry.what, op, 7})).second);
    }
  }
}

TEST_CASE("The class that a circumstance speaks for is the class of the condition") {
  for (const auto& entry : diagnosis::circumstances()) {
    INFO(entry.words);
    CHECK(class_of_condition({Literal{entry.what}}) == entry.speaks_for);
  }
  CHECK(class_of_condition({Literal{UnderRule{1}}}) == BugClass::scaling_config);
}

TEST_CASE("If several circumstances speak for a class, the one that says most decides, in any order") {
  const Literal backward{Circumstance::backward}, in_place{Circumstance::in_place}, in_bf16{Circumstance::bf16};
  CHECK(class_of_condition({in_bf16, in_place, backward}) == BugClass::backward);
  CHECK(class_of_condition({in_place, in_bf16}) == BugClass::strides_memory_race);
  CHECK_FALSE(class_of_condition({Literal{Circumstance::forward}}));
}

TEST_CASE("Limits from a thousand on speak for a launch, and heads for heads") {
  CHECK(class_of_condition({Literal{Quantity::token, Comparison::at_least, 1024}}) == BugClass::launch_limits);
  CHECK_FALSE(class_of_condition({Literal{Quantity::token, Comparison::at_least, 999}}));
  CHECK(class_of_condition({Literal{Quantity::head, Comparison::equal, 3}}) == BugClass::heads_batch_qk);
  CHECK_FALSE(class_of_condition({Literal{Quantity::position, Comparison::at_least, 1 << 21}}));
}

TEST_CASE("A cause that fits only from position one million on is one of precision; one up to there is not") {
  diagnosis::Hypothesis h;
  h.bug_class = BugClass::position_offset;
  diagnosis::ScoredHypothesis cause;
  cause.hypothesis = &h;
  cause.condition = {Literal{Quantity::position, Comparison::at_least, 1 << 20}};
  CHECK(class_of(cause) == BugClass::precision);
  cause.condition[0].op = Comparison::at_most;
  CHECK(class_of(cause) == BugClass::position_offset);
}

TEST_CASE("The condition of what is left out tells the class") {
  diagnosis::Hypothesis h;
  h.bug_class = BugClass::strides_memory_race;
  h.unrotated = true;
  diagnosis::ScoredHypothesis cause;
  cause.hypothesis = &h;
  const auto of = [&](Condition condition) {
    cause.condition = std::move(condition);
    return class_of(cause);
  };
  CHECK(of({}) == BugClass::strides_memory_race);
  CHECK(of({Literal{Quantity::head_dim, Comparison::equal, 64}}) == BugClass::precision);
  CHECK(of({Literal{Quantity::head_dim, Comparison::at_least, 64}}) == BugClass::strides_memory_race);
  CHECK(of({Literal{Quantity::token, Comparison::at_least, 16}}) == BugClass::launch_limits);
  CHECK(of({Literal{Quantity::token, Comparison::at_least, 17}}) == BugClass::strides_memory_race);
  CHECK(of({Literal{Quantity::number_of_tokens, Comparison::at_most, 16}}) == BugClass::strides_memory_race);
  CHECK(of({Literal{Circumstance::in_k}}) == BugClass::strides_memory_race);
  CHECK(of({Literal{Circumstance::in_k}, Literal{Circumstance::several_heads}}) == BugClass::heads_batch_qk);
  CHECK(of({Literal{Circumstance::several_batches}, Literal{Circumstance::positions_for_each_batch}}) ==
        BugClass::varlen_packing_cp);
}

TEST_CASE("A condition in words") {
  CHECK(words_of(Condition{}).empty());
  CHECK(words_of(Condition{Literal{Circumstance::in_place}, Literal{UnderRule{Scaling(scaling::Yarn{}).index()}},
                           Literal{Quantity::head_dim, Comparison::at_least, 64}}) ==
        "only in place, yarn scaling, head_dim 64 or more");
}
