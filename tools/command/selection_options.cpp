#include "tools/command/selection_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"

namespace rope {
namespace {

// CLI11 would take -1, and every number that is too large, for the largest seed.
std::string seed_error(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("\"{}\" is not a seed; expected a whole number from 0 to 2^64 - 1", text);
}

Level level_called(const std::string& text) {
  if (text == "quick") return Level::quick;
  if (text == "full") return Level::full;
  if (text == "exhaustive") return Level::exhaustive;
  throw InputError(fmt::format("--level: \"{}\" is not known; use quick, full or exhaustive", text));
}

}  // namespace

std::string known_requirement(const std::string& text) {
  std::set<std::string_view> families;
  for (const Requirement& requirement : all_requirements()) {
    const std::string_view family = requirement.id.substr(0, requirement.id.find('-'));
    if (text == requirement.id || text == family) return text;
    families.insert(family);
  }
  throw InputError(
      fmt::format("--only: \"{}\" is neither a requirement (`ropecheck list requirements`) nor one of the "
                  "families {}",
                  text, fmt::join(families, ", ")));
}

Selection SelectionOptions::common() const {
  Selection selection;
  selection.pairing = spec_.pairing();
  if (const std::optional<ModelConfig>& model = spec_.model()) {
    selection.most_tokens = model->max_position_embeddings;
    if (model->dtype) selection.dtypes = {*model->dtype};
    if (!dtypes_.empty()) selection.dtypes.clear();
  }
  for (const std::string& text : dtypes_) {
    const std::optional<DType> dtype = dtype_from_name(text);
    if (!dtype || !is_floating(*dtype)) {
      throw InputError(fmt::format("--dtype: \"{}\" is not known; use f64, f32, f16 or bf16", text));
    }
    selection.dtypes.push_back(*dtype);
  }
  selection.level = level_called(level_);
  selection.seed = seed_;
  for (const std::string& text : only_) selection.only.push_back(known_requirement(text));
  return selection;
}

std::vector<Selection> SelectionOptions::selections() const {
  const Selection common = this->common();
  std::vector<Selection> all;
  for (const ModelRope& rope : spec_.specs()) {
    if (rope.spec.xpos) {
      throw InputError(
          "xpos: no kernel can be asked for it through the contract, so nothing can be judged; leave it out");
    }
    Selection selection = common;
    selection.spec = rope.spec;
    selection.layers = rope.layers;
    selection.pairing = rope.spec.pairing;
    all.push_back(std::move(selection));
  }
  return all.empty() ? std::vector{common} : all;
}

void SelectionOptions::add_to(CLI::App& command) {
  spec_.add_to(command);
  command.add_option("--dtype", dtypes_, "only these: f64, f32, f16, bf16")->delimiter(',');
  command.add_option("--level", level_, "quick (a second), full (ten), exhaustive")->capture_default_str();
  command.add_option("--seed", seed_, "of the random cases")->capture_default_str()->check(seed_error, "");
  command.add_option("--only", only_, "only these requirements or families: ROT-01, MEM")->delimiter(',');
}

}  // namespace rope
