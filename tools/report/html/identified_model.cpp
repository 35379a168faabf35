#include "tools/report/html/model.hpp"
#include "tools/report/html/pictures.hpp"

namespace rope::html {
namespace {

// The pairs of a plan, in the form that a diagnosis has them.
Json pairs_of(const Json& plan) {
  Json executed = Json::array();
  for (const Json& pair : plan.at("pairs")) {
    executed.push_back({{"features", pair.at("features")}, {"theta", pair.value("theta", Json())}});
  }
  return {{"head_dim", plan.at("told").at("head_dim")}, {"asked", plan.at("asked")}, {"executed", executed}};
}

}  // namespace

Json identified_model(const Json& subject, const Json& plan, const Placing& placing) {
  Json model{{"anchor", placing.anchor}, {"level", std::to_string(placing.level)}, {"name", subject.at("subject")}, {"called", plan.at("called")},
             {"differs", false}, {"pictures", false}, {"pairs", false}, {"thetas", false}, {"counts", ""},
             {"facts", Json::array()}};
  if (plan.contains("problem")) {
    set_tone(model, bad);
    model["verdict"] = "could not be probed";
    model["differs"] = plan["problem"];
    return model;
  }
  const Json& differences = plan.at("differences");
  set_tone(model, differences.empty() ? good : bad);
  model["verdict"] = differences.empty() ? "executes what was asked for" : "executes another rotation";
  if (!differences.empty()) model["differs"] = differences[0];
  for (std::size_t i = 1; i < differences.size(); ++i) model["facts"].push_back(fact("also", differences[i]));
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) model["facts"].push_back(fact(name, value));
  };
  add("as a spec", word(plan, "flags"));
  add("pairing", word(plan, "pairing"));
  add("rotary_dim", plan.at("rotary_dim").dump());
  add("lambda", plan.at("lambda").dump());
  for (const Json& rule : plan.at("rules")) add("frequencies", word(rule, "words"));
  for (const Json& words : plan.at("precision")) add("precision", words);
  add("predicted", fmt::format("{} of {} elements of other rows", plan.at("predicted").at("right").get<std::int64_t>(),
                               plan["predicted"].at("elements").get<std::int64_t>()));
  add("probes", fmt::format("{} rows in {} calls", plan.at("probes").at("rows").get<std::int64_t>(),
                            plan["probes"].at("calls").get<std::int64_t>()));
  if (placing.detail < Detail::without_pictures && plan.contains("asked")) {
    const Json pairs = pairs_of(plan);
    model["pictures"] = true;
    model["pairs"] = pairs_picture(pairs);
    model["thetas"] = thetas_picture(pairs);
  }
  return model;
}

}  // namespace rope::html
