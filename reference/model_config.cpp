#include "reference/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reference/input_error.hpp"
#include "reference/model_pairings.hpp"
#include "reference/spec_json.hpp"

namespace rope {
namespace {

// Pairs of the axes time, height and width if the file leaves them out.
struct DefaultSections {
  std::string_view model_type;  // its beginning
  std::array<int, 3> sections;
  bool interleaved;
};
constexpr DefaultSections default_sections[] = {
    {"qwen2_vl", {16, 24, 24}, false}, {"qwen2_5_vl", {16, 24, 24}, false}, {"paddleocr_vl", {16, 24, 24}, false},
    {"qwen3_vl", {24, 20, 20}, true},  {"qwen3_5", {11, 11, 10}, true},     {"glm4v", {8, 12, 12}, false}};

// AxisLayout cannot express how these models lay out their axes.
constexpr std::string_view inexpressible_models[] = {"ernie4_5_vl", "hunyuan_vl", "qwen2_5_omni"};

// Any of these fields shows that the model has rope. Llama's first files have none of them.
constexpr std::string_view rope_fields[] = {
    "rope_parameters", "rope_scaling",          "rope_theta",      "rotary_dim",      "rotary_pct",
    "rotary_emb_base", "partial_rotary_factor", "rope_interleave", "qk_rope_head_dim"};

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::optional<DType> dtype_of(const Json& config) {
  const std::pair<std::string_view, DType> words[] = {
      {"float64", DType::f64}, {"float32", DType::f32}, {"float16", DType::f16}, {"bfloat16", DType::bf16}};
  for (const char* key : {"dtype", "torch_dtype"}) {
    for (const auto& [word, dtype] : words) {
      if (config.contains(key) && config[key] == word) return dtype;
    }
  }
  return std::nullopt;
}

// One configuration: the file's, or its language model's.
class Reader {
 public:
  Reader(const Json& config, std::string where) : config_(config), where_(std::move(where)) {
    result_.model_type = optional<std::string>(config_, "model_type", where_).value_or("");
  }

  ModelConfig read() {
    for (const std::string_view model : inexpressible_models) {
      if (!starts(result_.model_type, model)) continue;
      throw InputError(
          fmt::format("{}.model_type: the axes of \"{}\" are laid out in a way that no RopeSpec has; write the nearest "
                      "spec and give it by --spec",
                      where_, result_.model_type));
    }
    result_.max_position_embeddings = first<std::int64_t>({"max_position_embeddings", "n_positions"});
    result_.dtype = dtype_of(config_);
    const bool has_rope = std::any_of(std::begin(rope_fields), std::end(rope_fields),
                                      [&](std::string_view field) { return config_.contains(std::string(field)); });
    if (!has_rope && result_.model_type != "llama") {
      throw InputError(fmt::format(
          "{}: nothing in it tells of rope (none of {}); where the model has one, give its spec by --spec or "
          "flags",
          where_, fmt::join(rope_fields, ", ")));
    }
    const Json& rope = rope_dictionary();
    if (is_nested(rope)) {
      for (const auto& [layers, parameters] : rope.items()) {
        if (parameters.is_object()) add(layers, parameters, fmt::format("{}.{}", rope_path_, layers));
      }
    } else if (const auto local = optional<double>(config_, "rope_local_base_freq", where_)) {
      // Gemma 3 before transformers 5: two bases, and the scaling belongs to the layers that see everything.
      add("full_attention", rope, rope_path_);
      add("sliding_attention", Json{{"rope_theta", *local}}, where_);
    } else {
      add("", rope, rope_path_);
    }
    return std::move(result_);
  }

 private:
  template <class T>
  static std::optional<T> optional(const Json& object, const std::string& key, const std::string& path) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return std::nullopt;
    return ObjectReader::convert<T>(*found, path + "." + key);
  }

  // The first of these fields that the configuration has.
  template <class T>
  std::optional<T> first(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      if (const auto value = optional<T>(config_, key, where_)) return value;
    }
    return std::nullopt;
  }

  void assume(std::string sentence) { result_.assumed.push_back(std::move(sentence)); }

