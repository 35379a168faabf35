#include "reference/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reference/escaped_text.hpp"
#include "reference/gguf.hpp"
#include "reference/model_engines.hpp"
#include "reference/model_reader.hpp"
#include "reference/model_types.hpp"

namespace rope {
namespace {

// The field of a language model inside a file whose type is not known.
constexpr const char* usual_parts[] = {"text_config", "llm_config", "language_config"};

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

// For a type that transformers does not have: the names that most files use.
Json usual_row(const Json& config) {
  Json rope = parse_json(R"({"rule":{"rope_type":"default","rope_theta":10000},"theta":["rope_theta","rotary_emb_base"],
    "part":["partial_rotary_factor","rotary_pct"],"whole":["qk_rope_head_dim"],"head_dim":["head_dim"],
    "rotary_dim":["rotary_dim"],"divided":["hidden_size","num_attention_heads",1]})",
                         "usual fields");
  Json mode{{"theta", rope["theta"]}, {"base", 10000}, {"part", rope["part"]}, {"parts", {"default", "scaled"}}};
  rope["flat"] = rope["nested"] = mode;
  if (!config.contains("qk_rope_head_dim")) rope.erase("whole");
  Json row{{"ropes", Json::object()}};
  const auto parameters = config.find("rope_parameters");
  if (parameters != config.end() && parameters->is_object() && !parameters->empty() &&
      std::all_of(parameters->begin(), parameters->end(), [](const Json& v) { return v.is_object() || v.is_null(); })) {
    for (const auto& [layers, rule] : parameters->items()) row["ropes"][layers] = rope;
  } else {
    row["ropes"][""] = rope;
  }
  return row;
}

std::string called(const Json& config, const char* key) {
  const auto found = config.find(key);
  return found != config.end() && found->is_string() ? found->get<std::string>() : "";
}

// "Phi3" of Phi3ForCausalLM and of Phi3Model
std::string_view family(std::string_view architecture) {
  if (architecture.ends_with("Model")) architecture.remove_suffix(5);
  return architecture.substr(0, architecture.find("For"));
}

class Document {
 public:
  explicit Document(const ModelReading& how) : how_(how) {}

  // `usual`: the type if the configuration does not name one.
  ModelConfig read(const Json& config, const std::string& where, const std::string& usual, int depth = 0) {
    if (const Json& named = member(config, "model_type"); !named.is_null() && !named.is_string()) {
      throw InputError(fmt::format("{}.model_type: expected text, found {}", where, named.type_name()));
    }
    std::string type = called(config, "model_type");
    if (type.empty() && !usual.empty()) {
      type = usual;
      lines_.push_back(fmt::format("{}.model_type is not there: {}", where, type));
    }
    if (const std::string reason = reason_without_rope(type); !reason.empty()) {
      throw InputError(fmt::format("{}.model_type: transformers {} tells nothing about the rope of \"{}\": {}; give "
                                   "the spec by --spec",
                                   where, transformers_version(), type, reason));
    }
    const Json* row = model_type_row(type);
    if (row == nullptr) row = row_of_architecture(config, where, type);
    constexpr int deepest = 4;
    note_own_code(config, where, type, row);
    if (row != nullptr && row->contains("parts") && depth < deepest) {
      return read_part(config, where, type, *row, depth);
    }
    if (row == nullptr) {
      for (const char* part : usual_parts) {
        const auto inner = config.find(part);
        if (inner != config.end() && inner->is_object() && depth < deepest) {
          lines_.push_back(fmt::format("{}.model_type {}: read is its {}", where,
                                       type.empty() ? "is not there" : fmt::format("\"{}\" is not known", type), part));
          doubt_outer_fields(config, *inner, where);
          return with_dtype(read(*inner, fmt::format("{}.{}", where, part), "", depth + 1), config);
        }
      }
    }
    ModelReader reader(config, where, type, row == nullptr ? usual_row(config) : *row, row != nullptr, how_);
    for (const std::string& sentence : doubts_) reader.doubt(sentence);
    ModelConfig model = reader.read();
    model.assumed.insert(model.assumed.begin(), lines_.begin(), lines_.end());
    model.dtype = dtype_of(config);
    return model;
  }

