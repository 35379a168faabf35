#include "tools/report/expected_failures.hpp"

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/report/sample_report.hpp"

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
  Reasons of(const std::string& subject, const Selection& selection = {}) const {
    Reasons reasons;
    for (const auto& [requirement, known] : expected.of(subject, selection)) reasons[requirement] = known.reason;
    return reasons;
  }
  // Whether a pass at this level is unexpected.
  bool must_fail(const std::string& requirement, Level level) const {
    Selection selection;
    selection.level = level;
    return !expected.of("half_split", selection).at(requirement).may_pass;
  }
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
  CHECK(list.of("half_split") == Reasons{{"ROT-01", ""}, {"ROT-02", "because"}});
}

TEST_CASE("expected failures: a line's patterns select its subjects", "[expected_failures]") {
  const Listed list(
      "lib.so#fast_* ANG-03 # f32 angles # issue 12\n"
      "my lib.so#k\tANG-04\t#tabs\n"
      "*/half.so#[ab]  POS-01\n"
      "cmd:python3 worker.py? POS-02\n"
      "odd[name ROT-01\n"
      "* ROT-02 # all\n");
  const auto of = [&](const char* subject) { return list.of(subject); };
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
  CHECK(list.of("half_split") == Reasons{{"ROT-01", "first"}});
  CHECK(list.of("complex") == Reasons{{"ROT-01", "second"}});
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
                 Contains("a line is [SUBJECT-PATTERN] REQUIREMENT [at LEVEL,..]"));
  CHECK_THAT(refused("ROT\n"), Contains("expected.txt:1: requirement \"ROT\""));
  CHECK_THAT(refused("ROT-01 half_split\n"), Contains("expected.txt:1: requirement \"half_split\""));
  CHECK_THAT(refused("ROT-01#because\n"), Contains("\"ROT-01#because\""));
  CHECK_THAT(refused("ROT-01 at quick,sometimes\n"),
             Contains("level \"sometimes\" is not known; known are quick, full, exhaustive"));
  CHECK_THAT(refused("ROT-01 at sometimes\n"), Contains("requirement \"sometimes\" is not known"));
  CHECK_THAT(refused("at quick\n"), Contains("requirement \"quick\" is not known"));
  CHECK(refused("# nothing\n\n").empty());
  CHECK_THROWS_WITH(ExpectedFailures("/nowhere/list"),
                    Contains("--expected-failures: /nowhere/list cannot be read: No such file or directory"));
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(ExpectedFailures(folder.path()), Contains("cannot be read: Is a directory"));
}

TEST_CASE("expected failures: a line holds at every level, or must fail only at those that it names",
          "[expected_failures]") {
  const Listed list(
      "ROT-01 # always\n"
      "ROT-02 at quick # now and then\n"
      "half_* ROT-03\tat\tfull,exhaustive\n"
      "half_* ROT-04 at quick\n"
      "ROT-04 at full\n"
      "looked at ROT-05\n");
  for (const Level level : {Level::quick, Level::full, Level::exhaustive}) {
    Selection selection;
    selection.level = level;
    // A failure is expected at every level.
    CHECK(list.of("half_split", selection) ==
          Reasons{{"ROT-01", "always"}, {"ROT-02", "now and then"}, {"ROT-03", ""}, {"ROT-04", ""}});
    CHECK(list.must_fail("ROT-01", level));
    CHECK(list.must_fail("ROT-02", level) == (level == Level::quick));
    CHECK(list.must_fail("ROT-03", level) == (level != Level::quick));
    CHECK(list.must_fail("ROT-04", level) == (level != Level::exhaustive));
  }
  CHECK(list.of("looked at").contains("ROT-05"));  // a subject with such a name
}

TEST_CASE("expected failures: a pattern may name the layers of a model", "[expected_failures]") {
  const Listed list("k.so, sliding* layers ROT-01\nk.so ROT-02\n");
  Selection all, sliding;
  sliding.layers = "sliding_attention";
  CHECK(list.of("k.so", all) == Reasons{{"ROT-02", ""}});
  CHECK(list.of("k.so", sliding) == Reasons{{"ROT-01", ""}, {"ROT-02", ""}});
  CHECK_NOTHROW(list.expected.check_subjects({"k.so"}, {all, sliding}));
  CHECK_THROWS_WITH(list.expected.check_subjects({"k.so"}, {all}), Contains(":1: no subject"));
}

TEST_CASE("expected failures: a pattern that matches no subject is refused", "[expected_failures]") {
  const Listed list("ROT-02\nlib.so#fast_* ANG-03\n");
  CHECK_NOTHROW(list.expected.check_subjects({"half_split", "lib.so#fast_1"}, {{}}));
  CHECK_THROWS_WITH(
      list.expected.check_subjects({"half_split", "lib.so#slow"}, {{}}),
      Contains(":2: no subject that is judged matches \"lib.so#fast_*\"; they are half_split, lib.so#slow"));
  CHECK(ExpectedFailures().of("half_split", {}).empty());
  CHECK_NOTHROW(ExpectedFailures().check_subjects({}, {}));
}

RequirementResult result_of(const std::string& id, Verdict verdict) {
  RequirementResult result = judged(id, verdict, 5, verdict == Verdict::pass ? 0 : 2);
  Finding finding;
  finding.kind = FailureKind::crash;
  finding.message = "the subject read 4 bytes after the end of q\n  with a trace";
  if (verdict != Verdict::pass) result.failure = failure_of(id + ":head_dim=4", finding);
  return result;
}

