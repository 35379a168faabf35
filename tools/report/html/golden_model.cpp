#include "tools/report/golden_json.hpp"
#include "tools/report/html/model.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

constexpr const char* title_of(GoldenVerdict verdict) {
  switch (verdict) {
    case GoldenVerdict::identical: return "Bit for bit";
    case GoldenVerdict::within_bound: return "Within the bound";
    case GoldenVerdict::fail: return "Failed";
    case GoldenVerdict::not_claimed: return "Not claimed";
  }
  return "";
}

// A golden case as a row of the list of requirements.
Json case_model(const Json& outcome, Detail detail) {
  const std::string verdict = word(outcome, "verdict");
  Json model{{"id", outcome.at("id")}, {"sentence", fmt::format("angles from {}", word(outcome, "source"))},
             {"share", verdict == name(GoldenVerdict::fail) ? "" : verdict}, {"bar", false}, {"message", false}, {"numbers", false},
             {"snippets", false}, {"over", false}};
  set_tone(model, verdict == name(GoldenVerdict::fail)          ? bad
                  : verdict == name(GoldenVerdict::not_claimed) ? neutral
                                                                : good);
  model["facts"] = outcome.contains("failure") ? failure_facts(outcome["failure"], model, detail) : Json::array();
  if (outcome.contains("not_claimed")) model["facts"].push_back(fact("not claimed", word(outcome, "not_claimed")));
  return model;
}

}  // namespace

Json golden_model(const Json& subject, const Placing& placing) {
  Json model{{"anchor", placing.anchor}, {"level", std::to_string(placing.level)},
             {"below", std::to_string(placing.level + 1)}, {"name", subject.at("subject")}, {"sources", Json::array()},
             {"groups", Json::array()}};
  std::int64_t failed = 0;
  for (const Json& source : subject.at("sources")) {
    model["sources"].push_back(source);
    failed += source.at("failed").get<std::int64_t>();
  }
  const auto all = static_cast<std::int64_t>(subject.at("golden").size());
  const bool interrupted = subject.at("interrupted");
  const bool ran = subject.at("ran") > 0;
  set_tone(model, failed > 0 ? bad : interrupted || !ran ? warn : good);
  model["verdict"] = failed > 0      ? "does not agree with the golden files"
                     : interrupted ? "interrupted: no verdict"
                     : ran         ? "agrees with the golden files"
                                   : "no golden case was run: the claims cover none";
  model["counts"] = fmt::format("{} ran, {} failed; {} in all", counted(subject.at("ran"), "call"), failed,
                                counted(all, "way"));
  for (const GoldenVerdict verdict : {GoldenVerdict::fail, GoldenVerdict::within_bound, GoldenVerdict::identical,
                                      GoldenVerdict::not_claimed}) {
    Json members = Json::array();
    for (const Json& outcome : subject["golden"]) {
      if (word(outcome, "verdict") == name(verdict)) members.push_back(case_model(outcome, placing.detail));
    }
    if (members.empty()) continue;
    model["groups"].push_back({{"title", fmt::format("{} ({})", title_of(verdict), members.size())},
                               {"open", verdict == GoldenVerdict::fail},
                               {"requirements", std::move(members)}});
  }
  return model;
}

}  // namespace rope::html
