#include "tools/judge/run/first_call.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/judge/run/fake_subject.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::all_claims;
using test::Fake;
using test::narrow_claims;

TEST_CASE("first call: the plain case is one row in f32, if that is claimed") {
  const std::optional<Case> plain = plain_case(all_claims(), {});
  REQUIRE(plain);
  CHECK(uncovered(*plain, all_claims()).empty());
  CHECK(plain->dtype == DType::f32);
  CHECK(std::vector{plain->batch, plain->seq, plain->heads, plain->key_heads} == std::vector{1, 1, 1, 0});
  CHECK((!plain->in_place && plain->direction == Direction::forward && plain->layout == Layout::contiguous));
  Claims only_bf16 = all_claims();
  for (std::uint32_t& outputs : only_bf16.capabilities.out_dtypes) outputs = 0;
  only_bf16.capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  only_bf16.head_dims = {96};
  const std::optional<Case> other = plain_case(only_bf16, {});
  REQUIRE(other);
  CHECK((other->dtype == DType::bf16 && other->spec.head_dim == 96));
}

TEST_CASE("first call: the plain case keeps to the selection; there may be none") {
  Selection selection;
  selection.dtypes = {DType::f16};
  selection.spec = RopeSpec{};
  selection.spec->head_dim = selection.spec->rotary_dim = 64;
  const std::optional<Case> plain = plain_case(all_claims(), selection);
  REQUIRE(plain);
  CHECK((plain->dtype == DType::f16 && plain->spec.head_dim == 64));
  CHECK_FALSE(plain_case(narrow_claims(), selection));
}

TEST_CASE("first call: only a subject that says so cannot run") {
  Oracles oracles;
  Reply reply{ReplyKind::done, ROPE_FAILED, "raised ValueError: no", 0};
  Fake subject(narrow_claims(), [&](Call&) { return reply; });
  CHECK(why_no_call_runs(subject, oracles, {}).empty());
  CHECK(subject.calls == 1);
  reply.cannot_run = "there is no compiler";
  CHECK_THAT(why_no_call_runs(subject, oracles, {}), Contains("no compiler"));
  Selection unclaimed;
  unclaimed.dtypes = {DType::f64};
  CHECK(why_no_call_runs(subject, oracles, unclaimed).empty());
  CHECK(subject.calls == 2);
}

}  // namespace
}  // namespace rope
