#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "reference/input_error.hpp"
#include "reference/rotation_plan.hpp"
#include "tools/command/commands.hpp"
#include "tools/command/option_values.hpp"
#include "tools/command/print_text.hpp"
#include "tools/command/spec_options.hpp"
#include "tools/report/write_file.hpp"

namespace rope {
namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  SpecOptions spec;
  std::int64_t sequence_length = 1;
  std::string json;
};

// The pairs of a plan as text: what a kernel has to do, pair by pair.
std::string pair_lines(const RotationPlan& plan) {
  std::string text = "  pair  features  axis  theta\n";
  for (std::size_t p = 0; p < plan.pairs.size(); ++p) {
    const RotatedPair& pair = plan.pairs[p];
    text +=
        fmt::format("  {:>4}  {:>3} {:>4}  {:>4}  {}\n", p, pair.first, pair.second, pair.axis, pair.theta.to_double());
  }
  return text;
}

Json plan_json(const ModelRope& rope, const RotationPlan& plan, std::int64_t sequence_length) {
  Json json{{"spec", Json::parse(to_json(rope.spec))}, {"sequence_length", sequence_length}, {"lambda", plan.lambda}};
  if (!rope.layers.empty()) json["layers"] = rope.layers;
  for (const char* field : {"first", "second", "axis", "theta"}) json[field] = Json::array();
  for (const RotatedPair& pair : plan.pairs) {
    json["first"].push_back(pair.first);
    json["second"].push_back(pair.second);
    json["axis"].push_back(pair.axis);
    json["theta"].push_back(pair.theta.to_double());
  }
  return json;
}

int print_plans(const PlanOptions& options) {
  const std::vector<ModelRope> ropes = options.spec.specs();
  if (ropes.empty()) {
    throw InputError("plan: give the rope by --spec, --model-config or flags, for example --head-dim 128");
  }
  const bool is_data_only = options.json == "-";  // the JSON says the same, but for what was assumed
  if (const std::optional<ModelConfig>& model = options.spec.model()) {
    for (const std::string& sentence : model->assumed) print_text(is_data_only ? stderr : stdout, "{}\n", sentence);
  }
  Json all{{"plans", Json::array()}};
  for (const ModelRope& rope : ropes) {
    const RotationPlan plan = compile(rope.spec, options.sequence_length);
    check_frequencies(plan);
    all["plans"].push_back(plan_json(rope, plan, options.sequence_length));
    if (is_data_only) continue;
    if (!rope.layers.empty()) print_text(stdout, "{} layers\n", rope.layers);
    print_text(stdout, "  {}\n  {}\n  lambda {}, theta (radians a position) for {} tokens\n{}", to_json(rope.spec),
               to_flags(rope.spec), plan.lambda, options.sequence_length, pair_lines(plan));
  }
  const std::string json = all.dump(2) + "\n";
  if (is_data_only) print_data(json);
  if (!options.json.empty() && !is_data_only) write_file(options.json, json);
  return exit_conforms;
}

std::vector<std::string_view> kinds_that_follow_length() {
  std::vector<std::string_view> kinds;
  for_each_rule([&](const auto& rule) {
    if (rule.follows_length) kinds.push_back(rule.kind);
  });
  return kinds;
}

}  // namespace

Action add_plan(CLI::App& app) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand(
      "plan", "What a spec or a model asks of a kernel: each pair's features, axis and frequency, and the factor");
  options->spec.add_to(*command);
  command
      ->add_option("--sequence-length", options->sequence_length,
                   fmt::format("tokens that exist; {} follow it", fmt::join(kinds_that_follow_length(), " and ")))
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--json", options->json, "write it as JSON (- is stdout)")->type_name(kinds::file);
  return [options, command]() -> int { return command->parsed() ? print_plans(*options) : -1; };
}

}  // namespace rope
