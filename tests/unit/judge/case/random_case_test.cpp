#include "tools/judge/case/random_case.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

void as_drawn(Case&) {}

// Claims of a kernel that can do at least one call.
Claims any_claims() {
  Claims claims = test::all_claims();
  rope_capabilities& k = claims.capabilities;
  const auto some = [](std::uint32_t mask) {  // a part of it that is not empty
    const auto part = *rc::gen::inRange<std::uint32_t>(0, 1u << 16) & mask;
    return part == 0 ? mask & ~(mask - 1) : part;
  };
  std::uint32_t inputs = some(0xF);
  for (std::uint32_t i = 0; i < 4; ++i) k.out_dtypes[i] = (inputs >> i & 1u) != 0 ? some(k.out_dtypes[i]) : 0;
  k.table_dtypes = some(k.table_dtypes);
  k.theta_dtypes = some(k.theta_dtypes);
  k.position_dtypes = some(k.position_dtypes);
  k.pairings = some(k.pairings);
  k.angle_sources = some(k.angle_sources);
  const std::uint32_t widths = some(3);
  k.half_tables = widths & 1u;
  k.full_tables = widths >> 1;
  k.scalings = some(k.scalings) | ROPE_BIT(ROPE_SCALING_NONE);
  k.features = *rc::gen::inRange<std::uint32_t>(0, 1u << 13);
  k.max_position = *rc::gen::inRange<std::int64_t>(200, 1 << 22);
  if (test::coin()) claims.head_dims = {64, 96};
  return claims;
}

TEST_CASE("a seed always draws the same cases", "[random_case]") {
  rc::prop("whatever was drawn before", [] {
    const auto seed = *rc::gen::inRange<std::uint64_t>(0, UINT64_MAX);
    const Claims claims = any_claims();
    rc::Random one(seed), two(seed);
    for (int i = 0; i < 10; ++i) {
      const auto a = random_case(one, claims, 100'000, as_drawn);
      const auto b = random_case(two, claims, 100'000, as_drawn);
      RC_ASSERT(a.has_value());
      RC_ASSERT(b.has_value());
      RC_ASSERT(*a == *b);
    }
  });
}

TEST_CASE("another seed draws other cases", "[random_case]") {
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rc::Random random(seed);
    texts.insert(to_text(*random_case(random, test::all_claims(), 100'000, as_drawn)));
  }
  CHECK(texts.size() == 50);
}

TEST_CASE("every random case is valid and within the claims, however narrow they are", "[random_case]") {
  rc::prop("for random claims", [] {
    const Claims claims = any_claims();
    rc::Random random(*rc::gen::inRange<std::uint64_t>(0, UINT64_MAX));
    for (int i = 0; i < 20; ++i) {
      const auto c = random_case(random, claims, 100'000, as_drawn);
      RC_ASSERT(c.has_value());
      RC_LOG() << to_text(*c);
      RC_ASSERT(uncovered(*c, claims) == "");
      RC_ASSERT(case_from_text(to_text(*c)) == *c);  // case_from_text() validates it
    }
  });
}

TEST_CASE("a requirement's change is in every case, and an impossible change gives none", "[random_case]") {
  rc::Random random(7);
  const Claims claims = test::all_claims();
  for (int i = 0; i < 50; ++i) {
    const auto c = random_case(random, claims, 100'000, [](Case& candidate) { candidate.seq = 31; });
    REQUIRE(c.has_value());
    CHECK(c->seq == 31);
  }
  const auto too_far = [](Case& c) { c.start = std::int64_t{1} << 50, c.pattern = PositionPattern::consecutive; };
  CHECK_FALSE(random_case(random, claims, 100'000, too_far).has_value());
  CHECK_FALSE(random_case(random, test::no_claims(), 100'000, as_drawn).has_value());
}

TEST_CASE("a random case has no more elements than allowed, or one row", "[random_case]") {
  const Claims claims = test::all_claims();
  rc::Random random(3);
  for (const std::int64_t most : {1, 1000, 20'000}) {
    CAPTURE(most);
    std::int64_t largest = 0;
    for (int i = 0; i < 500; ++i) {
      const Case c = *(i % 2 == 0 ? random_case(random, claims, most, as_drawn)
                                  : wide_random_case(random, claims, most, as_drawn));
      const std::int64_t elements = std::int64_t{c.batch} * c.seq * (c.heads + c.key_heads) * c.spec.head_dim;
      CHECK(elements <= std::max<std::int64_t>(most, c.spec.head_dim));
      largest = std::max(largest, elements);
    }
    CHECK(largest > most * 9 / 10);
  }
}

TEST_CASE("every value that a case can hold turns up", "[random_case]") {
  const Claims claims = test::all_claims();
  rc::Random random(1);
  std::set<std::string> seen;
  const auto note = [&](const char* what, auto value) {
    seen.insert(std::string(what) + " " + std::to_string(static_cast<int>(value)));
  };
  for (int i = 0; i < 3000; ++i) {
    const Case c = *random_case(random, claims, 100'000, as_drawn);
    note("dtype", c.dtype);
    note("source", c.source);
    note("form", c.form);
    note("position_dtype", c.position_dtype);
    note("pattern", c.pattern);
    note("direction", c.direction);
    note("layout", c.layout);
    note("output", c.output);
    note("pairing", c.spec.pairing);
    note("in_place", c.in_place);
    note("full_tables", c.full_tables);
    note("unequal_halves", c.unequal_halves);
    note("spare_rows", c.spare_rows > 0);
    note("partial", c.spec.rotary_dim < c.spec.head_dim);
    note("axes", c.spec.axes.count());
    note("order", c.spec.axes.order);
    note("grouped", c.key_heads != 0 && c.key_heads != c.heads);
    note("widened", c.dtype != c.out_dtype);
    note("factor", c.spec.attention_factor.has_value());
    note("decode with several batches", c.seq == 1 && c.batch > 1);
    note("as many tokens as batches", c.seq == c.batch && c.batch > 1);
    note("more tokens than a tile of 64", c.seq > 64);
    note("more tokens than a block of 256", c.seq > 256);
    note("more batches than a warp", c.batch > 32);
    note("more heads than a warp", c.heads > 32);
    if (c.source == AngleSource::computed) note("rule", c.spec.scaling.index());
  }
  // 4 dtypes, 3 sources, 6 forms, 2 position dtypes, 6 patterns, 2 directions. 5 layouts, 3 of the output, 2 pairings,
  // 3 counts of axes, 4 orders, the rules, and both values of the other fourteen.
  CAPTURE(seen);
  CHECK(seen.size() == 4 + 3 + 6 + 2 + 6 + 2 + 5 + 3 + 2 + 3 + 4 + scaling_kind_count + 2 * 14);
}

TEST_CASE("every scaling rule is drawn; apart from none, all about equally often", "[random_case]") {
  const Claims claims = test::all_claims();
  rc::Random random(1);
  std::map<std::string_view, int> seen;
  for (int i = 0; i < 3000; ++i) ++seen[kind_of(random_case(random, claims, 100'000, as_drawn)->spec.scaling)];
  for (const std::string_view kind : scaling_kinds) {
    INFO(kind);
    CHECK(seen[kind] > 40);
  }
}

}  // namespace
}  // namespace rope
