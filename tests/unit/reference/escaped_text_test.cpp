#include "reference/escaped_text.hpp"

#include <catch2/catch.hpp>
#include <string>

namespace rope {
namespace {

TEST_CASE("escaped: what a terminal obeys is written out, and letters of every script stay") {
  CHECK(escaped("rope \"a\\b\" \u00e9 \u4e2d \U0001f680") == "rope \"a\\b\" \u00e9 \u4e2d \U0001f680");
  CHECK(escaped(std::string("\x1b[31m\a\0\x7f\r\n\t", 11)) == R"(\x1b[31m\x07\x00\x7f\x0d\x0a\x09)");
  CHECK(escaped("a\n\tb\r", "\n\t") == "a\n\tb\\x0d");
  CHECK(escaped("\u009b31m \u202e \u2066 \u2028 \ufeff") == R"(\x9b31m \u202e \u2066 \u2028 \ufeff)");
}

TEST_CASE("escaped: each byte that is not UTF-8 is written out") {
  CHECK(escaped("\xff\xc0z") == R"(\xff\xc0z)");
  CHECK(escaped("\x9b" "31m") == R"(\x9b31m)");  // a control character of eight-bit terminals
  CHECK(escaped("\xe4\xb8") == R"(\xe4\xb8)");
  CHECK(escaped("\xe4\xb8x") == R"(\xe4\xb8x)");
  CHECK(escaped("\xc1\x9b") == R"(\xc1\x9b)");          // overlong
  CHECK(escaped("\xe0\x82\x9b") == R"(\xe0\x82\x9b)");  // overlong
  CHECK(escaped("\xed\xa0\x80") == R"(\xed\xa0\x80)");  // a surrogate
  CHECK(escaped("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");
}

}  // namespace
}  // namespace rope
