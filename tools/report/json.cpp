#include "tools/report/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/conformance/explain.hpp"

namespace rope {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN; they go in as the words that strtod reads.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string bits(DType dtype, double value) {
  std::uint64_t raw = 0;
  store(dtype, &raw, value);
  return fmt::format("0x{:0{}x}", raw, 2 * size_of(dtype));
}

Json element_json(const Element& e, const Case& c) {
  Json json{{"tensor", e.tensor},
            {"batch", e.row.batch},
            {"token", e.row.seq},
            {"head", e.row.head},
            {"feature", e.feature},
            {"position", e.position},
            {"phi", number(e.phi)},
            {"dtype", name(e.dtype)},
            {"expected", number(e.expected)},
            {"expected_bits", bits(e.dtype, e.expected)},
            {"actual", number(e.actual)},
            {"actual_bits", fmt::format("0x{:0{}x}", e.actual_bits, 2 * size_of(e.dtype))},
            {"error", number(e.error)},
            {"bound", number(e.bound)},
            {"place", place(e, c)}};
  json["pair"] = e.pair ? Json(*e.pair) : Json(nullptr);
  return json;
}

const char* kind_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::none: return "none";
    case FailureKind::value: return "value";
    case FailureKind::unwritten: return "unwritten";
    case FailureKind::relation: return "relation";
    case FailureKind::repetition: return "repetition";
    case FailureKind::status: return "status";
    case FailureKind::crash: return "crash";
    case FailureKind::timeout: return "timeout";
    case FailureKind::misbehaviour: return "misbehaviour";
  }
  return "";
}

Json failure_json(const Failure& failure, const std::string& subject) {
  const std::string id = to_text(failure.minimal);
  Json json{{"case", id},
            {"first_seen", failure.first_seen},
            {"kind", kind_name(failure.finding.kind)},
            {"message", explain(failure.finding)},
            {"spec", Json::parse(to_json(failure.minimal.spec))},
            {"replay", replay_command(failure.minimal, subject)}};
  if (failure.finding.element) json["element"] = element_json(*failure.finding.element, failure.minimal);
  return json;
}

Json result_json(const RequirementResult& result, const std::string& subject) {
  Json json{{"id", result.id},
            {"sentence", result.sentence},
            {"verdict", result.verdict == Verdict::not_claimed ? "not_claimed" : name(result.verdict)},
            {"cases", result.cases},
            {"failed", result.failed}};
  if (result.worst && result.worst->element) {
    json["worst"] = {{"use", number(result.worst->use)},
                     {"case", result.worst_case},
                     {"element", element_json(*result.worst->element, case_from_text(result.worst_case))}};
  }
  if (result.failure) json["failure"] = failure_json(*result.failure, subject);
  return json;
}

const char* level_name(Level level) {
  switch (level) {
    case Level::quick: return "quick";
    case Level::full: return "full";
    case Level::exhaustive: return "exhaustive";
  }
  return "";
}

Json subject_json(const SubjectReport& report) {
  Json json{{"subject", report.subject},
            {"conforms", report.conforms()},
            {"interrupted", report.interrupted},
            {"level", level_name(report.selection.level)},
            {"seed", report.selection.seed},
            {"cases", report.executed()},
            {"calls", report.calls},
            {"seconds", report.seconds}};
  if (report.selection.spec) json["spec"] = Json::parse(to_json(*report.selection.spec));
  json["grades"] = Json::array();
  for (const MeasuredGrade& grade : report.grades) {
    json["grades"].push_back({{"dtype", name(grade.dtype)},
                              {"grade", grade.grade.empty() ? Json(nullptr) : Json(grade.grade)},
                              {"use", number(grade.use)}});
  }
  json["requirements"] = Json::array();
  for (const RequirementResult& result : report.results) {
    json["requirements"].push_back(result_json(result, report.subject));
  }
  return json;
}

}  // namespace

std::string json_report(const std::vector<SubjectReport>& reports, const std::string& version) {
  Json json{{"schema", 1}, {"tool", "ropecheck"}, {"version", version}, {"subjects", Json::array()}};
  for (const SubjectReport& report : reports) json["subjects"].push_back(subject_json(report));
  return json.dump(2) + "\n";
}

}  // namespace rope
