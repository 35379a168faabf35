#include "tools/report/comparison.hpp"

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/report/sample_report.hpp"
#include "tools/report/html/compared.hpp"
#include "tools/report/json.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Kind = Change::Kind;

Comparison compare(std::vector<SubjectReport> before, std::vector<SubjectReport> after) {
  return compared(json_report({"0.1.0", std::move(before), {}}), "a.json", json_report({"0.2.0", std::move(after), {}}),
                  "b.json");
}

const Change* change_of(const Comparison& comparison, const std::string& what) {
  for (const Change& change : comparison.subjects.at(0).changes) {
    if (change.what == what) return &change;
  }
  return nullptr;
}

TEST_CASE("comparison: a report beside itself", "[comparison]") {
  const Comparison same = compare({sample_report()}, {sample_report()});
  CHECK_FALSE(same.is_worse());
  CHECK(same.subjects.at(0).changes.empty());
  CHECK(same.subjects.at(0).moved.empty());
  CHECK(same.before == "a.json: ropecheck 0.1.0");
  CHECK(verdict_words(same) == "nothing got worse or better");
}

TEST_CASE("comparison: what fails now, what is mended, grades and horizons", "[comparison]") {
  const SubjectReport before = sample_report();
  SubjectReport after = sample_report();
  after.results[0].verdict = Verdict::pass;        // ROT-01 failed
  after.results[1].verdict = Verdict::fail;        // ROT-02 passed
  after.results[2].verdict = Verdict::not_claimed; // ROT-03 passed
  after.results[3].verdict = Verdict::no_case;     // ROT-10 passed
  after.grades = {{DType::f32, "B1", 0.5}, {DType::bf16, "C3", 1}};
  after.horizons[1].position = 4096;
  const Comparison changed = compare({before}, {after});
  REQUIRE(change_of(changed, "ROT-01") != nullptr);
  CHECK(change_of(changed, "ROT-01")->kind == Kind::better);
  CHECK(change_of(changed, "ROT-02")->kind == Kind::worse);
  CHECK(change_of(changed, "ROT-03")->kind == Kind::worse);  // a claim less may hide it
  CHECK(change_of(changed, "ROT-10")->kind == Kind::worse);
  CHECK(change_of(changed, "grade in f32")->kind == Kind::worse);
  CHECK(change_of(changed, "grade in bf16")->kind == Kind::better);
  CHECK(change_of(changed, "horizon in f32")->kind == Kind::worse);
  CHECK(changed.is_worse());
  CHECK(verdict_words(changed) == "5 got worse, 2 got better");
  CHECK(changed.subjects[0].changes.front().kind == Kind::worse);
  CHECK_THAT(comparison_text(changed), Contains("worse   ROT-02           pass → fail\n") &&
                                           Contains("better  ROT-01           fail → pass\n"));
  const std::string page = html::page_of(changed, "0.2.0");
  CHECK_THAT(page, Contains("5 got worse, 2 got better") && Contains("<th scope=\"row\">ROT-02</th><td>pass</td><td>fail</td>"));
  CHECK_FALSE(compare({after}, {after}).is_worse());
}

TEST_CASE("comparison: a verdict is lost if B was interrupted or had too little time", "[comparison]") {
  SubjectReport after = sample_report();
  after.results[1].verdict = Verdict::not_judged;  // ROT-02 passed
  after.interrupted = true;
  const Comparison interrupted = compare({sample_report()}, {after});
  REQUIRE(change_of(interrupted, "ROT-02") != nullptr);
  CHECK(change_of(interrupted, "ROT-02")->kind == Kind::worse);
  CHECK(change_of(interrupted, "ROT-02")->after == "not judged");
  CHECK_THAT(comparison_text(interrupted), Contains(". B was interrupted, so not every case was asked\n"));
  after.interrupted = false;
  after.budget = Budget{std::chrono::duration<double>(20), 0, {}};
  after.results[1].left_out = 7;
  CHECK_THAT(comparison_text(compare({sample_report()}, {after})), Contains(". B's budget left no time for 7 cases\n"));
  // What had no verdict loses none.
  SubjectReport before = sample_report();
  before.results[1].verdict = Verdict::not_claimed;
  after.results[1].left_out = 0;
  CHECK_FALSE(compare({before}, {after}).is_worse());
}

