#include "tools/report/terminal.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <regex>
#include <sstream>

#include "tests/unit/report/sample_report.hpp"
#include "tools/report/terminal_text.hpp"

namespace rope {
namespace {

using Catch::Contains;

std::vector<std::string> lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> result;
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::string first_line(const SubjectReport& report) { return lines(terminal_report(report, {})).front(); }

constexpr TerminalStyle quiet{.detail = TerminalDetail::quiet}, verbose{.detail = TerminalDetail::verbose};

TEST_CASE("terminal: of a right kernel the verdict and what was measured") {
  CHECK(lines(terminal_report(right_report(), {})) ==
        std::vector<std::string>{
            "my lib.so#kernel: conforms  (3 passed, 0 failed, 1 not claimed; 1241 cases, 1234 calls, 1.2 s, seed 7)",
            "  f32   grade A1, 0.97 of its bound used",
            "  f64   scores shift-invariant to 0.001 up to position 1048576, the largest tried (computed angles)",
            "  f32   scores shift-invariant to 0.001 up to position 8192, not to 16384 (computed angles)",
            "  permitted variants: f32 output for bf16 input; data aligned to 64 bytes",
            "  tried f32, tables: positions every one to 65536, then 214 to 2147483647 (claimed: 4294967296); head_dims 2 "
            "to 1280 (3); tokens 1 to 512; heads 1 to 32",
        });
}

TEST_CASE("terminal: if much is wanted, one line per requirement, with its worst element") {
  CHECK(lines(terminal_report(right_report(), verbose)) ==
        std::vector<std::string>{
            "my lib.so#kernel: conforms  (3 passed, 0 failed, 1 not claimed; 1241 cases, 1234 calls, 1.2 s, seed 7)",
            "  ROT-02  pass            80 cases  exact",
            "  ROT-03  pass          1152 cases  worst 0.625 of the bound: bf16, pair 1, position 1026  (to position "
            "2047)",
            "  ROT-10  pass             9 cases",
            "  BWD-01  not claimed: backward",
            "  f32   grade A1, 0.97 of its bound used",
            "  f64   scores shift-invariant to 0.001 up to position 1048576, the largest tried (computed angles)",
            "  f32   scores shift-invariant to 0.001 up to position 8192, not to 16384 (computed angles)",
            "  permitted variants: f32 output for bf16 input; data aligned to 64 bytes",
            "  tried f32, tables: positions every one to 65536, then 214 to 2147483647 (claimed: 4294967296); head_dims 2 "
            "to 1280 (3); tokens 1 to 512; heads 1 to 32",
        });
}

TEST_CASE("terminal: a failure has everything needed to repeat it") {
  const std::string text = terminal_report(sample_report(), {});
  CHECK_THAT(text,
             Contains("  ROT-01  FAIL           411 cases  worst 3.24e+06 of the bound: f32, pair 1, position 1026\n"
                      "    What ROT-01 says MUST hold.\n"
                      "      found     2 of 8 elements are wrong; the worst is feature 3: "));
  CHECK_THAT(text, Contains("      where     q[batch 1, token 2, head 0], pair 1 (features 1 and 3), position 1026, "
                            "phi 10.25\n"
                            "      failed    105 of 411 cases\n"
                            "      replay    ropecheck replay 'ROT-01:head_dim=4,batch=2,seq=3,in_place=1' --subject "
                            "'my lib.so#kernel'\n"));
}

TEST_CASE("terminal: the trace of an exception is shown once, under its message") {
  SubjectReport report = sample_report();
  for (RequirementResult& result : report.results) {
    if (result.id != "POS-01" && result.id != "STA-01") continue;
    result.failure->finding.kind = FailureKind::status;
    result.failure->finding.message = "raised ValueError: no\nTraceback\n  File \"k.py\", line 7, in rope";
  }
  CHECK_THAT(terminal_report(report, {}),
             Contains("                  File \"k.py\", line 7, in rope\n      failed    3 of 3 cases\n") &&
                 Contains("\n      also      STA-01\n"));
  const std::string text = terminal_report(report, verbose);
  CHECK_THAT(text, Contains("      found     raised ValueError: no\n"
                            "                Traceback\n"
                            "                  File \"k.py\", line 7, in rope\n"));
  CHECK_THAT(text, Contains("      found     raised ValueError: no (traceback as for POS-01)\n"));
}

TEST_CASE("terminal: a failure without an element, or beyond any bound, is described in words") {
  const std::string text = terminal_report(sample_report(), {});
  CHECK_THAT(text,
             Contains("  ANG-01  FAIL             5 cases  worst is beyond any bound: f32, pair 1, position 1026\n"));
  CHECK_THAT(text, Contains("      found     the kernel answered unsupported to a call that it claims\n"
                            "      failed    3 of 3 cases\n"));
  CHECK_THAT(text, Contains("  bf16  no grade: not even C3 holds\n"));
}

Diagnosis cause(std::vector<std::string> explained) {
  Diagnosis diagnosis;
  diagnosis.candidates = {{BugClass::precision, "rounds twice", "only in place", 1}};
  diagnosis.certain = true;
  diagnosis.evidence = "predicts everything";
  diagnosis.trigger = "in place";
  diagnosis.explained = std::move(explained);
  return diagnosis;
}

TEST_CASE("terminal: the verdict comes first, then its cause, then what shows it") {
  SubjectReport report = sample_report();
  report.diagnosis = cause({"ROT-01"});
  report.conforms_without = {{"in place"}, {"ROT-01"}};
  const std::vector<std::string> text = lines(terminal_report(report, {}));
  CHECK_THAT(text.at(0), Catch::StartsWith("my lib.so#kernel: does not conform  (3 passed, 4 failed, "));
  CHECK(text.at(1) == "  diagnosis: precision: rounds twice; only in place");
  CHECK(text.at(2) == "    evidence: predicts everything");
  CHECK(text.at(3) == "    fails with: in place");
  CHECK_THAT(text.at(4), Catch::StartsWith("  claims: it would conform without this claim: in place"));
  CHECK_THAT(text.at(5), Catch::StartsWith("  ROT-01  FAIL "));
}

// As one mistake makes them fail: `others` show the numbers of ROT-01, ROT-03 its case.
SubjectReport one_mistake(int others) {
  SubjectReport report = sample_report();
  std::erase_if(report.results,
                [](const RequirementResult& r) { return r.verdict == Verdict::fail && r.id != "ROT-01"; });
  const RequirementResult wrong = report.results.front();
  for (int i = 0; i < others; ++i) {
    report.results.push_back(wrong);
    report.results.back().id = fmt::format("POS-{:02}", i);
    report.results.back().failure->minimal.requirement = report.results.back().id;
    report.results.back().failure->minimal.seed = static_cast<std::uint64_t>(i);
  }
  report.results.push_back(wrong);
  report.results.back().id = "ROT-03";
  report.results.back().failure->finding.kind = FailureKind::relation;
  report.results.back().failure->finding.element->actual = 3;
  report.results.back().failure->finding.message = "the norm is 3";
  return report;
}

TEST_CASE("terminal: what shows the same is one block") {
  const std::string text = terminal_report(one_mistake(3), {});
  CHECK_THAT(text, Contains("--subject 'my lib.so#kernel'\n      also      POS-00, POS-01, POS-02\n"
                            "      ROT-03    the norm is 3\n"));
  CHECK_THAT(text, !Contains("  POS-00  FAIL") && !Contains("  ROT-03  FAIL") && Contains("  ROT-01  FAIL"));
  CHECK_THAT(terminal_report(one_mistake(3), verbose), Contains("  POS-00  FAIL") && Contains("  ROT-03  FAIL"));

  SubjectReport other = one_mistake(3);
  RequirementResult& third = *std::ranges::find(other.results, "POS-00", &RequirementResult::id);
  third.failure->finding.element->bound *= 2;
  CHECK_THAT(terminal_report(other, {}), Contains("  POS-00  FAIL") && Contains("  also      POS-01, POS-02\n"));
}

TEST_CASE("terminal: a cause that explains a block spares the reader its numbers, and no other block's") {
  SubjectReport report = sample_report();
  report.diagnosis = cause({"ROT-01", "ANG-01", "STA-01"});
  const std::string text = terminal_report(report, {});
  CHECK_THAT(text, Contains("  ROT-01  FAIL ") && Contains("  POS-01  FAIL ") &&
                       Contains("\n  the same cause, in other cases:\n    ANG-01  ropecheck replay 'ANG-01:") &&
                       Contains("\n    STA-01  ropecheck replay 'STA-01:") && !Contains("  ANG-01  FAIL "));
  report.diagnosis->certain = false;
  CHECK_THAT(terminal_report(report, {}), Contains("  ANG-01  FAIL ") && !Contains("the same cause"));
}

TEST_CASE("terminal: quiet leaves the verdict, its cause and one failing case, in 15 lines at most") {
  CHECK(lines(terminal_report(right_report(), quiet)) == std::vector<std::string>{first_line(right_report())});
  const std::string few = terminal_report(sample_report(), quiet);
  CHECK_THAT(few, Contains("  ROT-01  FAIL ") && Contains("replay    ropecheck replay 'ROT-01:") &&
                      Contains("\n  FAIL  ANG-01, POS-01, STA-01\n") && !Contains("  pass  ") && !Contains("grade"));

  SubjectReport report = one_mistake(34);
  report.diagnosis = cause({"ROT-01"});
  report.diagnosis->unexplained = {"POS-01"};
  report.diagnosis->candidates[0].sentence += "\nwith\na trace";
  report.conforms_without = {{"in place"}, {"ROT-01"}};
  report.ended_by = "no diagnosis: a\nb";
  report.recovered_hangs = 3;
  report.budget = Budget{std::chrono::duration<double>(20), 0, {}};
  report.results[1].left_out = 48;
  report.results[0].undecided = "too\nlong";
  report.results[2].verdict = Verdict::unexpected_pass;
  for (RequirementResult& result : report.results) {
    if (!result.failure) continue;
    result.failure->finding.kind = FailureKind::exception;
    result.failure->finding.message = "raised\na trace\nof\nmany\nlines";
  }
  CHECK(lines(terminal_report(report, quiet)).size() <= 15);
  CHECK_THAT(terminal_report(report, quiet), Contains("POS-33") && Contains("  UNEXPECTED PASS  ROT-03\n"));
  CHECK(lines(terminal_report(report, {})).size() > 15);
}

TEST_CASE("terminal: one case is not \"1 cases\"") {
  SubjectReport report = right_report();
  report.results.resize(1);
  report.results[0].cases = 1;
  report.calls = 1;
  const std::string text = terminal_report(report, verbose);
  CHECK_THAT(text, Contains("  ROT-02  pass             1 case   exact\n") && Contains("; 1 case, 1 call, "));
}

TEST_CASE("terminal: a note has as much as a failure if much is wanted, and is counted apart") {
  const std::string text = terminal_report(sample_report(), verbose);
  CHECK_THAT(text, Contains("  POS-09  note            12 cases\n"
                            "    What POS-09 says SHOULD hold.\n"
                            "      found     2 of 8 elements differ between two runs of the same call; the first is "));
  CHECK_THAT(text, Contains("      failed    2 of 12 cases\n"
                            "      replay    ropecheck replay 'POS-09:head_dim=4,batch=2,seq=3' --subject "));
  SubjectReport report = right_report();
  report.results.push_back(sample_report().results[7]);
  CHECK(report.conforms());
  CHECK_THAT(first_line(report), Contains("conforms  (3 passed, 0 failed, 1 note, 1 not claimed"));
  CHECK_THAT(terminal_report(report, {}),
             Contains("\n  POS-09  note            12 cases\n    What POS-09 says SHOULD hold.\n") && !Contains("found"));
  report.results.push_back(sample_report().results[7]);
  CHECK_THAT(first_line(report), Contains("conforms  (3 passed, 0 failed, 2 notes, 1 not claimed"));
}

TEST_CASE("terminal: a missing horizon and the demanded grade are shown") {
  SubjectReport report = sample_report();
  CHECK_THAT(terminal_report(report, {}), !Contains("scores"));  // of wrong angles they say nothing
  std::erase_if(report.results, [](const RequirementResult& r) { return r.verdict == Verdict::fail; });
  CHECK_THAT(terminal_report(report, {}),
             Contains("  bf16  scores shift-invariant to 0.0156 at no position (given frequencies, own angles)\n"));
  report = sample_report();
  report.grades.push_back({DType::f16, "", 2});
  CHECK_THAT(terminal_report(report, {}), Contains("\n  bf16, f16  no grade: not even C3 holds\n"));
  report.selection.grade = {AngleGrade::A, ArithmeticGrade::one};
  CHECK_THAT(terminal_report(report, {}), Contains("in_place=1' --subject 'my lib.so#kernel' --require A1\n"));
}

TEST_CASE("terminal: the first line is the verdict") {
  SubjectReport report = right_report();
  CHECK_THAT(first_line(report), Contains("kernel: conforms  (3 passed, 0 failed, 1 not claimed"));
  report.interrupted = true;
  CHECK_THAT(first_line(report), Contains("kernel: interrupted: no verdict") && !Contains("conforms"));
  CHECK_THAT(first_line(sample_report()),
             Contains("kernel: does not conform  (3 passed, 4 failed, 1 note, 1 not claimed"));
  report = right_report();
  for (RequirementResult& result : report.results) result = judged(result.id, Verdict::not_claimed, 0, 0);
  CHECK_THAT(first_line(report), Contains("no case was executed") && !Contains("conforms"));
}

TEST_CASE("terminal: what a budget left no time for is said of each requirement and in one sentence") {
  const std::string text = terminal_report(budget_report(), verbose);
  CHECK_THAT(text, Contains("\n  ROT-02  pass            80 of 128 cases  exact\n"));
  CHECK_THAT(text, Contains("\n  ROT-10  not judged\n"));
  CHECK_THAT(text, Contains("kernel: no verdict: nothing that was asked fails, but not all was asked  (2 passed, "
                            "0 failed, 1 note, 1 not judged, 1 not claimed"));
  CHECK(lines(terminal_report(budget_report(), {})).at(1) ==
        "  budget of 20 s used: 1 of 4 requirements were not asked (ROT-10), 1 only in part");
  SubjectReport failing = budget_report();
  failing.results.push_back(sample_report().results.front());
  CHECK_THAT(terminal_report(failing, {}), Contains("kernel: does not conform  ("));
}

TEST_CASE("terminal: what is to be known of the claims stands behind the diagnosis") {
  SubjectReport report = sample_report();
  report.diagnosis.emplace();
  report.claims_note = "it claims everything";
  report.conforms_without = {{"in place", "bf16 input"}, {"ROT-01"}};
  const std::vector<std::string> text = lines(terminal_report(report, {}));
  CHECK(text.at(2) ==
        "  claims: it would conform without these claims: in place, bf16 input (judged again, ROT-01 does not fail)");
  CHECK(text.at(3) == "  claims: it claims everything");
  report.conforms_without->judged_again.push_back("MEM-01");
  CHECK_THAT(terminal_report(report, {}), Contains("(judged again, none of 2 requirements fails)"));
}

TEST_CASE("terminal: expected failures and what was not decided have a line each") {
  SubjectReport report = expected_report();
  report.results[2].undecided = "the exact angle takes too long";
  const std::string text = terminal_report(report, {});
  CHECK_THAT(text, Contains("\n  ROT-02  UNEXPECTED PASS     80 cases  exact\n      listed    fixed?\n") &&
                       Contains("\n  STA-01  expected failure      3 cases\n      listed    known | since May\n") &&
                       Contains("\n      undecided the exact angle takes too long\n") && !Contains("replay"));
}

TEST_CASE("terminal: only a slow kernel's time is shown, with the requirement that took most of it") {
  SubjectReport report = right_report();
  report.results[0].kernel_seconds = 1.5;
  CHECK_THAT(terminal_report(report, {}), !Contains("slow"));
  report.results[1].kernel_seconds = 21;
  CHECK(lines(terminal_report(report, {})).at(1) ==
        "  slow: the kernel took 22.5 s; 21.0 s of it in the 1152 cases of ROT-03");
}

TEST_CASE("terminal: columns stand under each other and no line ends in blanks") {
  std::size_t columns = 0;
  for (const std::string& line : lines(terminal_report(sample_report(), verbose))) {
    CAPTURE(line);
    CHECK((line.empty() || line.back() != ' '));
    static const std::regex requirement("  [A-Z]{3}-[0-9]{2}  (pass|FAIL|note|not claimed).*");
    if (!std::regex_match(line, requirement) || line.find("not claimed") != line.npos) continue;
    CHECK(line.find(" cases") == 28);
    ++columns;
  }
  CHECK(columns == 8);
}

TEST_CASE("terminal: without colour there is no escape code, and colour adds nothing else") {
  const std::string plain = terminal_report(sample_report(), verbose);
  const std::string coloured =
      on_terminal(terminal_report(sample_report(), {.colour = true, .detail = TerminalDetail::verbose}));
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK_THAT(coloured, Contains("\x1b[31mFAIL"));
  CHECK(std::regex_replace(coloured, std::regex("\x1b\\[[0-9;]*m"), "") == plain);
}

}  // namespace
}  // namespace rope
