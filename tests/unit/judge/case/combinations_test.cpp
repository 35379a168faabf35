#include "tools/judge/case/combinations.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/case_list.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope {
namespace {

std::size_t met(const std::vector<Case>& cases, int strength) {
  Combinations combinations(strength);
  std::size_t count = 0;
  for (const Case& c : cases) {
    count += combinations.fresh(c);
    combinations.add(c);
  }
  return count;
}

TEST_CASE("a combination is fresh once, and a change of one trait meets all others anew", "[combinations]") {
  std::size_t n = 0;
  for (const Field& field : fields()) n += field.traits.size();
  CHECK(n >= 24);
  for (const auto& [strength, all, with_one] :
       {std::tuple(2, n * (n - 1) / 2, n - 1), std::tuple(3, n * (n - 1) * (n - 2) / 6, (n - 1) * (n - 2) / 2)}) {
    Combinations combinations(strength);
    Case c;
    CHECK(combinations.fresh(c) == all);
    combinations.add(c);
    CHECK(combinations.fresh(c) == 0);
    c.in_place = true;
    CHECK(combinations.fresh(c) == with_one);
    c.in_place = false;
    c.seed = 7;  // not a trait
    CHECK(combinations.fresh(c) == 0);
  }
}

// The list exists for what it adds beyond the same number of random cases.
TEST_CASE("combined cases are covered, and more traits meet in them than in as many random ones", "[combinations]") {
  const Claims claims = test::all_claims();
  for (const Level level : {Level::quick, Level::full}) {
    Selection selection;
    selection.level = level;
    CaseList list("ROT-01", claims, selection, nullptr);
    list.add_pairwise();
    const std::vector<Case> combined = list.take();
    CHECK(combined.size() == (level == Level::quick ? 100 : 500));
    rc::Random random(1);
    std::vector<Case> drawn;
    for (const Case& c : combined) {
      CHECK(uncovered(c, claims).empty());
      drawn.push_back(*wide_random_case(random, claims, 40'000, [](Case&) {}));
    }
    const int strength = level == Level::quick ? 2 : 3;
    CHECK(static_cast<double>(met(combined, strength)) > 1.1 * static_cast<double>(met(drawn, strength)));
  }
}

TEST_CASE("wide cases have sizes of every order, within their limit of elements", "[combinations]") {
  rc::Random random(3);
  int most_tokens = 0, most_batches = 0, most_heads = 0, widest = 0;
  for (int i = 0; i < 2000; ++i) {
    const Case c = *wide_random_case(random, test::all_claims(), 40'000, [](Case&) {});
    CHECK(std::int64_t{c.batch} * c.seq * (c.heads + c.key_heads) * c.spec.head_dim <= 40'000);
    if (!is_packed(c.form)) most_tokens = std::max(most_tokens, c.seq);  // a packed row has several batches' tokens
    most_batches = std::max(most_batches, c.batch);
    most_heads = std::max(most_heads, c.heads);
    widest = std::max(widest, c.spec.head_dim);
  }
  CHECK(most_tokens == 2050);
  CHECK(most_batches == 65);
  CHECK(most_heads == 130);
  CHECK(widest == 1024);
}

}  // namespace
}  // namespace rope
