#include "tools/report/json.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/unit/command/program.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/report/sample_report.hpp"
#include "tools/report/terminal.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Json = nlohmann::ordered_json;

TEST_CASE("json: a requirement whose kernel raised has no worst element within the bound, and names its kind") {
  SubjectReport report = right_report();
  RequirementResult& result = report.results[1];
  Finding raised;
  raised.kind = FailureKind::exception;
  raised.message = "raised ValueError: no";
  result.verdict = Verdict::fail;
  result.failure = failure_of("ROT-03:head_dim=4", raised);
  const Json json = Json::parse(json_report({"1", {report}, {}}));
  const Json& shown = json.at("subjects").at(0).at("requirements").at(1);
  CHECK_FALSE(shown.contains("worst"));
  CHECK(shown.at("failure").at("kind") == "exception");
}

TEST_CASE("json: a missing claim, and claims that allow no position but 0, are fields") {
  SubjectReport report = right_report();
  const auto field = [&](const char* name) {
    return Json::parse(json_report({"1", {report}, {}})).at("subjects").at(0).value(name, Json());
  };
  CHECK(field("missing_claim").is_null());
  CHECK(field("only_position_0").is_null());
  report.missing_claim = "interleaved is not claimed";
  report.only_position_0 = true;
  CHECK(field("missing_claim") == "interleaved is not claimed");
  CHECK(field("only_position_0") == true);
}

// Returns false, with a message, if the machine has no validator. CI has one.
bool schema_can_be_checked() {
  const bool can = !jsonschema_python().empty();
  if (!can) WARN("left out: Python's jsonschema is not installed (Debian package python3-jsonschema)");
  return can;
}

// The answers of an independent validator to each document: "valid", or the place that breaks the schema.
std::vector<std::string> schema_answers(const std::vector<Json>& documents) {
  const TemporaryFolder folder;
  {
    std::ofstream lines(folder / "documents");
    for (const Json& document : documents) lines << document.dump() << '\n';
  }
  const std::string script = (source_folder() / "tests/unit/report/schema_errors.py").string();
  const std::string schema = (source_folder() / "tools/report/report.schema.json").string();
  const Result result = run_program(
      {"sh", "-c", R"("$0" "$1" "$2" < "$3")", jsonschema_python(), script, schema, (folder / "documents").string()});
  if (result.exit_code != 0) throw std::runtime_error(result.err);
  std::istringstream stream(result.out);
  std::vector<std::string> answers;
  for (std::string line; std::getline(stream, line);) answers.push_back(line);
  return answers;
}

std::string schema_answer(const Json& document) { return schema_answers({document}).at(0); }

Json parsed(const std::vector<SubjectReport>& reports) { return Json::parse(json_report({"0.1.0", reports, {}})); }

// One change of a document, and whether the result is still a report.
struct Change {
  std::string what;
  Json document;
  bool still_valid = false;
};

bool may_be_left_out(const Json::json_pointer& place) {
  const std::string& key = place.back();
  if (key == "tried") return place.parent_pointer().parent_pointer().back() == "subjects";
  if (key == "largest_position") return place.parent_pointer().parent_pointer().back() == "requirements";
  if (key == "spec") return place.parent_pointer().back() != "failure";
  if (key == "worst") return place.parent_pointer().parent_pointer().back() == "requirements";
  if (key == "diagnosis" || key == "machine" || key == "started" || key == "pairs" || key == "wrong_rows" || key == "problem") return true;
  return key == "lacks" || key == "claims_note" || key == "missing_claim" || key == "only_position_0" || key == "conforms_without" ||
         key == "failure" || key == "reason" || key == "numpy" ||
         (key == "element" && place.parent_pointer().back() == "failure");
}

// Every field removed, every value replaced by another type, every object with an extra field.
void add_changes(const Json& whole, const Json::json_pointer& place, std::vector<Change>& changes) {
  const auto changed = [&](const std::string& what, const auto& change, bool still_valid) {
    Json document = whole;
    change(document);
    changes.push_back({what + " " + place.to_string(), document, still_valid});
  };
  const Json& value = whole[place];
  if (!place.empty()) {
    changed(
        "another type", [&](Json& d) { d[place] = value.is_array() ? Json("text") : Json::array(); }, false);
    if (whole[place.parent_pointer()].is_object()) {
      changed(
          "removed", [&](Json& d) { d[place.parent_pointer()].erase(place.back()); }, may_be_left_out(place));
    }
    if (place.back() == "spec") return;  // any value is valid here; rope_spec.schema.json checks it
  }
  if (value.is_object()) {
    changed(
        "one more field", [&](Json& d) { d[place]["unexpected"] = 1; }, false);
    for (const auto& [key, ignored] : value.items()) add_changes(whole, place / key, changes);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) add_changes(whole, place / i, changes);
  }
}

