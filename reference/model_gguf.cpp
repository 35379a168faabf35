#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/did_you_mean.hpp"
#include "reference/gguf.hpp"
#include "reference/gguf_architectures.hpp"
#include "reference/model_engines.hpp"
#include "reference/model_fields.hpp"
#include "reference/model_types.hpp"
#include "reference/real.hpp"
#include "reference/spec_json.hpp"

namespace rope {
namespace {

using Rotation = GgufArchitecture::Rope;
using Near = GgufArchitecture::Near;

// llama.cpp's tensors of factors, which divide the frequencies.
bool changes_frequencies(const std::string& tensor) {
  return tensor.find("rope_freqs") != tensor.npos || tensor.find("rope_factors") != tensor.npos;
}

class GgufModel {
 public:
  GgufModel(const Json& values, const std::vector<std::string>& tensors, const std::string& where,
            const ModelReading& how)
      : tensors_(tensors), file_(values, where), how_(how) {}

  ModelConfig read() {
    name_architecture();
    refuse_tensors();
    if (file_.optional<std::int64_t>("split.count").value_or(1) > 1) {
      doubt("the model has several files; those after this one may hold rope_freqs.weight, which divides frequencies");
    }
    result_.max_position_embeddings = length_in(file_, key("context_length"));
    read_ropes();
    say_pairing();
    note_unread_keys();
    for (std::string& line : found_.settled(how_.accepts_guesses, file_.path())) {
      result_.assumed.push_back(std::move(line));
    }
    return std::move(result_);
  }

 private:
  void doubt(std::string sentence) { found_.doubts.push_back(std::move(sentence)); }
  void say(std::string sentence) { found_.lines.push_back(std::move(sentence)); }
  std::string key(std::string_view rest) const { return fmt::format("{}.{}", name_, rest); }

  void name_architecture() {
    const auto name = file_.optional<std::string>("general.architecture");
    if (!name) throw InputError(fmt::format("{}.general.architecture: missing", file_.path()));
    name_ = *name;
    result_.model_type = name_;
    const GgufArchitecture* known = gguf_architecture(name_);
    if (known == nullptr) {
      doubt(fmt::format("general.architecture: \"{}\" is not one whose layers in llama.cpp ropecheck knows{}", name_,
                        did_you_mean(name_, gguf_architectures(), "; ", "")));
      if (!how_.knows_pairing) doubt("the pairing half_split (or give --pairing)");
      return;
    }
    if (known->rope == Rotation::none) {
      throw InputError(fmt::format("{}.general.architecture: \"{}\" has no rope in llama.cpp", file_.path(), name_));
    }
    how_it_rotates_ = *known;
  }

  void refuse_tensors() const {
    const auto found = std::ranges::find_if(tensors_, changes_frequencies);
    if (found == tensors_.end()) return;
    throw InputError(fmt::format("{}: the tensor {} divides the frequencies, and ropecheck reads no tensors; give the "
                                 "config.json that the file was made of",
                                 file_.path(), *found));
  }

  // One number for all layers.
  std::optional<std::int64_t> heads() {
    const std::string name = key("attention.head_count");
    const Json* found = file_.find(name);
    if (found == nullptr || !found->is_array()) return file_.optional<std::int64_t>(name);
    const auto by_layer = ObjectReader::convert<std::vector<std::int64_t>>(*found, file_.path() + "." + name);
    const bool are_equal = !by_layer.empty() && std::ranges::count(by_layer, by_layer[0]) == std::ssize(by_layer);
    return are_equal ? std::optional(by_layer[0]) : std::nullopt;
  }

  int head_dim() {
    if (const auto given = file_.optional<int>(key("attention.key_length"))) return *given;
    const auto width = file_.optional<std::int64_t>(key("embedding_length"));
    const auto count = heads();
    if (!width || !count || *count <= 0 || *width <= 0 || *width / *count > std::numeric_limits<int>::max()) {
      throw InputError(fmt::format("{}: neither {} nor {} and one {} above 0 are there", file_.path(),
                                   key("attention.key_length"), key("embedding_length"),
                                   key("attention.head_count")));
    }
    return static_cast<int>(*width / *count);
  }