 private:
  ModelConfig read_part(const Json& config, const std::string& where, const std::string& type, const Json& row,
                        int depth) {
    for (const auto& [part, inner_type] : row["parts"].items()) {
      const auto inner = config.find(part);
      if (inner == config.end() || !inner->is_object()) continue;
      doubt_outer_fields(config, *inner, where);
      const std::string path = fmt::format("{}.{}", where, part);
      return with_dtype(read(*inner, path, inner_type.get<std::string>(), depth + 1), config);
    }
    const Json& first = *row["parts"].begin();
    if (!row.contains("is_flat")) {
      throw InputError(fmt::format("{}: \"{}\" is missing; it holds the language model of {}", where,
                                   row["parts"].begin().key(), type));
    }
    Json flat = config;
    flat["model_type"] = first;
    flat.erase("auto_map");  // noted above
    return read(flat, where, "", depth + 1);
  }

  // A rope of another part, such as MusicFlamingo's for time, or a second opinion about the language model's.
  void doubt_outer_fields(const Json& outer, const Json& inner, const std::string& where) {
    std::map<std::string_view, const Json*> inside;
    for (const auto& [field, value] : inner.items()) inside[field] = &value;
    for (const auto& [field, value] : outer.items()) {
      if (value.is_null() || !tells_of_rope(field)) continue;
      const auto same = inside.find(field);
      if (same != inside.end() && *same->second == value) continue;
      doubts_.push_back(fmt::format("{}.{} is not the language model's: passed over", where, field));
    }
  }

  // Code that comes with the file. Vendors mostly keep the class's name when their code comes into transformers.
  void note_own_code(const Json& config, const std::string& where, const std::string& type, const Json* row) {
    for (const auto& [loader, name] : member(config, "auto_map").items()) {
      if (!loader.starts_with("AutoModel") || !name.is_string()) continue;
      const auto& code = name.get_ref<const std::string&>();
      if (row == nullptr) {
        doubts_.push_back(fmt::format("{}.auto_map: {} is the file's own code, which is not looked into", where, code));
        continue;
      }
      const std::string_view own = family(std::string_view(code).substr(code.rfind('.') + 1));
      const Json& known = member(*row, "architectures");
      const bool is_known = std::any_of(known.begin(), known.end(), [&](const Json& listed) {
        return family(listed.get_ref<const std::string&>()) == own;
      });
      if (is_known) {
        lines_.push_back(fmt::format("{}.auto_map: {} is not looked into; read as {} of transformers {}", where, code,
                                     type, transformers_version()));
      } else {
        doubts_.push_back(fmt::format("{}.auto_map: {} may differ from {} of transformers {}", where, code, type,
                                      transformers_version()));
      }
    }
  }

  static ModelConfig with_dtype(ModelConfig model, const Json& outer) {
    if (!model.dtype) model.dtype = dtype_of(outer);
    return model;
  }

  // A vendor's own type that runs the code of a type of transformers. The file names the class.
  const Json* row_of_architecture(const Json& config, const std::string& where, std::string& type) {
    const auto names = config.find("architectures");
    if (names == config.end() || !names->is_array()) return nullptr;
    for (const Json& name : *names) {
      if (!name.is_string()) continue;
      const std::string found = model_type_of_architecture(name.get<std::string>());
      if (found.empty()) continue;
      lines_.push_back(fmt::format("{}.model_type{}; read as {}, by architectures", where,
                                   type.empty() ? " is not there" : fmt::format(": \"{}\" is not known", type), found));
      type = found;
      return model_type_row(type);
    }
    return nullptr;
  }

  ModelReading how_;
  std::vector<std::string> lines_;
  std::vector<std::string> doubts_;
};

ModelConfig read_any(std::string_view content, const std::string& where, const ModelReading& how) {
  if (is_gguf(content)) return model_from_gguf(content, where, how);
  const Json document = parse_json(content, where);
  if (!document.is_object()) {
    throw InputError(fmt::format("{}: expected an object, found {}", where, document.type_name()));
  }
  if (is_params(document)) return model_from_params(document, where, how);
  return Document(how).read(document, where, "");
}

}  // namespace

ModelConfig read_model_config(std::string_view content, std::string_view where, const ModelReading& how) {
  try {
    ModelConfig model = read_any(content, std::string(where), how);
    for (std::string& sentence : model.assumed) sentence = escaped(sentence);
    for (ModelRope& rope : model.ropes) rope.layers = escaped(rope.layers);
    return model;
  } catch (const InputError& error) {
    throw InputError(escaped(error.what()));
  }
}

}  // namespace rope
