#include "tools/report/terminal_text.hpp"

#include <catch2/catch.hpp>

namespace rope {
namespace {

TEST_CASE("terminal text: only our own styles pass, also where others write the same") {
  const std::string begin = own_style("\x1b[1m\x1b[31m"), end = own_style("\x1b[0m");
  CHECK(on_terminal(begin + "FAIL" + end + " of \x1b[31m\x1b]0;title\a\n\tnext") ==
        "\x1b[1m\x1b[31mFAIL\x1b[0m of \\x1b[31m\\x1b]0;title\\x07\n\tnext");
}

}  // namespace
}  // namespace rope