TEST_CASE("comparison: a requirement, grade or horizon that B lacks, and a claim that is gone", "[comparison]") {
  SubjectReport before = sample_report(), after = sample_report();
  before.claims = {{"features", {"in place", "strides"}, {}, {}}};
  after.claims = {{"features", {"strides"}, {}, {"in place"}}};
  std::erase_if(after.results, [](const RequirementResult& r) { return r.id == "ROT-02" || r.id == "BWD-01"; });
  after.grades.clear();
  after.horizons.erase(after.horizons.begin() + 1);
  const Comparison lost = compare({before}, {after});
  for (const char* what : {"ROT-02", "grade in f32", "horizon in f32", "features: in place"}) {
    INFO(what);
    REQUIRE(change_of(lost, what) != nullptr);
    CHECK(change_of(lost, what)->kind == Kind::worse);
  }
  CHECK(change_of(lost, "ROT-02")->after == "missing");
  CHECK(change_of(lost, "features: in place")->after == "not claimed");
  // There was no verdict and no grade.
  CHECK(change_of(lost, "BWD-01")->kind == Kind::other);
  CHECK(change_of(lost, "grade in bf16")->kind == Kind::other);
  CHECK(verdict_words(lost) == "4 got worse, nothing got better");
}

TEST_CASE("comparison: what only B has is told, and is not worse", "[comparison]") {
  SubjectReport before = sample_report(), after = sample_report();
  before.results.erase(before.results.begin(), before.results.begin() + 2);  // ROT-01 fails, ROT-02 passes
  before.grades.clear();
  before.horizons.clear();
  before.claims = {{"features", {"in place"}, {}, {"backward"}}};
  after.claims = {{"features", {"in place", "backward"}, {}, {}}};
  const Comparison changed = compare({before}, {after});
  CHECK_FALSE(changed.is_worse());
  REQUIRE(change_of(changed, "ROT-01") != nullptr);
  CHECK(change_of(changed, "ROT-01")->before == "not in A");
  CHECK(change_of(changed, "ROT-02") == nullptr);
  CHECK(change_of(changed, "grade in f32") != nullptr);
  CHECK(change_of(changed, "horizon in f32") != nullptr);
  REQUIRE(change_of(changed, "features: backward") != nullptr);
  CHECK(change_of(changed, "features: backward")->after == "claimed");
}

TEST_CASE("comparison: by how much errors moved", "[comparison]") {
  SubjectReport after = sample_report();
  after.results[2].worst->use = 0.3125;  // half
  after.results[0].worst->use *= 1.05;   // too little to be shown
  const Comparison moved = compare({sample_report()}, {after});
  REQUIRE(moved.subjects.at(0).moved.size() == 1);
  CHECK(moved.subjects[0].moved[0].what == "ROT-03");
  CHECK(moved.subjects[0].moved[0].before == 0.625);
  CHECK(moved.subjects[0].moved[0].after == 0.3125);
  CHECK_FALSE(moved.is_worse());
  CHECK_THAT(comparison_text(moved), Contains("moved   ROT-03           0.625 → 0.312 of the bound\n"));
  const std::string page = html::page_of(moved, "0.2.0");
  CHECK_THAT(page, !Contains("td { overflow-wrap: anywhere"));  // it lets columns be narrower than their words
  CHECK_THAT(page, Contains(">0.5 times</td>") && Contains("<h3>Errors that moved") && !Contains("<details>"));
}

TEST_CASE("comparison: a cause that is not certain is told as one, with its condition", "[comparison]") {
  SubjectReport after = pictured_report();
  after.diagnosis->certain = false;
  const Comparison changed = compare({pictured_report()}, {after});
  REQUIRE(change_of(changed, "diagnosis") != nullptr);
  CHECK(change_of(changed, "diagnosis")->before == "pairs neighbours; only in place");
  CHECK(change_of(changed, "diagnosis")->after == "most likely pairs neighbours; only in place");
  CHECK_THAT(html::page_of(changed, "0.2.0"),
             Contains("<dt>diagnosis, B</dt><dd>most likely pairs neighbours; only in place</dd>"));
}

TEST_CASE("comparison: subjects are found by name, a single one by its place", "[comparison]") {
  SubjectReport renamed = sample_report();
  renamed.subject = "v2.so#kernel";
  const Comparison single = compare({sample_report()}, {renamed});
  CHECK(single.subjects.at(0).name == "my lib.so#kernel → v2.so#kernel");
  CHECK_FALSE(single.is_worse());
  const Comparison several = compare({sample_report(), renamed}, {renamed});
  REQUIRE(several.subjects.size() == 2);
  CHECK(several.subjects[1].changes.at(0).after == "missing");
  CHECK(several.is_worse());
}

TEST_CASE("comparison: it says that other cases were asked, and refuses other texts", "[comparison]") {
  SubjectReport after = sample_report();
  after.selection.seed = 8;
  CHECK_THAT(comparison_text(compare({sample_report()}, {after})),
             Contains("seed differs: 7 in A, 8 in B; so other cases were asked"));
  const std::string report = json_report({"0.1.0", {sample_report()}, {}});
  CHECK_THROWS_WITH(compared("{}", "a.json", report, "b.json"), Contains("a.json is not a report of ropecheck"));
  CHECK_THROWS_AS(compared(report, "a.json", "", "b.json"), InputError);
}

}  // namespace
}  // namespace rope
