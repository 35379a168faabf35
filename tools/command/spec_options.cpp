#include "tools/command/spec_options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/axis_orders.hpp"
#include "reference/foreign_json.hpp"
#include "tools/command/option_values.hpp"
#include "tools/report/read_file.hpp"

namespace rope {

Pairing pairing_called(const std::string& text) {
  for (Pairing pairing : {Pairing::half_split, Pairing::interleaved}) {
    if (name(pairing) == text) return pairing;
  }
  throw InputError(fmt::format("--pairing: \"{}\" is not known; use half_split or interleaved", text));
}

namespace {

template <class Read>
std::string contents(const std::string& file, std::string_view option, std::string_view what, const Read& read) try {
  return read(fmt::format("{}: {}", option, file));
} catch (const InputError& error) {
  throw InputError(fmt::format("{}; give the path of {}", error.what(), what));
}

std::vector<std::string_view> words_of_orders() {
  std::vector<std::string_view> words;
  for (const AxisOrder& each : axis_orders()) words.push_back(each.word);
  return words;
}

}  // namespace

void SpecOptions::add_to(CLI::App& command) {
  const char* group = "Which rope (default: everything that the subject claims)";
  command.add_option("--spec", file_, "a RopeSpec as JSON, reference/rope_spec.schema.json")
      ->type_name(kinds::file)
      ->group(group);
  command
      .add_option("--model-config", model_file_, "a model's config.json, params.json or GGUF file")
      ->type_name(kinds::file)
      ->group(group);
  command.add_option("--layers", layers_, "of a model whose layers have several ropes: full_attention, ..")
      ->group(group);
  command.add_flag("--guess", guess_, "accept what --model-config has to guess; each guess is printed")->group(group);
  command.add_option("--head-dim", head_dim_, "features of a head")->group(group);
  command.add_option("--rotary-dim", rotary_dim_, "features that rotate; default all")->group(group);
  command.add_option("--rotary-offset", rotary_offset_, "the first feature that rotates; default 0")->group(group);
  command.add_option("--base", base_, "rope_theta; default 10000")->group(group);
  command.add_option("--scaling", scaling_, "kind,name=value,..; for example linear,factor=4")->group(group);
  takes_list_of(command.add_option("--axes", axes_, "of each position axis, 16:24:24"), kinds::pairs, ':')
      ->group(group);
  takes_one_of(command.add_option("--axes-order", axes_order_, "default: chunked"), words_of_orders())
      ->group(group);
  command.add_flag("--axes-restart", axes_restart_, "frequencies start again on each axis")->group(group);
  command.add_option("--attention-factor", attention_factor_, "lambda, in place of the rule's own")->group(group);
  takes_one_of(command.add_option("--pairing", pairing_, "which two features a pair has"),
               {"half_split", "interleaved"})
      ->group(group);
}

const std::optional<ModelConfig>& SpecOptions::model() const {
  if (!model_file_.empty() && !model_) {
    // Of a GGUF file only the metadata is read, and other files that are longer are refused by their reader.
    const std::string content =
        contents(model_file_, "--model-config", "a config.json, params.json or GGUF file",
                 [&](const std::string& named) { return read_start(model_file_, named, longest_json + 1); });
    model_ = read_model_config(content, model_file_,
                               {.accepts_guesses = guess_, .knows_pairing = pairing_.has_value()});
  }
  return model_;
}

bool SpecOptions::has_axes() const { return !axes_.empty() || axes_order_ || axes_restart_; }

bool SpecOptions::has_flags_beside_base() const {
  return has_axes() || head_dim_ || rotary_dim_ || rotary_offset_ || scaling_ || attention_factor_;
}

bool SpecOptions::is_by_flags() const { return (base_ && !base()) || has_flags_beside_base(); }

bool SpecOptions::any_pairing() const { return is_by_flags() && !pairing_; }

std::optional<double> SpecOptions::base() const {
  const bool is_whole_spec = file_.empty() && model_file_.empty() && !has_flags_beside_base();
  if (!is_whole_spec || !base_) return std::nullopt;
  if (!std::isfinite(*base_) || *base_ <= 0)
    throw InputError(fmt::format("--base: {} is not a number above 0", *base_));
  return base_;
}

std::optional<RopeSpec> SpecOptions::spec() const {
  const std::vector<ModelRope> all = specs();
  if (all.empty()) return std::nullopt;
  if (all.size() > 1) {
    std::vector<std::string> layers;
    for (const ModelRope& rope : all) layers.push_back(rope.layers);
    throw InputError(fmt::format("--model-config: this model has several ropes; choose one by --layers: {}",
                                 fmt::join(layers, ", ")));
  }
  return all.front().spec;
}

std::vector<ModelRope> SpecOptions::specs() const {
  const bool by_flags = is_by_flags();
  if (!file_.empty()) {
    if (by_flags || pairing_ || !model_file_.empty()) {
      throw InputError("--spec says everything; it goes with no other flag of the spec");
    }
    const std::string content = contents(file_, "--spec", "a RopeSpec as JSON",
                                         [&](const std::string& named) { return read_file(file_, named); });
    return {{"", spec_from_json(content, file_)}};
  }
  if (!layers_.empty() && model_file_.empty())
    throw InputError("--layers says which rope of --model-config; give both");
  if (guess_ && model_file_.empty()) throw InputError("--guess accepts guesses of --model-config; give both");
  if (!model_file_.empty()) {
    if (by_flags)
      throw InputError("--model-config says everything but --pairing, --layers and --guess; leave the other flags out");
    return ropes_of_model();
  }
  if (!by_flags) return {};
  if (!head_dim_) throw InputError("--head-dim is missing; a spec given by flags needs it");
  RopeSpec spec;
  spec.head_dim = *head_dim_;
  spec.rotary_dim = rotary_dim_.value_or(spec.head_dim);
  spec.rotary_offset = rotary_offset_.value_or(0);
  if (pairing_) spec.pairing = pairing_called(*pairing_);
  spec.base = base_.value_or(spec.base);
  if (scaling_) spec.scaling = scaling_from_flag(*scaling_);
  if (has_axes() && axes_.empty())
    throw InputError("--axes is missing; --axes-order and --axes-restart say how it is read");
  spec.axes.sections = axes_;
  if (axes_order_) spec.axes.order = std::ranges::find(axis_orders(), *axes_order_, &AxisOrder::word)->order;
  spec.axes.restart = axes_restart_;
  spec.attention_factor = attention_factor_;
  validate(spec);
  return {{"", spec}};
}

std::vector<ModelRope> SpecOptions::ropes_of_model() const {
  std::vector<ModelRope> chosen;
  std::vector<std::string> known;
  for (ModelRope rope : model()->ropes) {
    known.push_back(rope.layers.empty() ? "(all layers have one rope)" : rope.layers);
    if (!layers_.empty() && rope.layers != layers_) continue;
    if (pairing_) rope.spec.pairing = pairing_called(*pairing_);
    chosen.push_back(std::move(rope));
  }
  if (chosen.empty()) {
    throw InputError(
        fmt::format("--layers: \"{}\" is not known; {} has {}", layers_, model_file_, fmt::join(known, ", ")));
  }
  return chosen;
}

std::optional<Pairing> SpecOptions::pairing() const {
  return pairing_ ? std::optional(pairing_called(*pairing_)) : std::nullopt;
}

}  // namespace rope
