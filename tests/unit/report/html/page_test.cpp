#include "tools/report/html/page.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/report/sample_report.hpp"
#include "tools/report/golden_json.hpp"
#include "tools/report/json.hpp"
#include "tools/report/plan_json.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Json = nlohmann::ordered_json;

std::string page(std::vector<SubjectReport> reports, std::vector<std::string> not_judged = {}) {
  return html::page_of(json_report({"0.1.0", std::move(reports), std::move(not_judged)}));
}

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
  return count;
}

// What a person sees: the page before the report for machines.
std::string visible(const std::string& page) { return page.substr(0, page.find("<script type=\"application/json\"")); }

TEST_CASE("html: verdict, diagnosis, precision, horizon, requirements, claims and run come in this order", "[html]") {
  SubjectReport report = pictured_report();
  report.conforms_without = {{"in place"}, {"ROT-01"}};
  const std::string text = page({report});
  std::size_t at = 0;
  for (const char* title : {"<span class=\"word\">does not conform", ">What it does instead<", "it would conform without",
                            ">How exact it is<", ">Horizon: ", ">Requirements<", ">Failed (4)<", ">Passed (3)<",
                            ">Claims<", "f32, tables: positions every one to 65536", ">This run<",
                            "id=\"ropecheck-report\""}) {
    INFO(title);
    const std::size_t found = text.find(title);
    REQUIRE(found != text.npos);
    CHECK(found > at);
    at = found;
  }
}

TEST_CASE("html: calls that get the answer unsupported are a remark", "[html]") {
  SubjectReport report = pictured_report();
  report.unsupported = UnsupportedCalls{.claims = {"backward"}, .cases = 5};
  CHECK_THAT(visible(page({report})),
             Contains("<b>Unsupported:</b> <bdi>5 cases get the answer unsupported. They need this claim: backward."));
}

TEST_CASE("html: a failure has its numbers as decimals and bits, its case, a command and a snippet", "[html]") {
  const std::string text = visible(page({pictured_report()}));
  CHECK_THAT(text, Contains("0.841470957") && Contains("0x3f576aa4") && Contains("0.454648674") && Contains("0x3ee8c7b6"));
  CHECK_THAT(text, Contains("ropecheck replay &apos;ROT-01:head_dim=4,<wbr>batch=2,<wbr>seq=3,<wbr>in_place=1&apos; --subject "
                            "&apos;my lib.so#kernel&apos;"));
  CHECK_THAT(text, Contains("import numpy"));
  CHECK_THAT(text, Contains("the subject read 4 bytes after the end of q"));
  CHECK_THAT(text, Contains("3.2e+06") && Contains(">exact<") && Contains(">unbounded<"));
}

TEST_CASE("html: pictures say in words what they show, and mark what is wrong", "[html]") {
  const std::string text = visible(page({pictured_report()}));
  CHECK_THAT(text, Contains("aria-label=\"Asked for: pairs (0, 2) (1, 3) . The kernel turns pairs (0, 1) (2, 3) \""));
  CHECK_THAT(text, Contains("1 of 2 pairs differ; 1 pair turn the other way."));
  CHECK_THAT(text, Contains("3 of 6 are wrong."));
  CHECK_THAT(text, Contains("3 of 7 cells exceed the bound, worst: pair 1, position 4 and beyond."));
  CHECK_THAT(text, Contains("f32, grade A1") && !Contains("B2"));  // the verdict's, not the picture's own
  CHECK_THAT(text, Contains("<pre class=\"wraps\" tabindex=\"0\"><code>ROT-01:head_dim=4,<wbr>seq=3<wbr></code></pre>"));
  CHECK_THAT(text, Contains("f64: within its limit up to position 1048576."));
  // A cross for each cell beyond the bound, for each wrong row, and for each step of the scale beyond the bound.
  const auto crosses = [&](const std::string& figure) {
    const std::size_t from = text.find("class=\"cross\" d=\"", text.find(figure));
    return times(text.substr(from, text.find("/>", from) - from), "M");
  };
  CHECK(crosses("aria-label=\"Error by pair") == 3);
  CHECK(crosses("aria-label=\"3 of 6 rows") == 3);
  CHECK(crosses("aria-label=\"Scale") == 3);
}

TEST_CASE("html: a picture says no grade that the verdict denies", "[html]") {
  SubjectReport report = pictured_report();
  report.grades[0].grade = "";
  CHECK_THAT(visible(page({report})), Contains(">f32</text>") && !Contains("f32, grade"));
}

SubjectReport biased(double mean) {
  SubjectReport report = sample_report();
  RequirementResult& result = report.results[0];
  Element& e = *result.worst->element;
  e.what = Compared::mean;
  e.actual = mean;
  e.bound = 0.25;
  result.failure->finding.kind = FailureKind::relation;
  result.failure->finding.message = "results are cut off";
  result.failure->finding.element = e;
  return report;
}

