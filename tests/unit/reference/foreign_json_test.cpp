#include "reference/foreign_json.hpp"

#include <catch2/catch.hpp>

#include "reference/spec_json.hpp"

namespace rope {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("JSON may be nested 64 deep, and no deeper", "[foreign_json]") {
  CHECK(unreadable_json(nested(64)).empty());
  CHECK(unreadable_json(nested(65)) == "byte 64: nested more than 64 deep");
  CHECK(unreadable_json(nested(100000)) == "byte 64: nested more than 64 deep");
  CHECK(unreadable_json("{\"a\":" + nested(64) + "}") == "byte 68: nested more than 64 deep");
  CHECK_THROWS_WITH(parse_json(nested(100000), "my.json"), "my.json: byte 64: nested more than 64 deep");
}

TEST_CASE("what stands side by side, or in a string, is not nested", "[foreign_json]") {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "[],{},";
  CHECK(unreadable_json("[" + many + "1]").empty());
  CHECK(unreadable_json("\"" + std::string(1000, '[') + "\"").empty());
  CHECK(unreadable_json("\"a \\\" " + std::string(1000, '{') + "\"").empty());
  CHECK_FALSE(unreadable_json("\"a\\\\\"" + nested(65)).empty());  // the string ends before the brackets
  CHECK_FALSE(unreadable_json(std::string(1000, ']') + nested(65)).empty());
}

TEST_CASE("a text that is too long is not read", "[foreign_json]") {
  CHECK(unreadable_json(std::string(longest_json, ' ')).empty());
  CHECK(unreadable_json(std::string(longest_json + 1, ' ')) == "67108865 bytes are more than the 67108864 that are read");
}

}  // namespace
}  // namespace rope
