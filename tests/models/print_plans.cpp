// For second_derivation.py: reads a spec and a sequence length a line, as {"spec": .., "sequence_length": ..}. Prints a
// line of JSON for each: theta of each pair and the rule's lambda to 45 digits, each pair's features and axis, and
// xPos's zeta.
#include <fmt/format.h>
#include <mpfr.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

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

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json asked = nlohmann::json::parse(line);
    const rope::RopeSpec spec = rope::spec_from_json(asked["spec"].dump(), "line");
    std::cout << printed(spec, asked["sequence_length"].get<std::int64_t>()).dump() << '\n';
  }
}
