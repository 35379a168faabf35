// What transformers does with the fields of a config.json, for each model type. tests/models/model_types.py makes the
// table by running the classes of transformers. Include it only in sources: whoever reads a row needs the JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace rope {

std::string_view transformers_version();  // that the table was made with

// Whether transformers has a scaling rule of this name for models in general.
bool is_rule_of_transformers(std::string_view name);

// Why the rope of a type cannot be read; empty if it can, or if transformers does not have the type.
std::string reason_without_rope(std::string_view model_type);

// The row of a type; nullptr if there is none. One of these:
//   parts     field -> model type of the configurations inside; is_flat: old files have the language model's fields
//             beside them
//   ropes     kind of layer ("" for all) -> how each number comes about; reference/model_config.cpp reads it
const nlohmann::ordered_json* model_type_row(std::string_view model_type);

std::vector<std::string_view> model_types_with_rope();

// "DeepseekV3ForCausalLM" -> "deepseek_v3"; empty if it is not known.
std::string model_type_of_architecture(std::string_view architecture);

}  // namespace rope
