#include "tools/report/words.hpp"

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tools/report/json.hpp"
#include "tools/report/junit.hpp"
#include "tools/report/markdown.hpp"
#include "tools/report/terminal.hpp"

using namespace rope;

namespace {

Diagnosis two_candidates() {
  Diagnosis diagnosis;
  diagnosis.candidates = {{BugClass::backward, "backward rotates forward", "only backward", 0.97},
                          {BugClass::sign_direction, "sin is negated", "", 0.6}};
  diagnosis.certain = true;
  diagnosis.evidence = "9 of 9 wrong rows";
  diagnosis.trigger = "backward; it passes without any one of these";
  diagnosis.explained = {"BWD-01"};
  diagnosis.unexplained = {"REL-01"};
  return diagnosis;
}

RunReport run_with(const Diagnosis& diagnosis) {
  RunReport run{"1.0", {}, {}};
  run.subjects.emplace_back();
  run.subjects[0].subject = "kernel";
  run.subjects[0].diagnosis = diagnosis;
  return run;
}

}  // namespace

TEST_CASE("A diagnosis in words: the cause, its evidence, and the rivals with their fit") {
  const auto lines = diagnosis_lines(two_candidates());
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "diagnosis: backward: backward rotates forward; only backward");
  CHECK(lines[1] == "  evidence: 9 of 9 wrong rows");
  CHECK(lines[2] == "  fails with: backward; it passes without any one of these");
  CHECK(lines[3] == "  not explained by it: REL-01");
  CHECK(lines[4] == "  or sign-direction: sin is negated  (fit 0.60; the first 0.97)");
}

TEST_CASE("A diagnosis says if it is not certain, and if nothing explains the failure") {
  Diagnosis diagnosis = two_candidates();
  diagnosis.certain = false;
  CHECK(diagnosis_lines(diagnosis)[0].starts_with("diagnosis: not certain, most likely backward:"));
  CHECK(diagnosis_lines({}) == std::vector<std::string>{"diagnosis: no known bug explains the evidence"});
}

TEST_CASE("Every report has the diagnosis") {
  const RunReport run = run_with(two_candidates());
  const auto json = nlohmann::json::parse(json_report(run))["subjects"][0]["diagnosis"];
  CHECK(json["certain"] == true);
  CHECK(json["candidates"][0]["class"] == "backward");
  CHECK(json["candidates"][1]["fit"] == 0.6);
  CHECK(json["unexplained"] == std::vector<std::string>{"REL-01"});
  for (const std::string& text :
       {junit_report(run), markdown_report(run, 1 << 20), terminal_report(run.subjects[0], {})}) {
    CHECK(text.find("diagnosis: backward: backward rotates forward; only backward") != std::string::npos);
    CHECK(text.find("sin is negated") != std::string::npos);
  }
}