TEST_CASE("html: a mean error has a picture", "[html]") {
  const std::string text = visible(page({biased(-0.5)}));
  CHECK_THAT(text, Contains("aria-label=\"The mean error is -0.5 ulp; a right kernel&apos;s is within 0.25\"") &&
                       Contains("d=\"M91.0 22V44\"") && !Contains("outside of the picture"));
  CHECK_THAT(text, Contains("mean error</th><td class=\"number\">-0.5 ulp</td>"));
  CHECK_THAT(visible(page({biased(1e7)})), Contains("d=\"M328.0 22V44\"") && Contains("outside of the picture"));
  CHECK_THAT(visible(page({sample_report()})), !Contains("The mean error"));
}

TEST_CASE("html: bars beyond the bound say how far", "[html]") {
  const auto bar_of = [](double use) {
    SubjectReport report = sample_report();
    report.results.resize(1);
    report.results[0].worst->use = use;
    const std::string text = visible(page({report}));
    const std::string before = "fill over\" width=\"";
    const std::size_t from = text.find(before) + before.size();
    return text.substr(from, text.find('"', from) - from);
  };
  CHECK(bar_of(1e3) == "50.0");  // 40 is the bound
  CHECK(bar_of(1e9) == "70.0");
  CHECK(bar_of(1e30) == "100.0");
  CHECK(bar_of(std::numeric_limits<double>::quiet_NaN()) == "100.0");
}

TEST_CASE("html: without values there is a sentence in place of an empty picture", "[html]") {
  SubjectReport report = pictured_report();
  report.heatmaps[0].use = {{std::nullopt, std::nullopt, std::nullopt, std::nullopt}};
  report.heatmaps[0].problem = "raised ValueError: no";
  for (Horizon& horizon : report.horizons) horizon.curve.clear();
  const std::string text = visible(page({report}));
  CHECK_THAT(text, Contains("No values: raised ValueError: no") && !Contains("position, each column"));
  CHECK_THAT(text, !Contains("Change of scores against position") && Contains("up to position 8192, not to 16384"));
}

TEST_CASE("html: a NaN stays the worst of a picture", "[html]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  SubjectReport report = pictured_report();
  report.heatmaps[0].use = {{0.0, nan, 0.0, 0.0}, {0.0, 0.0, 0.5, 1e9}};
  CHECK_THAT(page({report}), Contains("2 of 8 cells exceed the bound, worst: pair 0, position 1 and beyond."));
  report.heatmaps[0].use = {{nan, 0.0, 0.0, 0.0}};
  CHECK_THAT(page({report}), Contains("1 of 4 cells exceed the bound, worst: pair 0, position 0 and beyond.") &&
                                 !Contains("Every result is exact."));
  report.heatmaps[0].use = {{0.0, 0.0, 0.0, 0.0}};
  CHECK_THAT(page({report}), Contains("Every result is exact."));
}

TEST_CASE("html: a page asks nobody for anything, and runs no script but its own", "[html]") {
  const std::string text = page({pictured_report()});
  CHECK_THAT(text, Contains("content=\"default-src &apos;none&apos;; style-src &apos;sha256-"));
  CHECK(times(text, "<script") == 2);
  CHECK(times(text, "</script>") == 2);
  for (const char* outside : {"http:", "https:", "url(", "@import", " src=", "<link", "<img", " style=", " onclick="}) {
    CHECK_THAT(text, !Contains(outside));
  }
}

TEST_CASE("html: any name and any message is text", "[html]") {
  for (const std::string name : {"<script>alert(1)</script>", "\"><img src=x>", "</script><b>", "a\tb\x01\xff",
                                 "{{> subject}} {{{data}}}"}) {
    SubjectReport report = pictured_report();
    report.subject = name;
    report.claims_note = name;
    report.results[0].failure->finding.message = name;
    report.results[0].sentence = name;
    report.diagnosis->candidates[0].sentence = name;
    report.diagnosis->trigger = name;
    const std::string text = page({report}, {name});
    INFO(name);
    CHECK(times(text, "<script") == 2);
    CHECK(times(text, "</script>") == 2);
    CHECK_THAT(text, !Contains("<img") && !Contains("</script><b>") && !Contains("\x01") && !Contains("\xff"));
    // The report for machines holds it all the same.
    const std::size_t from = text.find(">", text.find("id=\"ropecheck-report\"")) + 1;
    const Json data = Json::parse(text.substr(from, text.find("</script>", from) - from));
    CHECK(data == Json::parse(json_report({"0.1.0", {report}, {name}})));
  }
  SubjectReport report = sample_report();
  report.subject = "{{version}}";
  CHECK_THAT(page({report}), Contains("<bdi>{{version}}</bdi>"));
}

