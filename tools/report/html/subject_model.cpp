#include <algorithm>

#include "tools/report/html/model.hpp"
#include "tools/report/html/pictures.hpp"
#include "tools/report/tried_words.hpp"
#include "tools/report/words.hpp"

namespace rope::html {
namespace {

Json labelled(const char* label, const std::string& text) { return {{"label", label}, {"text", text}}; }

std::string listed(const Json& words) {
  std::string text;
  for (const Json& one : words) text += (text.empty() ? "" : ", ") + one.get<std::string>();
  return text;
}

Tone tone_of(const Json& subject) {
  if (subject.at("conforms")) return good;
  if (subject.at("interrupted") || subject.at("as_expected") || subject.at("cases") == 0) return warn;
  if (subject.contains("budget") && subject["budget"].at("left_out") > 0) {
    for (const Json& r : subject.at("requirements")) {
      if (r.at("verdict") == "fail") return bad;
    }
    return warn;
  }
  return bad;
}

std::string asked_words(const Json& subject) {
  std::string text = fmt::format("{}, {}, {:.1f} s, level {}, seed {}", counted(subject.at("cases"), "case"),
                                 counted(subject.at("calls"), "call"), subject.at("seconds").get<double>(),
                                 word(subject, "level"), subject.at("seed").get<std::uint64_t>());
  if (const std::string words = listed(subject.at("require")); !words.empty()) text += "; required: " + words;
  if (const std::string words = listed(subject.at("only")); !words.empty()) text += "; only " + words;
  return text;
}

Json remarks_of(const Json& subject) {
  Json remarks = Json::array();
  if (const std::string note = word(subject, "claims_note"); !note.empty())
    remarks.push_back(labelled("Claims:", note));
  if (const std::string why = word(subject, "ended_by"); !why.empty()) remarks.push_back(labelled("Ended early:", why));
  if (subject.contains("unsupported")) {
    const Json& calls = subject["unsupported"];
    remarks.push_back(labelled("Unsupported:", unsupported_words({.claims = calls.at("claims"),
                                                                  .cases = calls.at("cases"),
                                                                  .are_all = calls.at("all"),
                                                                  .example = calls.at("example")})));
  }
  if (subject.contains("recovered_hangs")) {
    remarks.push_back(labelled("Hangs:", hang_words(subject["recovered_hangs"], subject.at("calls"))));
  }
  if (subject.contains("budget") && subject["budget"].at("left_out") > 0) {
    const Json& budget = subject["budget"];
    remarks.push_back(labelled(
        "Budget:", fmt::format("{:g} s left no time for {}; {} were not asked, {} only in part",
                               budget.at("seconds").get<double>(), counted(budget.at("left_out"), "case"),
                               counted(budget.at("not_judged"), "requirement"), budget.at("in_part").get<int>())));
  }
  if (subject.contains("responses")) {
    const Json& responses = subject["responses"];
    remarks.push_back(
        labelled("Responses:",
                 fmt::format("{} asked for, {} missing, {} malformed", responses.at("asked_for").get<std::int64_t>(),
                             responses.at("missing").size(), responses.at("malformed").size())));
  }
  return remarks;
}

// Below the diagnosis: a claim to drop explains less than a bug that has a name.
Json advice_of(const Json& subject) {
  if (!subject.contains("conforms_without")) return Json::array();
  const Json& without = subject["conforms_without"];
  const ConformsWithout claims{without.at("claims"), without.at("judged_again")};
  return {labelled("Claims:", conforms_without_words(claims))};
}

std::string cause_words(const Json& candidate) {
  const std::string condition = word(candidate, "condition");
  return word(candidate, "sentence") + (condition.empty() ? "" : "; " + condition);
}

Json diagnosis_model(const Json& diagnosis, Detail detail) {
  const Json& candidates = diagnosis.at("candidates");
  Json model{{"unsure", !candidates.empty() && !diagnosis.at("certain").get<bool>()}, {"conditions", Json::array()}};
  model["sentence"] = candidates.empty() ? "No known bug explains the evidence" : word(candidates[0], "sentence");
  if (!candidates.empty()) {
    if (const std::string when = word(candidates[0], "condition"); !when.empty()) {
      model["conditions"].push_back(labelled("When:", when));
    }
  }
  if (const std::string trigger = word(diagnosis, "trigger"); !trigger.empty()) {
    model["conditions"].push_back(labelled("Fails with:", trigger));
  }
  Json evidence = Json::array();
  if (!candidates.empty()) {
    evidence.push_back(fact("class", word(candidates[0], "class")));
    evidence.push_back(fact("certain", model["unsure"].get<bool>() ? "no" : "yes"));
  }
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) evidence.push_back(fact(name, value));
  };
  add("evidence", word(diagnosis, "evidence"));
  add("explains", listed(diagnosis.at("explained")));
  add("does not explain", listed(diagnosis.at("unexplained")));
  for (std::size_t i = 0; i < diagnosis.at("plan").size(); ++i) {
    add(i == 0 ? "asked for" : "executed plan", diagnosis["plan"][i]);
  }
  model["evidence"] = std::move(evidence);
  Json rivals = Json::array();
  for (const Json& candidate : candidates) {
    rivals.push_back({{"fit", fmt::format("{:.2f}", number(candidate.at("fit")))},
                      {"class", candidate.at("class")},
                      {"sentence", cause_words(candidate)}});
  }
  model["has_rivals"] = rivals.size() > 1;
  model["rivals"] = std::move(rivals);
  model["pairs"] = model["thetas"] = model["rows"] = false;
  if (detail < Detail::without_pictures) {
    if (diagnosis.contains("pairs")) {
      model["pairs"] = pairs_picture(diagnosis["pairs"]);
      model["thetas"] = thetas_picture(diagnosis["pairs"]);
    }
    if (diagnosis.contains("wrong_rows")) model["rows"] = rows_picture(diagnosis["wrong_rows"]);
  }
  model["pictures"] = model["pairs"] != false || model["thetas"] != false || model["rows"] != false;
  return model;
}