TEST_CASE("json: reports match the schema, whatever was found") {
  if (!schema_can_be_checked()) return;
  SubjectReport with_spec = right_report();
  with_spec.selection.spec = RopeSpec{};
  with_spec.selection.grade = {AngleGrade::B, ArithmeticGrade::two};
  with_spec.selection.demands = Demand::bitwise | Demand::robust;
  with_spec.selection.only = {"ROT", "REL-01"};
  SubjectReport interrupted = sample_report();
  interrupted.interrupted = true;
  interrupted.results.resize(2);
  SubjectReport nothing;
  nothing.subject = "half_split";
  const std::vector<Json> documents{parsed({}), parsed({sample_report(), with_spec}), parsed({interrupted}),
                                    parsed({nothing}), parsed({budget_report()}), parsed({pictured_report()})};
  for (const std::string& answer : schema_answers(documents)) CHECK(answer == "valid");
}

TEST_CASE("json: real runs, of a right and of a wrong kernel, match the schema", "[takes_long]") {
  if (!schema_can_be_checked()) return;
  const Result result = ropecheck({"verify", "half_split", (build_folder() / "examples/broken_kernel.so").string(),
                                   (build_folder() / "misbehaving.so#decline").string(), "--level", "quick",
                                   "--head-dim", "64", "--json", "-"});
  REQUIRE(result.exit_code == 1);
  const Json report = Json::parse(result.out);
  REQUIRE(report["subjects"].size() == 3);
  CHECK(report["subjects"][0]["conforms"] == true);
  CHECK(report["subjects"][1]["conforms"] == false);
  CHECK(report["subjects"][2]["conforms"] == false);
  CHECK(schema_answer(report) == "valid");
}

TEST_CASE("json: the schema rejects a report with a field removed, of another type, or too many") {
  if (!schema_can_be_checked()) return;
  SubjectReport with_spec = pictured_report();
  with_spec.selection.spec = RopeSpec{};
  with_spec.claims_note = "it claims everything";
  with_spec.conforms_without = {{"in place"}, {"ROT-01"}};
  with_spec.missing_claim = "interleaved is not claimed";
  with_spec.only_position_0 = true;
  std::vector<Change> changes;
  add_changes(parsed({with_spec}), Json::json_pointer(), changes);
  REQUIRE(changes.size() > 200);
  std::vector<Json> documents;
  for (const Change& change : changes) documents.push_back(change.document);
  const std::vector<std::string> answers = schema_answers(documents);
  REQUIRE(answers.size() == changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(changes[i].what, answers[i]);
    CHECK((answers[i] == "valid") == changes[i].still_valid);
  }
}

TEST_CASE("json: the schema rejects values that a report never holds") {
  if (!schema_can_be_checked()) return;
  const Json report = parsed({sample_report()});
  const auto with = [&](const char* place, const Json& value) {
    Json document = report;
    document[Json::json_pointer(place)] = value;
    return document;
  };
  const std::vector<Json> documents{with("/schema", 2),
                                    with("/tool", "another"),
                                    with("/subjects/0/level", "fast"),
                                    with("/subjects/0/seed", -1),
                                    with("/subjects/0/cases", 1.5),
                                    with("/subjects/0/grades/0/grade", "D1"),
                                    with("/subjects/0/grades/0/dtype", "f8"),
                                    with("/subjects/0/horizons/0/source", "tables"),
                                    with("/subjects/0/horizons/0/position", -1),
                                    with("/subjects/0/requirements/0/id", "rot-1"),
                                    with("/subjects/0/requirements/0/force", "MAY"),
                                    with("/subjects/0/requirements/0/verdict", "not claimed"),
                                    with("/subjects/0/requirements/0/worst/use", "infinite"),
                                    with("/subjects/0/requirements/0/failure/kind", "none"),
                                    with("/subjects/0/requirements/0/failure/element/actual_bits", "3f800000")};
  for (const std::string& answer : schema_answers(documents)) CHECK_THAT(answer, Catch::StartsWith("invalid: $"));
}

