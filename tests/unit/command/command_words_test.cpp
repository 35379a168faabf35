#include "tools/command/command_words.hpp"

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/command/program.hpp"

namespace rope {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("command words: they are split as a shell splits them") {
  const char* text = GENERATE(R"(python3 worker.py --fast)", R"(  a	b  )", R"('it''s one' "two words" thr\ ee)",
                              R"(a'b c'"d e"f)", R"("" '' x)", R"("a\"b\\c\$d\`e\fg" 'a\b')", R"(\'a \"b\")",
                              "one\\\ntwo \"th\\\nree\"", R"(#no comment)");
  CAPTURE(text);
  // The shell itself says how many words there are and which. A text that is only a comment has to be quoted to be
  // words.
  const std::string program = std::string(text).starts_with('#') ? "\\" + std::string(text) : text;
  const Result shell = run_program({"sh", "-c", "for word in " + program + "; do printf '<%s>' \"$word\"; done"});
  std::string ours;
  for (const std::string& word : command_words(text)) ours += "<" + word + ">";
  CHECK(ours == shell.out);
}

TEST_CASE("command words: no shell is run") {
  CHECK(command_words("a $HOME *.c | b > c; d `e` ~") ==
        Words{"a", "$HOME", "*.c", "|", "b", ">", "c;", "d", "`e`", "~"});
  CHECK(command_words("").empty());
  CHECK(command_words(" \t\n").empty());
}

TEST_CASE("command words: unclosed text is refused by its place") {
  CHECK_THROWS_WITH(command_words("a 'b c"), "\"a 'b c\": the quote ' at character 3 is not closed");
  CHECK_THROWS_WITH(command_words("a b\"c"), "\"a b\"c\": the quote \" at character 4 is not closed");
  CHECK_THROWS_AS(command_words("\"a\\"), InputError);
  CHECK_THROWS_WITH(command_words("a\\"), "\"a\\\" ends in a backslash; write \\\\ for the character itself");
}

}  // namespace
}  // namespace rope
