#include "tools/report/golden_json.hpp"

#include <nlohmann/json.hpp>

#include "tools/report/finding_json.hpp"

namespace rope {
namespace {

Json outcome_json(const GoldenOutcome& outcome, const std::string& subject) {
  Json json{{"id", outcome.id},
            {"source", golden_source_words(outcome.source)},
            {"verdict", name(outcome.verdict)}};
  if (!outcome.not_claimed.empty()) json["not_claimed"] = outcome.not_claimed;
  if (outcome.verdict == GoldenVerdict::fail) json["failure"] = finding_json(outcome.finding, outcome.c, subject);
  return json;
}

Json subject_json(const GoldenReport& report) {
  Json json{{"subject", report.subject},
            {"interrupted", report.interrupted},
            {"ran", report.executed()},
            {"beyond_the_contract", report.inexpressible},
            {"sources", Json::array()},
            {"golden", Json::array()}};
  if (!report.ended_by.empty()) json["ended_by"] = report.ended_by;
  for (const AngleSource source : {AngleSource::tables, AngleSource::frequencies, AngleSource::computed}) {
    json["sources"].push_back({{"source", golden_source_words(source)},
                               {"identical", report.count(source, GoldenVerdict::identical)},
                               {"within", report.count(source, GoldenVerdict::within_bound)},
                               {"failed", report.count(source, GoldenVerdict::fail)},
                               {"not_claimed", report.count(source, GoldenVerdict::not_claimed)}});
  }
  for (const GoldenOutcome& outcome : report.outcomes) json["golden"].push_back(outcome_json(outcome, report.subject));
  return json;
}

}  // namespace

std::string_view name(GoldenVerdict verdict) {
  switch (verdict) {
    case GoldenVerdict::identical: return "bit for bit";
    case GoldenVerdict::within_bound: return "within bound";
    case GoldenVerdict::fail: return "fail";
    case GoldenVerdict::not_claimed: return "not claimed";
  }
  return "";
}

std::string_view golden_source_words(AngleSource source) {
  switch (source) {
    case AngleSource::tables: return "stored tables";
    case AngleSource::frequencies: return "stored frequencies";
    case AngleSource::computed: return "base and scaling";
  }
  return "";
}

std::string golden_json(std::span<const GoldenReport> reports, const RunReport& begun, bool interrupted) {
  Json json{{"schema", 1}, {"tool", "ropecheck"}, {"version", begun.version}};
  if (!begun.machine.empty()) json["machine"] = begun.machine;
  if (!begun.started.empty()) json["started"] = begun.started;
  if (interrupted) json["interrupted"] = true;
  json["subjects"] = Json::array();
  for (const GoldenReport& report : reports) json["subjects"].push_back(subject_json(report));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rope