Json grades_of(const Json& subject) {
  Json grades = Json::array();
  for (const Json& g : subject.at("grades")) {
    const MeasuredGrade grade{DType::f32, word(g, "grade"), number(g.at("use"))};
    grades.push_back({{"dtype", g.at("dtype")}, {"words", grade_words(grade)}});
  }
  return grades;
}

Json precision_model(const Json& subject, Detail detail) {
  Json model{{"grades", grades_of(subject)}, {"maps", false}};
  const bool has_maps = subject.contains("heatmaps") && !subject["heatmaps"].empty();
  if (!has_maps && model["grades"].empty()) return false;
  model["explained"] = has_maps ? "The error of each pair at each position, as a share of its bound. Calls of the "
                                  "suite's own fill the pictures. A cross marks an error beyond the bound."
                                : "The grade that held in every case.";
  if (has_maps && detail < Detail::without_pictures) {
    model["maps"] = heat_legend();
    model["maps"]["heatmaps"] = Json::array();
    for (const Json& map : subject["heatmaps"]) {
      const auto of_type = [&](const Json& grade) { return grade.at("dtype") == map.at("dtype"); };
      const auto grade = std::ranges::find_if(subject.at("grades"), of_type);
      const bool is_known = grade != subject.at("grades").end();
      model["maps"]["heatmaps"].push_back(heat_picture(map, is_known ? grade->at("grade") : Json()));
    }
  }
  return model;
}

Json horizon_model(const Json& subject, Detail detail) {
  const Json& horizons = subject.at("horizons");
  if (horizons.empty()) return false;
  Json model = detail < Detail::without_pictures ? horizon_picture(horizons) : Json{{"curves", false}};
  model["curves_drawn"] = detail < Detail::without_pictures && std::ranges::any_of(horizons, [](const Json& h) {
                            return h.contains("curve") && !h["curve"].empty();
                          });
  model["lines"] = Json::array();
  for (const Json& h : horizons) {
    Horizon horizon;
    horizon.source = h.at("source") == "computed" ? AngleSource::computed : AngleSource::frequencies;
    horizon.tolerance = h.at("tolerance");
    horizon.position = h.at("position").is_null() ? -1 : h["position"].get<std::int64_t>();
    horizon.tried = h.at("tried");
    model["lines"].push_back({{"dtype", h.at("dtype")}, {"words", horizon_words(horizon)}});
  }
  return model;
}

Json claim_lists_of(const Json& subject) {
  Json lists = Json::array();
  if (subject.contains("claims")) {
    for (const Json& kind : subject["claims"]) {
      if (!kind.at("asked").empty()) {
        lists.push_back(labelled(fmt::format("Asked, {}:", word(kind, "kind")).c_str(), listed(kind["asked"])));
      }
    }
    std::string not_asked, not_claimed;
    for (const Json& kind : subject["claims"]) {
      const auto add = [&](std::string& text, const Json& words) {
        if (!words.empty())
          text += (text.empty() ? "" : "; ") + fmt::format("{}: {}", word(kind, "kind"), listed(words));
      };
      add(not_asked, kind.at("not_asked"));
      add(not_claimed, kind.at("not_claimed"));
    }
    if (!not_asked.empty()) lists.push_back(labelled("Claimed, but not asked in this run:", not_asked));
    if (!not_claimed.empty()) lists.push_back(labelled("Not claimed, so not asked:", not_claimed));
  }
  if (const Json& variants = subject.at("permitted_variants"); !variants.empty()) {
    lists.push_back(labelled("Permitted variants:", listed(variants)));
  }
  if (subject.contains("tried")) {
    for (const std::string& words : tried_lines(tried_from_json(subject["tried"]))) {
      lists.push_back(labelled("Tried,", words));
    }
  }
  std::string ids;
  for (const Json& r : subject.at("requirements")) {
    if (r.at("verdict") == "not_claimed") ids += (ids.empty() ? "" : ", ") + word(r, "id");
  }
  if (!ids.empty()) lists.push_back(labelled("Requirements that need a claim that is missing:", ids));
  if (lists.empty()) lists.push_back(labelled("Asked:", "every requirement had a case that the claims cover"));
  return lists;
}

}  // namespace

Json subject_model(const Json& subject, const Placing& placing) {
  const std::string layers = word(subject, "layers");
  Json model{{"anchor", placing.anchor},
             {"level", std::to_string(placing.level)},
             {"below", std::to_string(placing.level + 1)},
             {"last", std::to_string(placing.level + 2)},
             {"name", word(subject, "subject") + (layers.empty() ? "" : fmt::format(", {} layers", layers))},
             {"verdict", subject.at("verdict")},
             {"counts", subject.at("counts")},
             {"asked", asked_words(subject)},
             {"remarks", remarks_of(subject)},
             {"diagnosis", false},
             {"advice", advice_of(subject)},
             {"precision", precision_model(subject, placing.detail)},
             {"horizon", horizon_model(subject, placing.detail)},
             {"groups", grouped(subject.at("requirements"), placing.detail)},
             {"claim_lists", claim_lists_of(subject)}};
  set_tone(model, tone_of(subject));
  if (subject.contains("diagnosis")) model["diagnosis"] = diagnosis_model(subject["diagnosis"], placing.detail);
  return model;
}

}  // namespace rope::html