TEST_CASE("json: it holds what the terminal says") {
  const SubjectReport report = sample_report();
  const std::string text = terminal_report(report, {.detail = TerminalDetail::verbose});
  const Json subject = parsed({report})["subjects"][0];
  CHECK(subject["subject"] == "my lib.so#kernel");
  CHECK(subject["conforms"] == false);
  CHECK(subject["seed"] == 7);
  CHECK(subject["cases"] == report.executed());
  CHECK(subject["calls"] == 1234);
  REQUIRE(subject["requirements"].size() == report.results.size());
  for (const Json& requirement : subject["requirements"]) {
    const std::string id = requirement["id"];
    CAPTURE(id);
    CHECK_THAT(text, Contains("  " + id + "  "));
    if (!requirement.contains("failure")) continue;
    const Json& failure = requirement["failure"];
    CHECK_THAT(text, Contains(requirement["sentence"].get<std::string>()));
    CHECK_THAT(text, Contains("found     " + failure["message"].get<std::string>() + "\n"));
    CHECK_THAT(text, Contains("replay    " + failure["replay"].get<std::string>() + "\n"));
    CHECK_THAT(failure["replay"].get<std::string>(), Contains("'" + failure["case"].get<std::string>() + "'"));
    if (failure.contains("element")) {
      CHECK_THAT(text, Contains("where     " + failure["element"]["place"].get<std::string>() + "\n"));
      CHECK(!failure["element"].contains("what"));
    }
  }
  const Json& wrong = subject["requirements"][0];
  CHECK(wrong["verdict"] == "fail");
  CHECK(wrong["cases"] == 411);
  CHECK(wrong["failed"] == 105);
  CHECK(wrong["worst"]["use"] == 3.24e6);
  CHECK(wrong["worst"]["element"]["position"] == 1026);
  CHECK(wrong["worst"]["element"]["pair"] == 1);
  CHECK(wrong["failure"]["first_seen"] == "ROT-01:head_dim=4,seq=3,batch=2,in_place=1,batch=3");
  CHECK(wrong["failure"]["element"]["actual_bits"] == "0x3ee8c7b6");
  CHECK(wrong["failure"]["element"]["bound"] == 1.19e-7);
  CHECK(wrong["failure"]["spec"]["head_dim"] == 4);
  CHECK(wrong["force"] == "MUST");
  CHECK(subject["requirements"][4]["verdict"] == "not_claimed");
  CHECK(subject["requirements"][7]["verdict"] == "note");
  CHECK(subject["requirements"][7]["force"] == "SHOULD");
  CHECK(subject["permitted_variants"] == Json{"f32 output for bf16 input", "data aligned to 64 bytes"});
  CHECK(subject["horizons"][1] == Json{{"dtype", "f32"},
                                       {"source", "computed"},
                                       {"tolerance", 1e-3},
                                       {"position", 8192},
                                       {"tried", 16384},
                                       {"worst", 5e-4},
                                       {"curve", Json::array()}});
  CHECK(subject["horizons"][2]["position"].is_null());
  CHECK(subject["grades"][0] == Json{{"dtype", "f32"}, {"grade", "A1"}, {"use", 0.97}});
  CHECK(subject["grades"][1] == Json{{"dtype", "bf16"}, {"grade", nullptr}, {"use", "inf"}});
}

TEST_CASE("json: numbers that are not finite are words") {
  const Json element = parsed({sample_report()})["subjects"][0]["requirements"][5]["failure"]["element"];
  CHECK(element["expected"] == "-inf");
  CHECK(element["actual"] == "nan");
  CHECK(element["error"] == "inf");
}

TEST_CASE("json: a budget is told, and what it left no time for") {
  const Json subject = parsed({budget_report()})["subjects"][0];
  CHECK(subject["conforms"] == false);
  CHECK(subject["as_expected"] == false);
  CHECK(subject["budget"] == Json{{"seconds", 20.0}, {"not_judged", 1}, {"in_part", 1}, {"left_out", 55}});
  CHECK(subject["requirements"][0]["left_out"] == 48);
  CHECK(subject["requirements"][2]["verdict"] == "not_judged");
}

TEST_CASE("json: fields and requirements keep their order") {
  const auto keys = [](const Json& object) {
    std::vector<std::string> result;
    for (const auto& [key, ignored] : object.items()) result.push_back(key);
    return result;
  };
  const Json report = parsed({sample_report(), right_report()});
  CHECK(keys(report) == std::vector<std::string>{"schema", "tool", "version", "subjects", "not_judged"});
  CHECK(keys(report["subjects"][0]) == std::vector<std::string>{"subject", "conforms", "as_expected", "verdict",
                                                                "counts", "interrupted", "level", "seed", "cases",
                                                                "calls", "seconds", "kernel_seconds", "require", "only",
                                                                "permitted_variants", "horizons", "heatmaps", "grades",
                                                                "claims", "tried", "requirements"});
  std::vector<std::string> ids;
  for (const Json& requirement : report["subjects"][0]["requirements"]) ids.push_back(requirement["id"]);
  CHECK(ids == std::vector<std::string>{"ROT-01", "ROT-02", "ROT-03", "ROT-10", "BWD-01", "ANG-01", "POS-01", "POS-09",
                                        "STA-01"});
  CHECK(json_report({"1", {sample_report()}, {}}) == json_report({"1", {sample_report()}, {}}));
}

}  // namespace
}  // namespace rope
