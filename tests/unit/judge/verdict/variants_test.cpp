#include "tools/judge/verdict/variants.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/judge/run/fake_subject.hpp"

namespace rope {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("variants: a kernel that does what every kernel does has none", "[variants]") {
  CHECK(permitted_variants(test::narrow_claims()).empty());
  CHECK(permitted_variants(test::no_claims()).empty());
}

TEST_CASE("variants: each claim that another right kernel may lack is named", "[variants]") {
  CHECK(permitted_variants(test::all_claims()) == Words{"f32 output for f16 input", "f32 output for bf16 input",
                                                        "cos and sin taken in f16", "cos and sin taken in bf16"});
  Claims claims = test::narrow_claims();
  claims.capabilities.alignment = 64;
  CHECK(permitted_variants(claims) == Words{"data aligned to 64 bytes"});
  claims.capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_F32);
  CHECK(permitted_variants(claims) == Words{"f32 output for bf16 input", "data aligned to 64 bytes"});
}

TEST_CASE("variants: the width of the tables counts only if tables are claimed", "[variants]") {
  Claims claims = test::narrow_claims();
  claims.capabilities.half_tables = 1;
  CHECK(permitted_variants(claims).empty());
  claims.capabilities.angle_sources |= ROPE_BIT(ROPE_TABLES);
  CHECK(permitted_variants(claims) == Words{"only tables of half width"});
  claims.capabilities.full_tables = 1;
  CHECK(permitted_variants(claims).empty());
  claims.capabilities.half_tables = 0;
  CHECK(permitted_variants(claims) == Words{"only tables of full width"});
}

}  // namespace
}  // namespace rope
