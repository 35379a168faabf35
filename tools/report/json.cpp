#include "tools/report/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/judge/run/explain.hpp"
#include "tools/report/finding_json.hpp"
#include "tools/report/tried_words.hpp"

namespace rope {
namespace {

Json failure_json(const Failure& failure, const SubjectReport& report) {
  Json json = finding_json(failure.finding, failure.minimal, report.subject, report.selection.grade);
  json["message"] = explain(failure);
  json["first_seen"] = failure.first_seen;
  json["needs_earlier_calls"] = failure.needs_earlier_calls;
  if (failure.held_again > 0) json["held_again"] = failure.held_again;
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
  if (result.left_out > 0) json["left_out"] = result.left_out;
  if (result.largest_position) json["largest_position"] = *result.largest_position;
  if (!result.lacks.empty()) json["lacks"] = result.lacks;
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (!result.undecided.empty()) json["undecided"] = result.undecided;
  if (const Finding* worst = shown_worst(result)) {
    json["worst"] = {{"use", json_number(worst->use)},
                     {"case", result.worst_case},
                     {"element", element_json(*worst->element, case_from_text(result.worst_case))}};
  }
  if (result.failure) json["failure"] = failure_json(*result.failure, report);
  return json;
}

Json pairs_json(const std::vector<PairsSeen::Pair>& pairs) {
  Json list = Json::array();
  for (const PairsSeen::Pair& pair : pairs) {
    list.push_back({{"features", {pair.first, pair.second}}, {"theta", json_number(pair.theta)}});
  }
  return list;
}

Json wrong_rows_json(const WrongRows& wrong) {
  Json json{{"call", wrong.call}, {"heads", Json::array()}};
  for (const WrongRows::Head& head : wrong.heads) {
    json["heads"].push_back(
        {{"tensor", head.key ? "k" : "q"}, {"batch", head.batch}, {"head", head.head}, {"tokens", head.tokens}});
  }
  return json;
}

Json curve_json(const Horizon& horizon) {
  Json points = Json::array();
  for (const Horizon::Point& point : horizon.curve) points.push_back({point.position, json_number(point.deviation)});
  return points;
}

// Three digits are enough for a colour.
Json heatmap_json(const Heatmap& map) {
  Json json{{"dtype", name(map.dtype)},
            {"source", name(map.source)},
            {"call", map.call},
            {"calls", map.calls},
            {"grade", map.grade.grade.empty() ? Json(nullptr) : Json(map.grade.grade)},
            {"positions", map.positions},
            {"use", Json::array()}};
  if (!map.problem.empty()) json["problem"] = map.problem;
  for (const auto& pair : map.use) {
    Json row = Json::array();
    for (const std::optional<double>& share : pair) {
      row.push_back(!share                  ? Json(nullptr)
                    : std::isfinite(*share) ? Json(std::stod(fmt::format("{:.3g}", *share)))
                                            : json_number(*share));
    }
    json["use"].push_back(std::move(row));
  }
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
                                  {"fit", json_number(c.fit)}});
  }
  if (diagnosis.pairs) {
    json["pairs"] = {{"head_dim", diagnosis.pairs->head_dim},
                     {"asked", pairs_json(diagnosis.pairs->asked)},
                     {"executed", pairs_json(diagnosis.pairs->executed)}};
  }
  if (diagnosis.wrong_rows) json["wrong_rows"] = wrong_rows_json(*diagnosis.wrong_rows);
  return json;
}

Json sandbox_json(const SandboxWords& words) {
  Json json{{"mode", words.mode}, {"applied", words.applied}, {"missing", Json::array()}};
  for (const auto& [measure, why] : words.missing) json["missing"].push_back({{"measure", measure}, {"why", why}});
  return json;
}

Json subject_json(const SubjectReport& report) {
  Json json{{"subject", report.subject},
            {"conforms", report.conforms()},
            {"as_expected", report.as_expected()},
            {"verdict", verdict_words(report)},
            {"counts", count_words(report)},
            {"interrupted", report.interrupted},
            {"level", name(report.selection.level)},
            {"seed", report.selection.seed},
            {"cases", report.executed()},
            {"calls", report.calls},
            {"seconds", report.seconds},
            {"kernel_seconds", report.kernel_seconds()}};
  if (report.selection.spec) json["spec"] = Json::parse(to_json(*report.selection.spec));
  if (report.selection.any_pairing) json["spec"].erase("pairing");
  if (report.selection.base) json["base"] = *report.selection.base;
  if (!report.selection.layers.empty()) json["layers"] = report.selection.layers;
  if (report.selection.most_tokens) json["most_tokens"] = *report.selection.most_tokens;
  if (report.budget) {
    json["budget"] = {{"seconds", report.budget->time.count()},
                      {"not_judged", report.count(Verdict::not_judged)},
                      {"in_part", report.in_part()},
                      {"left_out", report.left_out()}};
  }
  if (!report.ended_by.empty()) json["ended_by"] = report.ended_by;
  if (report.recovered_hangs > 0) json["recovered_hangs"] = report.recovered_hangs;
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
                                {"worst", json_number(horizon.worst)},
                                {"curve", curve_json(horizon)}});
  }
  json["heatmaps"] = Json::array();
  for (const Heatmap& map : report.heatmaps) json["heatmaps"].push_back(heatmap_json(map));
  json["grades"] = Json::array();
  for (const MeasuredGrade& grade : report.grades) {
    json["grades"].push_back({{"dtype", name(grade.dtype)},
                              {"grade", grade.grade.empty() ? Json(nullptr) : Json(grade.grade)},
                              {"use", json_number(grade.use)}});
  }
  json["claims"] = Json::array();
  for (const ClaimsAsked& kind : report.claims) {
    json["claims"].push_back({{"kind", kind.kind},
                              {"asked", kind.asked},
                              {"not_asked", kind.not_asked},
                              {"not_claimed", kind.not_claimed}});
  }
  json["tried"] = tried_json(report.tried);
  if (!report.claims_note.empty()) json["claims_note"] = report.claims_note;
  if (!report.missing_claim.empty()) json["missing_claim"] = report.missing_claim;
  if (report.only_position_0) json["only_position_0"] = true;
  if (report.unsupported) {
    json["unsupported"] = {{"claims", report.unsupported->claims},
                           {"requirements", report.unsupported->requirements},
                           {"cases", report.unsupported->cases},
                           {"all", report.unsupported->are_all},
                           {"example", report.unsupported->example},
                           {"message", report.unsupported->message}};
  }
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
            {"version", run.version}};
  if (!run.machine.empty()) json["machine"] = run.machine;
  if (!run.started.empty()) json["started"] = run.started;
  if (run.time_limit > 0) json["time_limit"] = run.time_limit;
  json["subjects"] = Json::array();
  json["not_judged"] = run.not_judged;
  if (run.sandbox) json["sandbox"] = sandbox_json(*run.sandbox);
  for (const RefusedSubject& one : run.refused) json["refused"].push_back({{"subject", one.subject}, {"why", one.why}});
  for (const SubjectReport& report : run.subjects) json["subjects"].push_back(subject_json(report));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rope
