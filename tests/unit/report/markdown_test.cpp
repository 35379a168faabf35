#include "tools/report/markdown.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/report/sample_report.hpp"

namespace rope {
namespace {

using Catch::Contains;

std::string markdown(std::vector<SubjectReport> reports, std::vector<std::string> not_judged = {}) {
  return markdown_report({"0.1.0", std::move(reports), std::move(not_judged)});
}

std::size_t count_of(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST_CASE("markdown: the page holds what the terminal says", "[markdown]") {
  const std::string page = markdown({sample_report()});
  CHECK_THAT(page,
             Catch::StartsWith(
                 "# ropecheck 0.1.0\n\n| subject | verdict | diagnosis | requirements |\n| --- | --- | --- | --- |\n"
                 "| my lib.so\\#kernel | **does not conform** |  | 3 passed, 4 failed, 1 note, "));
  CHECK_THAT(page, Contains("\n## my lib.so\\#kernel\n\n**does not conform**: 3 passed"));
  CHECK_THAT(page, Contains("level quick, seed 7\n"));
  CHECK_THAT(page, Contains("- f32: grade A1, 0.97 of its bound used\n"));
  CHECK_THAT(page, Contains("- f32: scores shift-invariant to 0.001 up to position 8192, not to 16384"));
  CHECK_THAT(page, Contains("- permitted variants: f32 output for bf16 input; data aligned to 64 bytes\n"));
  CHECK_THAT(
      page,
      Contains("| ROT-01 | What ROT-01 says MUST hold. | **fail** | 411 | worst 3.24e+06 of the bound: f32, pair 1"));
  CHECK_THAT(page, Contains("<details><summary>3 passed, 1 not claimed</summary>\n\n| id | requirement |") &&
                       Contains("| ROT-02 | What ROT-02 says MUST hold. | pass | 80 | exact |\n"));
  CHECK_THAT(page, Contains("| POS-09 | What POS-09 says SHOULD hold. | note | 12 | "));
  CHECK_THAT(page, Contains("| BWD-01 | What BWD-01 says MUST hold. | not claimed: backward | 0 |  |\n"));
  CHECK_THAT(page, Contains("<details><summary>ROT-01: fail. What ROT-01 says MUST hold.</summary>\n\n```text\n"
                            "      found     2 of 8 elements are wrong"));
  CHECK_THAT(page, Contains("      replay    ropecheck replay 'ROT-01:head_dim=4,batch=2,seq=3,in_place=1' --subject "
                            "'my lib.so#kernel'\n```\n\n</details>\n"));
  CHECK(count_of(page, "<details>") == 6);
  CHECK(count_of(page, "</details>") == 6);
  CHECK_THAT(page, !Contains("left out"));
}

TEST_CASE("markdown: what fails comes first, with its cause", "[markdown]") {
  SubjectReport right = right_report();
  right.subject = "right";
  const std::string page = markdown({right, pictured_report()});
  CHECK_THAT(page,
             Contains("| --- | --- | --- | --- |\n| my lib.so\\#kernel | **does not conform** | pairing-layout: pairs "
                      "neighbours; only in place | 3 passed, ") &&
                 Contains("|\n| right | conforms |  | 3 passed, "));
  CHECK(page.find("\n## my lib") < page.find("\n## right"));
}

TEST_CASE("markdown: failures that show the same are one block", "[markdown]") {
  SubjectReport report = sample_report();
  report.results.push_back(report.results[0]);
  report.results.back().id = "POS-03";
  const std::string page = markdown({report});
  CHECK_THAT(page, Contains("<details><summary>ROT-01, POS-03: fail. What ROT-01 says MUST hold.</summary>") &&
                       Contains("      also      POS-03\n"));
  CHECK(count_of(page, "<details>") == 6);
}

TEST_CASE("markdown: it says what the terminal says of claims and of slow kernels", "[markdown]") {
  SubjectReport report = sample_report();
  report.claims_note = "it claims everything";
  report.conforms_without = {{"in place"}, {"ROT-01"}};
  report.results[0].kernel_seconds = 21;
  const std::string page = markdown({report});
  CHECK_THAT(page, Contains("- claims: it claims everything\n"));
  CHECK_THAT(page, Contains("claims: it would conform without this claim: in place (judged again, ROT-01 "
                            "does not fail)\n"));
  CHECK_THAT(page, Contains("- slow: the kernel took 21.0 s; 21.0 s of it in the 411 cases of ROT-01\n"));
}

TEST_CASE("markdown: calls that get the answer unsupported stand in the table, and once above the requirements",
          "[markdown]") {
  SubjectReport report = sample_report();
  report.unsupported = UnsupportedCalls{.claims = {"backward"}, .cases = 5};
  const std::string words = "5 cases get the answer unsupported. They need this claim: backward.";
  const std::string page = markdown({report});
  CHECK_THAT(page, Contains("| **does not conform** | " + words) && Contains("\nunsupported: " + words));
  CHECK(count_of(page, words) == 2);
}

TEST_CASE("markdown: it lists what was asked for and what was not reached", "[markdown]") {
  SubjectReport report = right_report();
  report.selection.demands = mask(Demand::bitwise);
  report.selection.grade = {AngleGrade::A, ArithmeticGrade::one};
  report.selection.only = {"ROT", "POS-01"};
  report.selection.spec = RopeSpec{};
  report.interrupted = true;
  const std::string page = markdown({report}, {"half_split"});
  CHECK_THAT(page, Contains("; required: A1, bitwise; only ROT, POS-01; --head-dim"));
  CHECK_THAT(page, Contains("**interrupted: no verdict**"));
  CHECK_THAT(page, Contains("| half\\_split | interrupted before it was judged |  |  |\n"));
}

TEST_CASE("markdown: it says what a budget left no time for", "[markdown]") {
  const std::string page = markdown({budget_report()});
  CHECK_THAT(page, Contains("- budget of 20 s used: 1 of 4 requirements were not asked (ROT-10), 1 only in part\n"));
  CHECK_THAT(page, Contains("| ROT-10 | What ROT-10 says MUST hold. | not judged | 0 of 7 |"));
  CHECK_THAT(page, Contains("| ROT-02 | What ROT-02 says MUST hold. | pass | 80 of 128 |"));
}

TEST_CASE("markdown: expected failures are told from others, with their reasons", "[markdown]") {
  const std::string page = markdown({expected_report()});
  CHECK_THAT(page, Contains("| STA-01 | What STA-01 says MUST hold. | expected failure: known \\| since May | 3 |"));
  CHECK_THAT(page, Contains("| ROT-02 | What ROT-02 says MUST hold. | **unexpected pass**: fixed? | 80 |"));
  CHECK_THAT(page, Contains("**does not conform, as expected, but 1 expected failure passes: take it off the list**"));
}

TEST_CASE("markdown: a sentence cannot break the table", "[markdown]") {
  SubjectReport report = sample_report();
  report.results = {judged("ROT-02", Verdict::pass, 1, 0)};
  report.results[0].sentence = "a|b\nMUST <hold>";
  CHECK_THAT(markdown({report}), Contains("\n| ROT-02 | a\\|b MUST &lt;hold&gt; | pass | 1 |"));
}

TEST_CASE("markdown: a subject's name is text, whatever it contains", "[markdown]") {
  SubjectReport report = sample_report();
  report.subject = "a|b`c`<script>*d*_e_[f](g)&#x;\\\nnext\x1b\xff";
  const std::string page = markdown({report});
  const std::string shown =
      "a\\|b\\`c\\`&lt;script&gt;\\*d\\*\\_e\\_\\[f\\](g)&amp;\\#x;\\\\ next\xef\xbf\xbd\xef\xbf\xbd";
  CHECK_THAT(page, Contains("\n| " + shown + " | **does not conform** |"));
  CHECK_THAT(page, Contains("\n## " + shown + "\n"));
  CHECK_THAT(page, !Contains("<script>") || Contains("```text"));
  CHECK(page.find('\x1b') == std::string::npos);

  report.subject = "fence```closes````";  // in the replay line, which stands in a fence
  const std::string fenced = markdown({report});
  CHECK_THAT(fenced, Contains("\n`````text\n") && Contains("\n`````\n\n</details>"));
}

TEST_CASE("markdown: if the page would be too long, parts are left out and counted", "[markdown]") {
  SubjectReport report = sample_report();
  const RequirementResult wrong = report.results[0];
  for (int i = 0; i < 5000; ++i) {
    report.results.push_back(wrong);
    report.results.back().failure->minimal.seed = static_cast<std::uint64_t>(i + 2);
    report.results.back().failure->finding.element->bound = i + 1;
  }
  std::vector<SubjectReport> reports{report, sample_report()};
  const std::size_t failures = 5000 + 2 * 5;
  const std::string page = markdown(reports);
  CHECK(page.size() <= markdown_limit);
  CHECK(page.size() > markdown_limit * 9 / 10);
  const std::size_t shown = count_of(page, "<details>") - 2;  // these hold what passed
  CHECK(shown > 100);
  CHECK_THAT(page, Contains("\n**" + std::to_string(failures - shown) + " failures and notes and the tables of 0 "));
  CHECK(count_of(page, "\n## ") == 2);

  std::vector<SubjectReport> many(1000, sample_report());
  for (const std::size_t limit : {2000u, 5000u, 50'000u, 1'000'000u}) {
    const std::string cut = markdown_report({"0.1.0", many, {}}, limit);
    CHECK(cut.size() <= limit);
    CHECK_THAT(cut, Contains(" are left out: this page would be longer than "));
    const std::size_t sections = count_of(cut, "\n## ");
    CHECK_THAT(cut, Contains(std::to_string(5000 + sections - count_of(cut, "<details>")) +
                             " failures and notes and the tables of " + std::to_string(1000 - sections) + " subjects"));
  }
}

}  // namespace
}  // namespace rope
