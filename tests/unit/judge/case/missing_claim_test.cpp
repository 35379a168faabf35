#include "tools/judge/case/missing_claim.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"

namespace rope {
namespace {

std::string missing(const std::function<void(Selection&)>& select, const Claims& claims = test::narrow_claims()) {
  Selection selection;
  select(selection);
  return missing_claim(claims, selection);
}

TEST_CASE("missing claim: it is the one that what was selected needs", "[missing_claim]") {
  CHECK(missing([](Selection&) {}).empty());
  CHECK(missing([](Selection& s) { s.pairing = Pairing::interleaved; }) == "interleaved is not claimed");
  CHECK(missing([](Selection& s) { s.dtypes = {DType::bf16}; }) == "bf16 input is not claimed");
  const auto with_spec = [](const std::function<void(RopeSpec&)>& change) {
    return missing([&](Selection& s) {
      s.spec.emplace();
      s.spec->head_dim = s.spec->rotary_dim = 64;
      change(*s.spec);
    });
  };
  CHECK(with_spec([](RopeSpec&) {}).empty());
  CHECK(with_spec([](RopeSpec& s) { s.rotary_dim = 32; }) == "partial rotary is not claimed");
  CHECK(with_spec([](RopeSpec& s) { s.scaling = scaling::Linear{{}, 4}; }) == "scaling linear is not claimed");
  CHECK(with_spec([](RopeSpec& s) { s.attention_factor = 2; }) == "an attention factor is not claimed");
}

TEST_CASE("missing claim: a rule is only missed if a spec asks for one", "[missing_claim]") {
  Claims claims = test::narrow_claims();
  claims.capabilities.scalings = ROPE_BIT(ROPE_SCALING_LLAMA3);
  CHECK(missing([](Selection&) {}, claims).empty());
  CHECK(missing([](Selection& s) { s.spec.emplace(); }, claims) == "scaling none is not claimed");
  CHECK_FALSE(missing([](Selection&) {}, test::no_claims()).empty());
}

}  // namespace
}  // namespace rope