SubjectReport report_of(const std::string& subject, const std::vector<RequirementResult>& results,
                        Level level = Level::quick) {
  SubjectReport report;
  report.subject = subject;
  report.selection.level = level;
  report.results = results;
  return report;
}

std::string as_file(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

ExpectedFailures::Update updated(const std::string& list, const std::vector<SubjectReport>& reports) {
  return Listed(list).expected.updated({"0.1.0", reports, {}});
}

TEST_CASE("expected failures: a new list has a line for each failure, with level and reason", "[expected_failures]") {
  SubjectReport report = sample_report();
  report.results.push_back(result_of("DET-01", Verdict::fail));
  const ExpectedFailures::Update update = ExpectedFailures().updated({"0.1.0", {report}, {}});
  CHECK_THAT(update.text, Catch::StartsWith("# ") &&
                              Contains("\nmy lib.so#kernel ROT-01 at quick  # 105 of 411 cases, worst 3.24e+06 "
                                       "of the bound: f32, pair 1, position 1026\n"));
  CHECK_THAT(update.text, Contains("\nmy lib.so#kernel DET-01 at quick  # 2 of 5 cases: the subject read 4 bytes after "
                                   "the end of q\n"));
  CHECK_THAT(update.text, !Contains("POS-09"));  // a note
  CHECK(update.added == 5);
  CHECK(update.removed == 0);
  const Listed list(update.text);
  CHECK(list.of("my lib.so#kernel", report.selection).size() == 5);
  CHECK(list.of("another").empty());
  CHECK_FALSE(list.expected.of("my lib.so#kernel", report.selection).at("ROT-01").may_pass);
}

TEST_CASE("expected failures: an update keeps what people wrote and is true for the run", "[expected_failures]") {
  const auto fails = [](const std::string& id) { return result_of(id, Verdict::expected_failure); };
  const auto passes = [](const std::string& id) { return result_of(id, Verdict::unexpected_pass); };
  const std::string list = as_file({"# what is known\r", "", "  k* ROT-01 # by hand", "ROT-02 at full # more",
                                    "ROT-03 # was wrong", "ROT-04 at quick,full", "ROT-05 at quick # passes now",
                                    "ROT-06 at full # not asked", "ROT-07 # a note"});
  const ExpectedFailures::Update update =
      updated(list, {report_of("k", {fails("ROT-01"), fails("ROT-02"), passes("ROT-03"), passes("ROT-04"),
                                     passes("ROT-05"), result_of("ROT-07", Verdict::note),
                                     result_of("ROT-08", Verdict::fail), result_of("ROT-09", Verdict::pass)})});
  CHECK(update.text == as_file({"# what is known\r", "", "  k* ROT-01 # by hand", "ROT-02 at full,quick  # more",
                                "ROT-04 at full", "ROT-06 at full # not asked", "ROT-07 # a note",
                                "k ROT-08 at quick  # 2 of 5 cases: the subject read 4 bytes after the end of q"}));
  CHECK(update.added == 1);
  CHECK(update.removed == 2);
}

TEST_CASE("expected failures: a pass at a level that a line does not name takes nothing off", "[expected_failures]") {
  const std::string list = "ROT-01 at quick # known\n";
  const SubjectReport at_full = report_of("k", {result_of("ROT-01", Verdict::pass)}, Level::full);
  CHECK(updated(list, {at_full}).text == list);
  RequirementResult undecided = result_of("ROT-01", Verdict::pass);
  undecided.undecided = "no bound is known";
  CHECK(updated(list, {report_of("k", {undecided})}).text == list);
  CHECK(updated(list, {report_of("k", {result_of("ROT-01", Verdict::not_claimed)})}).text == list);
}

TEST_CASE("expected failures: where a line's subjects differ, those that fail get a line each", "[expected_failures]") {
  const std::vector<SubjectReport> reports{report_of("a", {result_of("ROT-01", Verdict::expected_failure)}),
                                           report_of("b", {result_of("ROT-01", Verdict::unexpected_pass)}),
                                           report_of("c", {result_of("ROT-01", Verdict::expected_failure)})};
  CHECK(updated("ROT-01 # old\n", reports).text == "a ROT-01  # old\nc ROT-01  # old\n");
  CHECK(updated("[ab] ROT-01 at full,quick\nROT-01\n", reports).text ==
        "[ab] ROT-01 at full\na ROT-01 at quick\na ROT-01\nc ROT-01\n");
}

TEST_CASE("expected failures: a line for a subject matches it and no other, whatever its name is",
          "[expected_failures]") {
  for (const std::string name :
       {"half_split", "build/lib.so#kernel", "cmd:python3 worker.py #2 --x", "# first", "a*b?[c]\\d", " blank at both ",
        "line\nline", "k.so ROT-01", "k at quick", "cmd:a\t# b", "\xff\xfe"}) {
    CAPTURE(name);
    const Listed list(updated("", {report_of(name, {result_of("ROT-02", Verdict::fail)})}).text);
    CHECK(list.of(name).contains("ROT-02"));
    CHECK(list.of(name + "x").empty());
    CHECK(list.of("x" + name).empty());
  }
  CHECK(Listed(updated("", {report_of("a*", {result_of("ROT-02", Verdict::fail)})}).text).of("ab").empty());
}

}  // namespace
}  // namespace rope
