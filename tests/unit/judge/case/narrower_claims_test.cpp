#include "tools/judge/case/narrower_claims.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

using Strings = std::vector<std::string>;
using test::all_claims;

Case made_by(const std::function<void(Case&)>& change) {
  Case c;
  change(c);
  return c;
}

const Case f32_case;
const Case in_place_case = made_by([](Case& c) { c.in_place = true; });
const Case bf16_case = made_by([](Case& c) { c.dtype = c.out_dtype = c.given = DType::bf16; });
const Case bf16_in_place_case = made_by([](Case& c) {
  c.dtype = c.out_dtype = DType::bf16;
  c.in_place = true;
});

Strings dropped(const std::vector<Case>& failing, const std::vector<Case>& passing,
                const Claims& claims = all_claims()) {
  const std::optional<NarrowerClaims> found = narrower_claims(claims, failing, passing);
  if (!found) return {};
  for (const Case& c : failing) CHECK_FALSE(uncovered(c, found->claims).empty());
  CHECK(std::ranges::any_of(passing, [&](const Case& c) { return uncovered(c, found->claims).empty(); }));
  Strings words = found->dropped;
  if (found->has_fewer_positions) words.push_back(fmt::format("beyond {}", found->claims.capabilities.max_position));
  return words;
}

TEST_CASE("narrower claims: the one claim that all failing cases need is dropped") {
  CHECK(dropped({in_place_case}, {f32_case, bf16_case}) == Strings{"in place"});
  CHECK(dropped({in_place_case, bf16_in_place_case}, {f32_case, bf16_case}) == Strings{"in place"});
  const Case late = made_by([](Case& c) { c.start = 70000; });
  CHECK(dropped({late}, {f32_case, made_by([](Case& c) { c.start = 60000; })}) == Strings{"beyond 70002"});
}

TEST_CASE("narrower claims: several claims are dropped, none of them needlessly") {
  Strings found = dropped({in_place_case, bf16_case, bf16_in_place_case}, {f32_case});
  std::ranges::sort(found);
  CHECK(found == Strings{"bf16 input", "in place"});
}

TEST_CASE("narrower claims: of two claims that would do, the one with fewer passing cases goes") {
  CHECK(dropped({bf16_in_place_case}, {f32_case, bf16_case, bf16_case}) == Strings{"in place"});
  CHECK(dropped({bf16_in_place_case}, {f32_case, in_place_case, in_place_case}) == Strings{"bf16 input"});
}

TEST_CASE("narrower claims: there are none if a plain case fails, or if nothing passes") {
  const Case other_f32_case = made_by([](Case& c) { c.heads = 3; });
  CHECK(dropped({in_place_case, f32_case}, {other_f32_case}).empty());
  CHECK(dropped({in_place_case}, {}).empty());
  CHECK(dropped({in_place_case}, {in_place_case}).empty());
  CHECK(dropped({}, {f32_case}).empty());
}

TEST_CASE("narrower claims: a kernel's only dtype, pairing or source stays, unless another dtype is left") {
  Claims claims;
  claims.capabilities.out_dtypes[ROPE_F32] = ROPE_BIT(ROPE_F32);
  claims.capabilities.pairings = ROPE_BIT(ROPE_HALF_SPLIT);
  claims.capabilities.angle_sources = ROPE_BIT(ROPE_TABLES);
  claims.capabilities.table_dtypes = ROPE_BIT(ROPE_F32);
  claims.capabilities.half_tables = 1;
  claims.capabilities.features = ROPE_BIT(ROPE_FEATURE_IN_PLACE);
  claims.capabilities.max_position = 1 << 20;
  CHECK(dropped({f32_case}, {f32_case}, claims).empty());
  CHECK(dropped({in_place_case}, {f32_case}, claims) == Strings{"in place"});
}

}  // namespace
}  // namespace rope
