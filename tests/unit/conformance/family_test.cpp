#include "tests/conformance/family.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/conformance/requirement.hpp"

namespace rope {
namespace {

TEST_CASE("every requirement belongs to a family that has a title", "[family]") {
  for (const Requirement& requirement : all_requirements()) {
    INFO(requirement.id << ": add its family to tests/conformance/family.cpp");
    REQUIRE(family_of(requirement.id) != nullptr);
    CHECK(family_of(requirement.id)->id == requirement.id.substr(0, 3));
  }
  CHECK(family_of("XYZ-01") == nullptr);
  CHECK(family_of("ROTA-01") == nullptr);
  CHECK(family_of("") == nullptr);
}

TEST_CASE("families have an id, a title and a sentence of their own", "[family]") {
  std::set<std::string_view> words;
  for (const Family& family : families()) {
    CHECK(family.id.size() == 3);
    for (const std::string_view word : {family.id, family.title, family.about}) CHECK(words.insert(word).second);
    CHECK(family.about.ends_with('.'));
  }
  CHECK(family_id("ROT-01") == "ROT");
}

}  // namespace
}  // namespace rope
