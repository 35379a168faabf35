// For second_derivation.py: reads a spec and a sequence length a line, as {"spec": .., "sequence_length": ..}. Prints a
// line of JSON for each: theta of each pair and the rule's lambda to 45 digits, each pair's features and axis, and
// xPos's zeta. For model_types_test.py: {"config": .., "sequence_length": ..} gives the plans of a config.json, or
// {"refused": ..}.
#include <fmt/format.h>
#include <mpfr.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "reference/input_error.hpp"
#include "reference/model_config.hpp"
#include "reference/rope_spec.hpp"
#include "reference/rotation_plan.hpp"

namespace {

std::string digits_of(const rope::Real& value) {
  std::array<char, 80> text{};
  mpfr_snprintf(text.data(), text.size(), "%.45Re", value.get());
  return text.data();
}

nlohmann::json printed(const rope::RopeSpec& spec, std::int64_t sequence_length) {
  const rope::RotationPlan plan = rope::compile(spec, sequence_length);
  const rope::scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, sequence_length};
  nlohmann::json result{{"lambda", digits_of(rope::attention_factor<rope::Real>(spec.scaling, setting))},
                        {"used_lambda", plan.lambda},
                        {"pairs", nlohmann::json::array()}};
  for (const rope::RotatedPair& pair : plan.pairs) {
    result["pairs"].push_back({digits_of(pair.theta), pair.first, pair.second, pair.axis});
  }
  if (plan.magnitude) result["zeta"] = plan.magnitude->zeta;
  return result;
}

nlohmann::json printed_model(const std::string& config, std::int64_t sequence_length) {
  try {
    const rope::ModelConfig model = rope::read_model_config(config, "config.json");
    nlohmann::json result{{"plans", nlohmann::json::object()}, {"said", model.assumed}};
    for (const rope::ModelRope& one : model.ropes) {
      const rope::RotationPlan plan = rope::compile(one.spec, sequence_length);
      nlohmann::json& printed = result["plans"][one.layers];
      printed = {{"base", one.spec.base}, {"lambda", plan.lambda}, {"head_dim", plan.head_dim}};
      for (const rope::RotatedPair& pair : plan.pairs) printed["theta"].push_back(pair.theta.to_double());
    }
    return result;
  } catch (const rope::InputError& error) {
    return {{"refused", error.what()}};
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json asked = nlohmann::json::parse(line);
    if (asked.contains("config")) {
      std::cout << printed_model(asked["config"].dump(), asked["sequence_length"].get<std::int64_t>()).dump() << '\n';
      continue;
    }
    const rope::RopeSpec spec = rope::spec_from_json(asked["spec"].dump(), "line");
    std::cout << printed(spec, asked["sequence_length"].get<std::int64_t>()).dump() << '\n';
  }
}