TEST_CASE("html: a page is smaller than 1 MB, and says what it leaves out", "[html][takes_long]") {
  CHECK(page({pictured_report()}).size() < 200'000);
  CHECK_THAT(page({pictured_report()}), !Contains("left out: this page"));
  SubjectReport named = pictured_report();
  named.subject = std::string(10'000, 'k');
  CHECK(page({named}).size() < html::page_limit);
  std::vector<SubjectReport> reports(14, pictured_report());
  CHECK(page(reports).size() < html::page_limit);
  reports.resize(400, pictured_report());
  const std::string many = page(reports);
  CHECK(many.size() < html::page_limit);
  CHECK_THAT(many, Contains("this page would be larger than 1 MB") && Contains("0 of 400 subjects conform"));
  std::vector<SubjectReport> long_names(300, named);
  const std::string most = page(long_names);
  CHECK(most.size() < html::page_limit);
  CHECK_THAT(most, Contains("Only verdicts are shown") && Contains("more</bdi>"));
}

TEST_CASE("html: several subjects begin with a table of verdicts", "[html]") {
  const std::string text = page({right_report(), sample_report()}, {"late.so#kernel"});
  CHECK_THAT(text, Contains("<h1>1 of 3 subjects conform</h1>") && Contains("<a href=\"#s2\">") &&
                       Contains("not judged: interrupted before its turn"));
  CHECK(times(text, "<h1") == 1);
}

TEST_CASE("html: no verdict without a subject, and an interrupted run says so", "[html]") {
  const RunReport begun{"0.1.0", {}, {}};
  CHECK_THAT(page({}), Contains("<h1>No verdict</h1>") && !Contains("conform<"));
  CHECK_THAT(page({}, {"late.so#kernel"}), Contains("<h1>No verdict</h1>") && Contains("interrupted before its turn"));
  const char* notice = "<p class=\"notice\">The run was interrupted: not every subject and case is on this page.</p>";
  for (const std::string& json : {golden_json({}, begun, true), plans_to_json({}, begun, true)}) {
    CHECK(Json::parse(json).at("interrupted") == true);
    CHECK_THAT(html::page_of(json), Contains(notice) && Contains("<title>No verdict: ropecheck</title>"));
  }
  GoldenReport right;
  right.subject = "right.so";
  const std::vector<GoldenReport> reports{right, right};
  CHECK_THAT(html::page_of(golden_json(reports, begun, true)), Contains(notice) && !Contains("All of"));
  const std::string whole = golden_json(reports, begun, false);
  CHECK_FALSE(Json::parse(whole).contains("interrupted"));
  CHECK_THAT(html::page_of(whole), !Contains("was interrupted"));
}

TEST_CASE("html: a list that is too short is an input error", "[html]") {
  const Json whole = Json::parse(json_report({"0.1.0", {pictured_report()}, {}}));
  for (const char* path : {"/subjects/0/heatmaps/0/use/1", "/subjects/0/heatmaps/0/positions",
                           "/subjects/0/horizons/0/curve/1", "/subjects/0/diagnosis/pairs/asked/0/features",
                           "/subjects/0/diagnosis/pairs/executed/1/features"}) {
    INFO(path);
    Json report = whole;
    Json& list = report.at(Json::json_pointer(path));
    REQUIRE(list.size() > 1);
    const std::string name = path;
    list = name.ends_with("positions") ? Json::array() : Json::array({list[0]});
    CHECK_THROWS_AS(html::page_of(report.dump(), "short.json"), InputError);
    CHECK_THROWS_WITH(html::page_of(report.dump(), "short.json"), Contains("short.json is not a complete report: "));
  }
}

TEST_CASE("html: only reports of this schema are read", "[html]") {
  const auto refused = [](const std::string& text, const std::string& words) {
    CHECK_THROWS_WITH(html::page_of(text, "old.json"), Contains(words));
    CHECK_THROWS_AS(html::page_of(text, "old.json"), InputError);
  };
  Json report = Json::parse(json_report({"0.1.0", {sample_report()}, {}}));
  report["schema"] = 7;
  refused(report.dump(), "old.json has schema version 7, this ropecheck reads 1; use the ropecheck that wrote it (0.1.0)");
  refused("{}", "old.json is not a report of ropecheck; expected what --json writes");
  refused("[1", "is not a report");
  report["schema"] = 1;
  report["subjects"][0].erase("verdict");
  refused(report.dump(), "old.json is not a complete report: ");
}

TEST_CASE("html: the same report gives the same bytes", "[html]") { CHECK(page({pictured_report()}) == page({pictured_report()})); }

}  // namespace
}  // namespace rope
