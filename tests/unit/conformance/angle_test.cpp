#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/conformance/requirement.hpp"
#include "tests/unit/conformance/any_case.hpp"

namespace rope {
namespace {

std::set<std::string> rules_of_one_pair(std::vector<std::int32_t> head_dims) {
  Claims claims = test::all_claims();
  claims.head_dims = std::move(head_dims);
  Selection selection;
  selection.level = Level::quick;
  CaseList list("ANG-04", claims, selection, nullptr);
  requirement_called("ANG-04").cases(list);
  std::set<std::string> rules;
  for (const Case& c : list.take()) {
    if (c.spec.rotary_dim == 2) rules.emplace(kind_of(c.spec.scaling));
  }
  return rules;
}

TEST_CASE("ANG-04: each rule that a single pair can follow is asked of a single pair", "[angle]") {
  const std::set<std::string> rules{"constant", "linear", "llama3", "longrope", "pixel", "proportional", "yarn"};
  CHECK(rules_of_one_pair({}) == rules);
  // Proportional turns a part of the head by itself, and is never asked of a part.
  std::set<std::string> partial = rules;
  partial.erase("proportional");
  CHECK(rules_of_one_pair({64, 128}) == partial);
}

}  // namespace
}  // namespace rope
