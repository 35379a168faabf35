#include "tools/command/selection_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "reference/did_you_mean.hpp"
#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tools/command/option_values.hpp"
#include "tools/report/words.hpp"

namespace rope {
namespace {

// CLI11 would take -1, and every number that is too large, for the largest seed.
std::string seed_error(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc() && end == text.data() + text.size()) return "";
  return fmt::format("\"{}\" is not a seed; expected a whole number from 0 to 2^64 - 1", text);
}

Level chosen_level(const std::string& text) {
  if (const std::optional<Level> level = level_called(text)) return *level;
  throw InputError(fmt::format("--level: \"{}\" is not known; use quick, full or exhaustive", text));
}

}  // namespace

std::vector<std::string_view> float_words() {
  std::vector<std::string_view> words;
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) words.push_back(name(dtype));
  return words;
}

void add_only(CLI::App& command, std::vector<std::string>& only) {
  takes_list_of(command.add_option("--only", only, "only these requirements or families: ROT-01, MEM"),
                kinds::requirement);
}

std::string known_requirement(const std::string& text) {
  const std::vector<std::string> known = words_of(kinds::requirement);
  const auto found = std::ranges::find_if(known, [&](const std::string& id) { return same_word(id, text); });
  if (found != known.end()) return *found;
  std::vector<std::string_view> letters;
  for (const Family& family : families()) letters.push_back(family.id);
  throw InputError(
      fmt::format("--only: \"{}\" is neither a requirement (`ropecheck list requirements`) nor one of the "
                  "families {}{}",
                  text, fmt::join(letters, ", "), did_you_mean(text, {known.begin(), known.end()}, "; ", "")));
}

Selection SelectionOptions::common() const {
  Selection selection;
  selection.pairing = spec_.pairing();
  selection.base = spec_.base();
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
  selection.level = chosen_level(level_);
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
    selection.any_pairing = spec_.any_pairing();
    if (!selection.any_pairing) selection.pairing = rope.spec.pairing;
    all.push_back(std::move(selection));
  }
  return all.empty() ? std::vector{common} : all;
}

void SelectionOptions::add_to(CLI::App& command) {
  spec_.add_to(command);
  takes_some_of(command.add_option("--dtype", dtypes_, "only these types"), float_words());
  takes_one_of(command.add_option("--level", level_, "how many cases: a second, ten seconds, or minutes"),
               {"quick", "full", "exhaustive"})
      ->capture_default_str();
  command.add_option("--seed", seed_, "of the random cases")->capture_default_str()->check(seed_error, "");
  add_only(command, only_);
}

}  // namespace rope
