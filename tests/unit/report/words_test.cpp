#include "tools/report/words.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/report/sample_report.hpp"

namespace rope {
namespace {

TEST_CASE("words: text is printable when it is UTF-8 without control characters", "[words]") {
  CHECK(printable("plain, größer, \xf0\x9f\x98\x80\nnext") == "plain, größer, \xf0\x9f\x98\x80\nnext");
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(printable("a\tb\x1b[31m\r\x7f") == "a" + mark + "b" + mark + "[31m" + mark + mark);
  CHECK(printable(std::string("a\0b", 3)) == "a" + mark + "b");
  CHECK(printable("\xff") == mark);
  CHECK(printable("\xe2\x82") == mark);                                // cut short
  CHECK(printable("\xef\xbf\xbe.\xef\xbf\xbf") == mark + "." + mark);  // U+FFFE, U+FFFF
  CHECK(printable("\xef\xbf\xbd") == mark);
}

TEST_CASE("words: in a page text stays text on one line", "[words]") {
  CHECK(html_text("<Rx, g> & more\nof it") == "&lt;Rx, g&gt; &amp; more of it");
}

TEST_CASE("words: no share of a bound that holds stands beside a call without results", "[words]") {
  RequirementResult result = right_report().results[1];
  CHECK(worst_words(result).starts_with("worst 0.625 of the bound"));
  result.failure = failure_of("ROT-03:head_dim=4", {});
  for (const auto kind : {FailureKind::exception, FailureKind::crash, FailureKind::timeout, FailureKind::status}) {
    result.failure->finding.kind = kind;
    CHECK(worst_words(result).empty());
    CHECK(shown_worst(result) == nullptr);
  }
  result.worst->use = 3;  // another case of the requirement has wrong values
  CHECK(worst_words(result).starts_with("worst 3 of the bound"));
}

TEST_CASE("words: a dtype without a grade says why", "[words]") {
  CHECK(grade_words({DType::f32, "", 0.7}) == "no grade: a requirement fails in this dtype");
  CHECK(grade_words({DType::f32, "", 7}) == "no grade: not even C3 holds");
}

TEST_CASE("words: a verdict names expected and unexpected results", "[words]") {
  SubjectReport report = right_report();
  CHECK(verdict_words(report) == "conforms");
  CHECK(report.as_expected());
  CHECK(verdict_words(sample_report()) == "does not conform");
  CHECK_FALSE(sample_report().as_expected());

  report = expected_report();
  CHECK(verdict_words(report) == "does not conform, as expected, but 1 expected failure passes: take it off the list");
  CHECK_FALSE(report.as_expected());
  CHECK(count_words(report) == "2 passed, 0 failed, 4 expected failures, 1 unexpected pass, 1 note, 1 not claimed");
  report.results[1].verdict = Verdict::pass;
  CHECK(verdict_words(report) == "does not conform, as expected");
  CHECK(report.as_expected());
  CHECK_FALSE(report.conforms());

  report = right_report();
  report.results[0].verdict = report.results[1].verdict = Verdict::unexpected_pass;
  CHECK(verdict_words(report) == "conforms, but 2 expected failures pass: take them off the list");
  CHECK(report.conforms());
  CHECK_FALSE(report.as_expected());
}

TEST_CASE("words: a verdict says how little was tested, and why", "[words]") {
  SubjectReport report = right_report();
  report.only_position_0 = true;
  CHECK(verdict_words(report).starts_with("conforms, but only at position 0, where nothing turns"));
  report.results.clear();
  CHECK(verdict_words(report) == "no case was executed: the claims cover nothing of what was asked");
  report.missing_claim = "interleaved is not claimed";
  CHECK(verdict_words(report) ==
        "no case was executed: the claims cover nothing of what was asked (interleaved is not claimed)");
  report.missing_claim.clear();
  report.selection.only = {"MEM-07"};
  CHECK(verdict_words(report) == "no case was executed: MEM-07 has no case for what is claimed");
}

}  // namespace
}  // namespace rope
