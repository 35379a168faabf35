#include "tools/report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/judge/run/explain.hpp"
#include "tools/report/numpy_snippet.hpp"

namespace rope {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity and no NaN; they are written as the words that strtod reads.
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

Json failure_json(const Failure& failure, const SubjectReport& report) {
  const std::string id = to_text(failure.minimal);
  Json json{{"case", id},
            {"first_seen", failure.first_seen},
            {"kind", name(failure.finding.kind)},
            {"message", explain(failure)},
            {"needs_earlier_calls", failure.needs_earlier_calls},
            {"spec", Json::parse(to_json(failure.minimal.spec))},
            {"replay", replay_command(failure.minimal, report.subject, report.selection.grade)}};
  if (failure.finding.element) json["element"] = element_json(*failure.finding.element, failure.minimal);
  if (const auto snippet = numpy_snippet(failure.finding, failure.minimal)) json["numpy"] = *snippet;
  return json;
}

// Two words made one: "not_claimed".
std::string verdict_name(Verdict verdict) {
  std::string word(name(verdict));
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

Json result_json(const RequirementResult& result, const SubjectReport& report) {
  Json json{{"id", result.id},
            {"sentence", result.sentence},
            {"force", result.is_must ? "MUST" : "SHOULD"},
            {"verdict", verdict_name(result.verdict)},
            {"cases", result.cases},
            {"failed", result.failed},
            {"seconds", result.seconds},
            {"kernel_seconds", result.kernel_seconds}};
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (!result.undecided.empty()) json["undecided"] = result.undecided;
  if (const Finding* worst = shown_worst(result)) {
    json["worst"] = {{"use", number(worst->use)},
                     {"case", result.worst_case},
                     {"element", element_json(*worst->element, case_from_text(result.worst_case))}};
  }
  if (result.failure) json["failure"] = failure_json(*result.failure, report);
  return json;
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  Json json{{"certain", diagnosis.certain},     {"evidence", diagnosis.evidence},       {"trigger", diagnosis.trigger},
            {"explained", diagnosis.explained}, {"unexplained", diagnosis.unexplained}, {"plan", diagnosis.plan},
            {"candidates", Json::array()}};
  for (const Candidate& c : diagnosis.candidates) {
    json["candidates"].push_back({{"class", word_of(c.bug_class)},
                                  {"sentence", c.sentence},
                                  {"condition", c.condition},
                                  {"fit", number(c.fit)}});
  }
  return json;
}

Json subject_json(const SubjectReport& report) {
  Json json{{"subject", report.subject},
            {"conforms", report.conforms()},
            {"as_expected", report.as_expected()},
            {"interrupted", report.interrupted},
            {"level", name(report.selection.level)},
            {"seed", report.selection.seed},
            {"cases", report.executed()},
            {"calls", report.calls},
            {"seconds", report.seconds},
            {"kernel_seconds", report.kernel_seconds()}};
  if (report.selection.spec) json["spec"] = Json::parse(to_json(*report.selection.spec));
  if (!report.selection.layers.empty()) json["layers"] = report.selection.layers;
  if (report.selection.most_tokens) json["most_tokens"] = *report.selection.most_tokens;
  json["require"] = required_words(report.selection);
  json["only"] = report.selection.only;
  json["permitted_variants"] = report.permitted_variants;
  json["horizons"] = Json::array();
  for (const Horizon& horizon : report.horizons) {
    json["horizons"].push_back({{"dtype", name(horizon.dtype)},
                                {"source", name(horizon.source)},
                                {"tolerance", horizon.tolerance},
                                {"position", horizon.position < 0 ? Json(nullptr) : Json(horizon.position)},
                                {"tried", horizon.tried},
                                {"worst", number(horizon.worst)}});
  }
  json["grades"] = Json::array();
  for (const MeasuredGrade& grade : report.grades) {
    json["grades"].push_back({{"dtype", name(grade.dtype)},
                              {"grade", grade.grade.empty() ? Json(nullptr) : Json(grade.grade)},
                              {"use", number(grade.use)}});
  }
  if (!report.claims_note.empty()) json["claims_note"] = report.claims_note;
  if (report.conforms_without) {
    json["conforms_without"] = {{"claims", report.conforms_without->claims},
                                {"judged_again", report.conforms_without->judged_again}};
  }
  if (report.diagnosis) json["diagnosis"] = diagnosis_json(*report.diagnosis);
  if (report.responses) {
    json["responses"] = {{"asked_for", report.responses->asked_for},
                         {"missing", report.responses->missing},
                         {"malformed", report.responses->malformed}};
  }
  json["requirements"] = Json::array();
  for (const RequirementResult& result : report.results) {
    json["requirements"].push_back(result_json(result, report));
  }
  return json;
}

}  // namespace

std::string json_report(const RunReport& run) {
  Json json{{"schema", 1},
            {"tool", "ropecheck"},
            {"version", run.version},
            {"subjects", Json::array()},
            {"not_judged", run.not_judged}};
  for (const SubjectReport& report : run.subjects) json["subjects"].push_back(subject_json(report));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rope
