#include "tools/report/expected_failures.hpp"

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/command/command_checks.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Reasons = std::map<std::string, std::string>;

class Listed {
 public:
  explicit Listed(const std::string& text) {
    write(file(), text);
    expected = ExpectedFailures(file());
  }
  std::filesystem::path file() const { return folder_ / "expected.txt"; }
  ExpectedFailures expected;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("expected failures: a line is a requirement, perhaps for some subjects, perhaps with a reason",
          "[expected_failures]") {
  const Listed list(
      "# what is known\n"
      "\n"
      "ROT-01\r\n"
      "  ROT-02   # because\n"
      "lib.so#fast_* ANG-03 # f32 angles # issue 12\n"
      "# the end");
  CHECK(list.expected.of("half_split") == Reasons{{"ROT-01", ""}, {"ROT-02", "because"}});
}

TEST_CASE("expected failures: a line's patterns select its subjects", "[expected_failures]") {
  const Listed list(
      "lib.so#fast_* ANG-03 # f32 angles # issue 12\n"
      "my lib.so#k\tANG-04\t#tabs\n"
      "*/half.so#[ab]  POS-01\n"
      "cmd:python3 worker.py? POS-02\n"
      "odd[name ROT-01\n"
      "* ROT-02 # all\n");
  const auto of = [&](const char* subject) { return list.expected.of(subject); };
  const std::pair<const std::string, std::string> all{"ROT-02", "all"};
  CHECK(of("lib.so#fast_1") == Reasons{{"ANG-03", "f32 angles # issue 12"}, all});
  CHECK(of("lib.so#slow") == Reasons{all});
  CHECK(of("my lib.so#k") == Reasons{{"ANG-04", "tabs"}, all});
  CHECK(of("a/b/half.so#a") == Reasons{{"POS-01", ""}, all});
  CHECK(of("a/b/half.so#c") == Reasons{all});
  CHECK(of("cmd:python3 worker.py2") == Reasons{{"POS-02", ""}, all});
  CHECK(of("odd[name") == Reasons{{"ROT-01", ""}, all});  // literally, if it is not a pattern
}

TEST_CASE("expected failures: the first line that applies gives the reason", "[expected_failures]") {
  const Listed list("half_* ROT-01 # first\nROT-01 # second\n");
  CHECK(list.expected.of("half_split") == Reasons{{"ROT-01", "first"}});
  CHECK(list.expected.of("complex") == Reasons{{"ROT-01", "second"}});
}

TEST_CASE("expected failures: an unknown requirement is refused by file and line", "[expected_failures]") {
  const auto refused = [](const std::string& text) -> std::string {
    const TemporaryFolder folder;
    write(folder / "expected.txt", text);
    try {
      ExpectedFailures list(folder / "expected.txt");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(refused("ROT-01\n\nROT-99 # why\n"),
             Contains("expected.txt:3: requirement \"ROT-99\" is not known; did you mean ROT-09? known are ROT-01") &&
                 Contains("a line is REQUIREMENT or SUBJECT-PATTERN REQUIREMENT"));
  CHECK_THAT(refused("ROT\n"), Contains("expected.txt:1: requirement \"ROT\""));
  CHECK_THAT(refused("ROT-01 half_split\n"), Contains("expected.txt:1: requirement \"half_split\""));
  CHECK_THAT(refused("ROT-01#because\n"), Contains("\"ROT-01#because\""));
  CHECK(refused("# nothing\n\n").empty());
  CHECK_THROWS_WITH(ExpectedFailures("/nowhere/list"),
                    Contains("--expected-failures: /nowhere/list cannot be read: No such file or directory"));
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(ExpectedFailures(folder.path()), Contains("cannot be read: Is a directory"));
}

TEST_CASE("expected failures: a pattern that matches no subject is refused", "[expected_failures]") {
  const Listed list("ROT-02\nlib.so#fast_* ANG-03\n");
  CHECK_NOTHROW(list.expected.check_subjects({"half_split", "lib.so#fast_1"}));
  CHECK_THROWS_WITH(
      list.expected.check_subjects({"half_split", "lib.so#slow"}),
      Contains(":2: no subject that is judged matches \"lib.so#fast_*\"; they are half_split, lib.so#slow"));
  CHECK(ExpectedFailures().of("half_split").empty());
  CHECK_NOTHROW(ExpectedFailures().check_subjects({}));
}

}  // namespace
}  // namespace rope