  // rope_parameters (transformers 5), else rope_scaling; an empty object if there is neither.
  const Json& rope_dictionary() {
    static const Json none = Json::object();
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const auto found = config_.find(key);
      if (found == config_.end() || found->is_null()) continue;
      rope_path_ = fmt::format("{}.{}", where_, key);
      if (!found->is_object()) {
        throw InputError(fmt::format("{}: expected an object, found {}", rope_path_, found->type_name()));
      }
      return *found;
    }
    rope_path_ = where_;
    return none;
  }

  static bool is_nested(const Json& rope) {
    return !rope.empty() &&
           std::all_of(rope.begin(), rope.end(), [](const Json& v) { return v.is_object() || v.is_null(); });
  }

  int head_dim(const std::string& layers) const {
    if (layers == "full_attention") {
      if (const auto global = first<int>({"global_head_dim"})) return *global;
    }
    if (const auto given = first<int>({"qk_rope_head_dim", "head_dim"})) return *given;
    const auto width = first<int>({"hidden_size", "n_embd", "d_model"});
    const auto heads = first<int>({"num_attention_heads", "n_head"});
    if (!width || !heads || *heads <= 0) {
      throw InputError(
          fmt::format("{}: neither head_dim nor hidden_size and num_attention_heads are there: a model without "
                      "attention heads, or a configuration inside another field; give the spec by --spec",
                      where_));
    }
    return *width / *heads;
  }

  void add(const std::string& layers, const Json& rope, const std::string& path) {
    RopeSpec spec;
    spec.head_dim = spec.rotary_dim = head_dim(layers);
    spec.pairing = pairing();
    spec.base = base(rope, path);
    const char* kind_key = rope.contains("rope_type") && !rope["rope_type"].is_null() ? "rope_type" : "type";
    std::string kind = optional<std::string>(rope, kind_key, path).value_or("default");
    if (kind == "mrope") kind = "default";  // Qwen2-VL's word for its axes
    auto part = optional<double>(rope, "partial_rotary_factor", path);
    if (!part) part = first<double>({"partial_rotary_factor", "rotary_pct"});
    Json rule = rope;
    rule["kind"] = kind;
    if (kind == "proportional") {
      rule["proportion"] = part.value_or(1);
    } else if (part) {
      spec.rotary_dim = static_cast<int>(spec.head_dim * *part);
    } else if (const auto given = first<int>({"rotary_dim"})) {
      spec.rotary_dim = *given;
    }
    fill_lengths(kind, rule);
    spec.scaling = read_scaling(rule, path, Unknown::passed_over, kind_key);
    spec.attention_factor = optional<double>(rope, "attention_factor", path);
    read_axes(rope, path, spec);
    try {
      validate(spec);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", path, error.what()));
    }
    result_.ropes.push_back({layers, spec});
  }

  double base(const Json& rope, const std::string& path) {
    if (const auto theta = optional<double>(rope, "rope_theta", path)) return *theta;
    if (const auto theta = first<double>({"rope_theta", "rotary_emb_base"})) return *theta;
    assume("rope_theta is not there: 10000");
    return 10000;
  }

  // As in transformers: the whole configuration's length takes precedence over the rope dictionary's. A missing factor
  // is the ratio of the two lengths.
  void fill_lengths(const std::string& kind, Json& rule) {
    const char* original = "original_max_position_embeddings";
    const bool needs = kind == "llama3" || kind == "yarn" || kind == "longrope" || kind == "su" || kind == "dynamic";
    if (!needs) return;
    const auto of_all = kind == "dynamic" ? std::nullopt : first<double>({original});
    const auto longest = result_.max_position_embeddings;
    const bool is_there = rule.contains(original) && !rule[original].is_null();
    if (kind == "dynamic" && longest) {
      rule[original] = *longest;
    } else if (of_all) {
      rule[original] = *of_all;
    } else if (!is_there && longest) {
      rule[original] = *longest;
      assume(fmt::format("{} is not there: max_position_embeddings, {}", original, *longest));
    }
    const bool has_factor = rule.contains("factor") && !rule["factor"].is_null();
    if (has_factor || kind == "dynamic" || kind == "llama3" || !longest || !rule.contains(original)) return;
    if (rule[original].is_number() && rule[original].get<double>() > 0) {
      rule["factor"] = static_cast<double>(*longest) / rule[original].get<double>();
    }
  }

  Pairing pairing() {
    if (const auto neighbours = first<bool>({"rope_interleave"})) {
      return *neighbours ? Pairing::interleaved : Pairing::half_split;
    }
    const std::optional<Pairing> known = pairing_of_model(result_.model_type);
    if (!known) result_.guessed_pairing = Pairing::half_split;
    return known.value_or(Pairing::half_split);
  }

  void read_axes(const Json& rope, const std::string& path, RopeSpec& spec) {
    const auto defaults =
        std::find_if(std::begin(default_sections), std::end(default_sections),
                     [&](const DefaultSections& d) { return starts(result_.model_type, d.model_type); });
    const bool is_known = defaults != std::end(default_sections);
    const auto given = optional<std::vector<int>>(rope, "mrope_section", path);
    if (given) {
      spec.axes.sections = *given;
    } else if (is_known) {
      spec.axes.sections.assign(defaults->sections.begin(), defaults->sections.end());
      assume(fmt::format("mrope_section is not there: {}", fmt::join(spec.axes.sections, ", ")));
    }
    const bool interleaved =
        optional<bool>(rope, "mrope_interleaved", path).value_or(is_known && defaults->interleaved);
    if (interleaved) spec.axes.order = AxisLayout::Order::interleaved;
  }

  const Json& config_;
  std::string where_;
  std::string rope_path_;
  ModelConfig result_;
};

}  // namespace

ModelConfig model_config_from_json(std::string_view text, std::string_view where) {
  const Json document = parse_json(text, where);
  if (!document.is_object()) {
    throw InputError(fmt::format("{}: expected an object, found {}", where, document.type_name()));
  }
  for (const char* part : {"text_config", "llm_config", "language_config"}) {
    const auto inner = document.find(part);
    if (inner == document.end() || !inner->is_object()) continue;
    ModelConfig model = Reader(*inner, fmt::format("{}.{}", where, part)).read();
    if (!model.dtype) model.dtype = dtype_of(document);
    return model;
  }
  return Reader(document, std::string(where)).read();
}

}  // namespace rope