  void read_ropes() {
    RopeSpec spec;
    spec.head_dim = head_dim();
    const auto rotated = file_.optional<int>(key("rope.dimension_count"));
    spec.rotary_dim = rotated.value_or(spec.head_dim);
    if (how_it_rotates_.rotates_whole_head && spec.rotary_dim != spec.head_dim) {
      throw InputError(fmt::format("{}.{}: {}; llama.cpp refuses other than {}, the whole head", file_.path(),
                                   key("rope.dimension_count"), spec.rotary_dim, spec.head_dim));
    }
    if (how_it_rotates_.rotates_a_part) {
      if (!rotated) throw InputError(fmt::format("{}.{}: missing", file_.path(), key("rope.dimension_count")));
      spec.head_dim = spec.rotary_dim;
    }
    if (how_it_rotates_.rope == Rotation::interleaved) spec.pairing = Pairing::interleaved;
    const auto base = file_.optional<double>(key("rope.freq_base"));
    if (!base) say(fmt::format("{} is not there: 10000, as llama.cpp takes", key("rope.freq_base")));
    spec.base = base.value_or(10000);
    read_axes(spec);
    read_scaling_rule(spec);
    add_near_layers(spec);
    for (const ModelRope& rope : result_.ropes) {
      try {
        validate(rope.spec);
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", file_.path(), error.what()));
      }
    }
    if (const int every = how_it_rotates_.every_layer_without_rope; every > 0) {
      say(fmt::format("every {}. layer of {} has no rope", every, name_));
    }
  }

  void read_axes(RopeSpec& spec) {
    const bool in_turn = how_it_rotates_.rope == Rotation::interleaved_axes;
    if (!in_turn && how_it_rotates_.rope != Rotation::chunked_axes) return;
    const std::string name = key("rope.dimension_sections");
    const auto sections = file_.optional<std::vector<int>>(name);
    if (!sections) throw InputError(fmt::format("{}.{}: missing; {} needs it", file_.path(), name, name_));
    spec.axes.sections = *sections;
    while (!spec.axes.sections.empty() && spec.axes.sections.back() == 0) spec.axes.sections.pop_back();
    if (!in_turn) return;
    spec.axes.order = AxisLayout::Order::interleaved;
    const std::vector<int>& pairs = spec.axes.sections;
    if (pairs.size() != 3) throw InputError(fmt::format("{}.{}: expected three axes", file_.path(), name));
    // transformers gives what is left over to the first axis; ggml has a position of its own for it.
    std::vector<int> left_over;
    constexpr int widest = 65536;
    for (int p = 0; p < std::min(spec.rotary_dim, widest) / 2; ++p) {
      if (p / 3 >= pairs[static_cast<std::size_t>(p % 3)]) left_over.push_back(p);
    }
    if (left_over.empty()) return;
    left_over.resize(std::min<std::size_t>(left_over.size(), 8));
    doubt(fmt::format("{}: llama.cpp turns pairs {} by a fourth position, which is 0 for text; transformers turns them "
                      "by axis 0, as ropecheck does",
                      name, fmt::join(left_over, ", ")));
  }

  void read_scaling_rule(RopeSpec& spec) {
    const auto kind = file_.optional<std::string>(key("rope.scaling.type")).value_or("linear");
    auto factor = file_.optional<double>(key("rope.scaling.factor"));
    if (const auto old = file_.optional<double>(key("rope.scale_linear")); !factor) factor = old;
    const double stretch = factor && *factor != 0 ? *factor : 1;
    const auto length = file_.optional<double>(key("rope.scaling.original_context_length"));
    const double attention = file_.optional<double>(key("rope.scaling.attn_factor")).value_or(1);
    file_.find(key("rope.scaling.finetuned"));  // whether it was trained so; the numbers do not follow it
    if (kind == "yarn") {
      spec.scaling = yarn(stretch, length);
      const scaling::Setting setting{spec.head_dim, spec.rotary_dim, spec.base, 1};
      if (attention != 1) spec.attention_factor = attention * attention_factor<Real>(spec.scaling, setting).to_double();
      return;
    }
    if (kind != "linear" && kind != "none") {
      throw InputError(fmt::format("{}.{}: \"{}\" {}", file_.path(), key("rope.scaling.type"), kind,
                                   kind == "longrope" ? "is refused: its factors are tensors, which ropecheck does not "
                                                        "read; give the config.json that the file was made of"
                                                      : "is not known; llama.cpp has none, linear, yarn and longrope"));
    }
    if (kind == "linear" && stretch != 1) spec.scaling = scaling::Linear{{}, stretch};
    if (kind == "none" && stretch != 1) {
      say(fmt::format("{}: {} is passed over: the type is none", key("rope.scaling.factor"), stretch));
    }
    if (attention != 1) spec.attention_factor = attention;
  }

