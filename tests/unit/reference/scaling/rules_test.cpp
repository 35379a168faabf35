// Each rule's description of itself, compared with what it computes.
#include "reference/scaling/rules.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <utility>
#include <vector>

namespace rope {
namespace {

constexpr scaling::Setting whole_head{16, 16, 10000, 0};
constexpr double length = 1024;

// theta, followed by lambda.
std::vector<double> numbers(const Scaling& rule, std::int64_t tokens) {
  scaling::Setting setting = whole_head;
  setting.sequence_length = tokens;
  std::vector<double> all = frequencies<double>(rule, setting);
  all.push_back(attention_factor<double>(rule, setting));
  return all;
}

TEST_CASE("every rule but none has examples, each of its own kind, no two alike", "[scaling_rules]") {
  std::set<std::size_t> kinds;
  std::vector<std::pair<Scaling, double>> seen;
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    INFO(rule_words(rule, base));
    kinds.insert(rule.index());
    CHECK(std::ranges::find(seen, std::pair{rule, base}) == seen.end());
    CHECK((base == scaling::usual_base || base == scaling::other_base));
    seen.emplace_back(rule, base);
  }
  CHECK(kinds.size() == scaling_kind_count - 1);
}

// A kernel may read one choice only where the other has a certain value.
TEST_CASE("yarn's examples have every combination of its choices", "[scaling_rules]") {
  std::set<std::pair<bool, scaling::Yarn::Clamp>> choices;
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    if (const auto* yarn = std::get_if<scaling::Yarn>(&rule)) choices.emplace(yarn->truncate, yarn->clamp);
  }
  CHECK(choices.size() == 4);
}

TEST_CASE("an example differs from no scaling", "[scaling_rules]") {
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    INFO(rule_words(rule, base));
    CHECK(numbers(rule, 4096) != numbers(scaling::None{}, 4096));
  }
}

TEST_CASE("a rule follows the length of the sequence exactly if it says so", "[scaling_rules]") {
  CHECK_FALSE(follows_length(scaling::None{}));
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    INFO(rule_words(rule, base));
    CHECK(follows_length(rule) == (numbers(rule, 512) != numbers(rule, 4096)));
    if (follows_length(rule)) CHECK(original_length(rule) == length);
  }
}

TEST_CASE("a rule of a smaller head is valid there", "[scaling_rules]") {
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    INFO(rule_words(rule, base));
    for (const int pairs : {4, 8, 20}) {
      const Scaling fitted = for_pairs(rule, pairs);
      CHECK(goes_with(fitted, {2 * pairs, 2 * pairs, base, 0}));
      for (const auto& [name, values] : lists_of(fitted)) CHECK(values->size() == static_cast<std::size_t>(pairs));
    }
  }
}

TEST_CASE("examples that do not fit the dimensions are left out", "[scaling_rules]") {
  for (const scaling::Setting& setting : {scaling::Setting{2, 2, 10000, 0}, {64, 32, 10000, 0}}) {
    const auto rules = example_rules(setting, length);
    CHECK(rules.size() < example_rules(whole_head, length).size());
    for (const auto& [rule, base] : rules) CHECK(goes_with(rule, setting));
  }
}

TEST_CASE("a rule by 4 is by 4, over the given length", "[scaling_rules]") {
  const std::vector<Scaling> rules = fourfold_rules(whole_head, length);
  CHECK_FALSE(rules.empty());
  for (const Scaling& rule : rules) {
    INFO(rule_words(rule, 10000));
    const double of_rule = original_length(rule);
    CHECK((of_rule == 0 || of_rule == length));
    CHECK(numbers(rule, 4096) != numbers(scaling::None{}, 4096));
  }
}

// A draw without chance: `kind` sets the rule, and each parameter gets its first value.
struct First {
  std::int64_t kind;
  std::int64_t below(std::int64_t) const { return kind - 1; }
  bool one_in(int) const { return false; }
  double one_of(std::initializer_list<double> values) const { return *values.begin(); }
};

TEST_CASE("a draw gives the rule that it names, or none if that rule does not fit", "[scaling_rules]") {
  for (std::size_t i = 1; i < scaling_kind_count; ++i) {
    First draw{static_cast<std::int64_t>(i)};
    CHECK(drawn_rule(draw, whole_head).index() == i);
    const Scaling part = drawn_rule(draw, {64, 2, 10000, 0});
    CHECK((part.index() == i || part == Scaling(scaling::None{})));
    CHECK(goes_with(part, {64, 2, 10000, 0}));
  }
}

TEST_CASE("a rule's words begin with its name, for none with the base", "[scaling_rules]") {
  CHECK(rule_words(scaling::None{}, 10000) == "base 10000");
  CHECK(rule_words(scaling::Linear{{}, 4}, 10000) == "linear, factor 4, base 10000");
  for (const auto& [rule, base] : example_rules(whole_head, length)) {
    CHECK(rule_words(rule, base).starts_with(kind_of(rule)));
  }
}

TEST_CASE("every other value of a rule's choices is made once") {
  scaling::Yarn rule;
  rule.factor = 3;
  const std::vector<Scaling> others = with_other_choices(rule);
  REQUIRE(others.size() == 2);
  const auto& cut = std::get<scaling::Yarn>(others[0]);
  CHECK_FALSE(cut.truncate);
  CHECK(cut.clamp == rule.clamp);
  CHECK(cut.factor == 3);
  const auto& clamped = std::get<scaling::Yarn>(others[1]);
  CHECK(clamped.truncate);
  CHECK(clamped.clamp == scaling::Yarn::Clamp::pairs);
  CHECK(with_other_choices(scaling::Linear{}).empty());
}

}  // namespace
}  // namespace rope
