#include "reference/foreign_json.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string refusal_of(const std::string& text) {
  try {
    parse_json_line(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("JSON may be nested 64 deep, and no deeper", "[foreign_json]") {
  CHECK(refusal_of(nested(64)).empty());
  CHECK(refusal_of(nested(65)) == "byte 64: nested 65 deep; allowed are 64 levels");
  CHECK(refusal_of(nested(100000)) == "byte 64: nested 65 deep; allowed are 64 levels");
  CHECK(refusal_of("{\"a\":" + nested(64) + "}") == "byte 68: nested 65 deep; allowed are 64 levels");
  CHECK_THROWS_WITH(parse_json(nested(100000), "my.json"),
                    "my.json: byte 64: nested 65 deep; allowed are 64 levels");
}

TEST_CASE("what stands side by side, or in a string, is not nested", "[foreign_json]") {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "[],{},";
  CHECK(refusal_of("[" + many + "1]").empty());
  CHECK(refusal_of("\"" + std::string(1000, '[') + "\"").empty());
  CHECK(refusal_of("\"a \\\" " + std::string(1000, '{') + "\"").empty());
  CHECK_FALSE(refusal_of("\"a\\\\\"" + nested(65)).empty());  // the string ends before the brackets
  CHECK_FALSE(refusal_of(std::string(1000, ']') + nested(65)).empty());
}

TEST_CASE("a text that is too long is not read", "[foreign_json]") {
  CHECK(refusal_of(std::string(longest_json - 1, ' ') + "1").empty());
  CHECK(refusal_of(std::string(longest_json, ' ') + "1") == "byte 67108864: the text goes on; allowed are 67108864 bytes");
}

TEST_CASE("a key may not be twice in one object, however it is spelt", "[foreign_json]") {
  const char* twice = "the key \"a\" is twice in one object; allowed is once";
  CHECK(refusal_of(R"({"a":1,"a":2})") == twice);
  CHECK(refusal_of(R"({"a":1,"\u0061":2})") == twice);
  CHECK(refusal_of(R"({"b":[{"a":{}},{"a":1,"b":{"a":1},"a":2}]})") == twice);
  CHECK(refusal_of(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"c":{"a":1}})").empty());
  CHECK_THROWS_WITH(parse_json(R"({"a":1,"a":2})", "my.json"), std::string("my.json: ") + twice);
}

TEST_CASE("what is not JSON is told apart from what is refused", "[foreign_json]") {
  for (const char* text : {"", "{", "{\"a\":1,}", "[1] 2", "NaN", "1e999", "\"\xff\"", "// a\n1", "'a'"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_json_line(text), NotJson);
    CHECK_THROWS_AS(parse_json(text, "my.json"), NotJson);
    CHECK_FALSE(is_json(text));
  }
  CHECK(is_json("{\"a\":[1,true]}"));
  CHECK(is_json(std::string(100000, '[') + std::string(100000, ']')));
  CHECK_THROWS_WITH(parse_json("{\"a\":1,}", "my.json"), Catch::StartsWith("my.json: byte 7: not JSON: "));
}

}  // namespace
}  // namespace rope
