#include "tools/command/certify_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tools/command/option_values.hpp"
#include "tools/command/selection_options.hpp"

namespace rope {
namespace {

std::vector<std::string_view> sweep_words() {
  std::vector<std::string_view> words;
  for (const certify::Kind& kind : certify::kinds()) words.push_back(kind.name);
  return words;
}

std::string sweep_help() {
  std::string text = "only these sweeps:";
  for (const certify::Kind& kind : certify::kinds()) {
    text += fmt::format("{} {}, {}", text.ends_with(':') ? "" : ";", kind.name, kind.sentence);
  }
  return text;
}

}  // namespace

void CertifyOptions::add_to(CLI::App& command) {
  spec_.add_to(command);
  takes_some_of(command.add_option("--dtype", dtypes_, "only these types"), float_words());
  takes_some_of(command.add_option("--sweep", sweeps_, sweep_help()), sweep_words());
  command
      .add_option("--only", only_,
                  "only sweeps with these words in their line of --dry-run, for example \"positions of bf16, computed\"")
      ->type_name("WORDS");
  command.add_option("--positions", positions_, "how many positions, from 0 on; at most as many as the kernel claims")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40))
      ->type_name("N");
  takes_one_of(command.add_option("--require", require_, "the grade that every element must keep"),
               {"A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"})
      ->capture_default_str();
}

certify::Plan CertifyOptions::plan_for(const Claims& claims) const {
  Selection common;
  common.grade = *grade_from_name(require_);
  common.pairing = spec_.pairing();
  common.base = spec_.base();
  for (const std::string& text : dtypes_) common.dtypes.push_back(*dtype_from_name(text));
  if (const std::optional<ModelConfig>& model = spec_.model()) {
    common.most_tokens = model->max_position_embeddings;
    if (model->dtype && dtypes_.empty()) common.dtypes = {*model->dtype};
  }
  certify::Request request{claims, {}, positions_, sweeps_, only_};
  for (const ModelRope& rope : spec_.specs()) {
    Selection selection = common;
    selection.spec = rope.spec;
    selection.layers = rope.layers;
    selection.any_pairing = spec_.any_pairing();
    if (!selection.any_pairing) selection.pairing = rope.spec.pairing;
    request.selections.push_back(std::move(selection));
  }
  if (request.selections.empty()) request.selections.push_back(common);
  return certify::make_plan(request, common.grade, ROPECHECK_VERSION);
}

}  // namespace rope