  scaling::Yarn yarn(double factor, std::optional<double> length) {
    scaling::Yarn rule;
    rule.factor = factor;
    if (!length && !result_.max_position_embeddings) {
      throw InputError(fmt::format("{}: neither {} nor {} is there; yarn needs one", file_.path(),
                                   key("rope.scaling.original_context_length"), key("context_length")));
    }
    rule.original_max_position_embeddings =
        length ? *length : static_cast<double>(*result_.max_position_embeddings);
    for (const auto& [rest, value] : {std::pair("rope.scaling.yarn_beta_fast", &rule.beta_fast),
                                      std::pair("rope.scaling.yarn_beta_slow", &rule.beta_slow)}) {
      const auto given = file_.optional<double>(key(rest));
      if (!given || *given == *value) continue;
      if (how_it_rotates_.reads_beta) {
        *value = *given;
      } else {
        doubt(fmt::format("{} is {}; llama.cpp does not read it for {} and has {}", key(rest), *given, name_, *value));
      }
    }
    say("yarn's ramp is rounded to whole pairs: GGUF files do not say truncate, and llama.cpp rounds");
    if (!rounds_elsewhere()) doubt(fmt::format("transformers has truncate false for {}", how_it_rotates_.model_type));
    if (!how_it_rotates_.reads_multiplier) return rule;
    const auto multiplier = file_.optional<double>(key("rope.scaling.yarn_log_multiplier"));
    if (multiplier && *multiplier != 0) {
      rule.mscale = 1;
      // DeepSeek's two values are taken as equal, and the file has a tenth of them.
      rule.mscale_all_dim = how_it_rotates_.rotates_a_part ? 1 : *multiplier;
    }
    return rule;
  }

  bool rounds_elsewhere() const {
    const Json* row = how_it_rotates_.model_type.empty() ? nullptr : model_type_row(how_it_rotates_.model_type);
    if (row == nullptr) return true;
    return std::ranges::all_of((*row)["ropes"], [](const Json& rope) { return rope["rule"].value("truncate", true); });
  }

  void add_near_layers(const RopeSpec& spec) {
    const Near near = how_it_rotates_.near;
    if (near == Near::only_these_rotate) {
      result_.ropes.push_back({"", spec});
      say(fmt::format("full_attention layers of {} have no rope", name_));
      file_.find(key("rope.freq_base_swa"));  // its graph has one base
      return;
    }
    const auto given = near == Near::no_such_layers ? std::nullopt : file_.optional<double>(key("rope.freq_base_swa"));
    const bool has_window = file_.optional<std::int64_t>(key("attention.sliding_window")).value_or(0) > 0;
    RopeSpec second = spec;
    if (near == Near::base_10000 && has_window) {
      second.base = given.value_or(10000);
      second.scaling = scaling::None{};
      if (!given) say(fmt::format("{} is not there: 10000, as llama.cpp takes", key("rope.freq_base_swa")));
      if (std::holds_alternative<scaling::Yarn>(spec.scaling)) doubt("how yarn is applied to sliding_attention layers");
    } else if (near == Near::same_base) {
      second.base = given.value_or(spec.base);
    }
    if (second == spec) {
      result_.ropes.push_back({"", spec});
      return;
    }
    result_.ropes.push_back({"full_attention", spec});
    result_.ropes.push_back({"sliding_attention", second});
  }

  // The weights of a GGUF file need not lie as in the model that it was made of.
  void say_pairing() {
    if (how_.knows_pairing || how_it_rotates_.rope != Rotation::interleaved) return;
    const Json* row = how_it_rotates_.model_type.empty() ? nullptr : model_type_row(how_it_rotates_.model_type);
    const bool is_same = row != nullptr && row->value("pairing", "") == "interleaved";
    say(fmt::format("the pairing of {} in llama.cpp is interleaved{}", name_,
                    is_same ? ""
                            : "; its converter reorders the weights of q and k if the model has half_split elsewhere"));
  }

  void note_unread_keys() {
    for (const auto& [field, value] : file_.unread()) {
      std::string words = field;
      std::ranges::replace(words, '.', '_');
      if (!tells_of_rope(words) || !field.starts_with(name_ + ".")) continue;
      if (value->is_number() && value->get<double>() == 0) continue;  // switched off
      const std::string text = value->is_null() ? "a list" : value->dump();
      doubt(fmt::format("{}: {} is not understood, or not read by llama.cpp for {}", field, text.substr(0, 40), name_));
    }
  }

  const std::vector<std::string>& tensors_;
  ObjectReader file_;
  ModelReading how_;
  std::string name_;
  GgufArchitecture how_it_rotates_{.name = {}, .rope = Rotation::half_split};
  UnreadFields found_;
  ModelConfig result_;
};

}  // namespace

ModelConfig model_from_gguf(std::string_view content, const std::string& where, const ModelReading& how) {
  std::vector<std::string> tensors;
  const Json values = read_gguf(content, where, tensors);
  return GgufModel(values, tensors, where, how).read();
}

}  // namespace rope
