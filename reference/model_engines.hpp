// The ropes of a model, from the files that engines read in place of a config.json.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reference/model_config.hpp"

namespace rope {

// A GGUF file, as llama.cpp computes the ropes from its metadata.
ModelConfig model_from_gguf(std::string_view content, const std::string& where, const ModelReading& how);

// params.json of Meta and of Mistral, as their own code reads it.
bool is_params(const nlohmann::ordered_json& document);
ModelConfig model_from_params(const nlohmann::ordered_json& document, const std::string& where,
                              const ModelReading& how);

}  // namespace rope
