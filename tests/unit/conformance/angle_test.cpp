#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

std::set<std::string> rules_of_one_pair(std::vector<std::int32_t> head_dims) {
  Claims few_claims = test::all_claims();
  few_claims.head_dims = std::move(head_dims);
  Selection selection;
  selection.level = Level::quick;
  CaseList list("ANG-04", few_claims, selection, nullptr);
  requirement_called("ANG-04").cases(list);
  std::set<std::string> rules;
  for (const Case& c : list.take()) {
    if (c.spec.rotary_dim == 2) rules.emplace(kind_of(c.spec.scaling));
  }
  return rules;
}

TEST_CASE("ANG-04: each rule that can have a single pair is tested with one", "[angle]") {
  const std::set<std::string> rules{"constant", "linear", "llama3", "longrope", "pixel", "proportional", "yarn"};
  CHECK(rules_of_one_pair({}) == rules);
  // Proportional defines its own part of the head, so it is never tested on a part.
  std::set<std::string> partial = rules;
  partial.erase("proportional");
  CHECK(rules_of_one_pair({64, 128}) == partial);
}

TEST_CASE("a kernel that claims only one scaling rule is tested with that rule", "[angle]") {
  Claims yarn_only = test::all_claims();
  yarn_only.capabilities.angle_sources = ROPE_BIT(ROPE_COMPUTED);
  yarn_only.capabilities.scalings = ROPE_BIT(ROPE_SCALING_YARN);
  CaseList list("ANG-04", yarn_only, {}, nullptr);
  requirement_called("ANG-04").cases(list);
  const std::vector<Case> cases = list.take();
  CHECK(cases.size() > 10);
  for (const Case& c : cases) CHECK(std::holds_alternative<scaling::Yarn>(c.spec.scaling));
}

}  // namespace
}  // namespace rope
