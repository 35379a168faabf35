#include "reference/did_you_mean.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

TEST_CASE("did you mean: the nearest word, if it is near", "[did_you_mean]") {
  const std::vector<std::string_view> levels{"quick", "full", "exhaustive"};
  CHECK(did_you_mean("quik", levels) == "did you mean quick? ");
  CHECK(did_you_mean("QUICK", levels) == "did you mean quick? ");
  CHECK(did_you_mean("qiuck", levels) == "did you mean quick? ");  // neighbours exchanged
  CHECK(did_you_mean("exaustive", levels, "; ", "") == "; did you mean exhaustive?");
  CHECK(did_you_mean("fast", levels).empty());
  CHECK(did_you_mean("", levels).empty());
  CHECK(did_you_mean("f8", {"f32", "f64"}).empty());  // a short word is near to too many
  CHECK(not_known("fast", levels) == "\"fast\" is not known; use quick, full or exhaustive");
  CHECK(not_known("fulll", levels) == "\"fulll\" is not known; did you mean full? use quick, full or exhaustive");
  CHECK(same_word("rot-01", "ROT-01"));
  CHECK_FALSE(same_word("ROT-1", "ROT-01"));
}

}  // namespace
}  // namespace rope
