#include "tools/report/plan_json.hpp"

#include <cmath>

#include "reference/rotation_plan.hpp"
#include "tools/identify/describe.hpp"
#include "tools/report/finding_json.hpp"

namespace rope {
namespace {

std::string_view name(BlockKind kind) {
  switch (kind) {
    case BlockKind::rotation: return "rotation";
    case BlockKind::reflection: return "reflection";
    case BlockKind::unsigned_: return "unsigned";
    case BlockKind::two_angles: return "two_angles";
    case BlockKind::other: return "other";
  }
  return "?";
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json pair_json(const ExecutedPair& pair, const ExecutedPlan& plan) {
  Json json{{"features", {pair.features.first, pair.features.second}},
            {"comes_out_in", {pair.features.out_first, pair.features.out_second}},
            {"kind", name(pair.features.kind)},
            {"lambda", finite(pair.lambda)}};
  if (plan.way.source == AngleSource::tables) return json;
  json["axis"] = pair.axis;
  json["theta"] = finite(pair.theta);
  json["theta_error"] = finite(pair.theta_error);
  json["intercept"] = finite(pair.intercept);
  json["steps"] = Json::array();
  for (const PhaseStep& step : pair.steps) json["steps"].push_back({step.position, step.theta, step.error});
  if (pair.other_theta) json["other_theta"] = finite(*pair.other_theta);
  return json;
}

Json entry_json(const TableEntry& e) {
  if (e.from == TableEntry::From::none) return nullptr;
  if (e.from == TableEntry::From::other) return {{"from", "other"}, {"factor", finite(e.factor)}};
  return {{"from", e.from == TableEntry::From::cos ? "cos" : "sin"},
          {"row", e.row},
          {"column", e.column},
          {"sign", e.sign},
          {"factor", finite(e.factor)}};
}

Json rule_json(const FrequencyRule& rule) {
  return {{"words", rule.words},
          {"spec", Json::parse(to_json(rule.spec))},
          {"base_error", rule.base_error},
          {"misfit", rule.misfit},
          {"also", rule.also}};
}

Json plan_json(const ExecutedPlan& plan) {
  Json json{{"called", called(plan)}, {"told", Json::parse(to_json(plan.way.spec))}};
  if (!plan.problem.empty()) {
    json["problem"] = plan.problem;
    return json;
  }
  json["pairing"] = plan.pairing ? Json(name(*plan.pairing)) : Json(nullptr);
  json["rotary_dim"] = plan.rotary_dim;
  json["passed"] = plan.structure.passed;
  json["silent"] = plan.structure.silent;
  json["unwritten"] = plan.structure.unwritten;
  json["groups"] = plan.structure.groups;
  json["sign"] = plan.sign;
  json["lambda"] = finite(plan.lambda);
  json["position_offset"] = plan.position_offset ? Json(*plan.position_offset) : Json(nullptr);
  json["moved_positions"] = Json::array();
  for (const MovedPosition& m : plan.moved)
    json["moved_positions"].push_back({{"given", m.given}, {"executed", m.executed}});
  json["angle_error"] = finite(plan.angle_error);
  json["asked"] = Json::array();
  for (const RotatedPair& pair : compile(plan.way.spec, plan.sequence_length).pairs) {
    json["asked"].push_back({{"features", {pair.first, pair.second}}, {"theta", pair.theta.to_double()}});
  }
  json["pairs"] = Json::array();
  for (const ExecutedPair& pair : plan.pairs) json["pairs"].push_back(pair_json(pair, plan));
  if (plan.way.source == AngleSource::tables) {
    json["table_use"] = Json::array();
    for (const TableUse& use : plan.tables) {
      json["table_use"].push_back({{"features", {use.features.first, use.features.second}},
                                   {"position", use.position},
                                   {"first_from_first", entry_json(use.aa)},
                                   {"first_from_second", entry_json(use.ab)},
                                   {"second_from_first", entry_json(use.ba)},
                                   {"second_from_second", entry_json(use.bb)}});
    }
  }
  json["rules"] = Json::array();
  for (const FrequencyRule& rule : plan.rules) json["rules"].push_back(rule_json(rule));
  json["precision"] = plan.precision;
  json["spec"] = plan.spec ? Json::parse(to_json(*plan.spec)) : Json(nullptr);
  json["flags"] = plan.spec ? Json(to_flags(*plan.spec)) : Json(nullptr);
  json["differences"] = Json::array();
  for (const Difference& difference : differences(plan)) json["differences"].push_back(difference.words);
  json["predicted"] = {{"elements", plan.predicted}, {"right", plan.predicted_right}};
  json["probes"] = {{"rows", plan.rows}, {"calls", plan.calls}};
  return json;
}

}  // namespace

std::string plans_to_json(const std::vector<IdentifiedSubject>& subjects, const RunReport& begun, bool interrupted) {
  Json json{{"schema", 1}, {"tool", "ropecheck"}, {"version", begun.version}};
  if (!begun.machine.empty()) json["machine"] = begun.machine;
  if (!begun.started.empty()) json["started"] = begun.started;
  if (interrupted) json["interrupted"] = true;
  json["subjects"] = Json::array();
  for (const IdentifiedSubject& subject : subjects) {
    Json plans = Json::array();
    for (const ExecutedPlan& plan : subject.plans) plans.push_back(plan_json(plan));
    json["subjects"].push_back({{"subject", subject.subject}, {"plans", plans}});
  }
  return json.dump(2) + "\n";
}

}  // namespace rope
