// The ropes of a model, from the file beside its weights: the config.json that Hugging Face's transformers saves, the
// params.json of Meta or Mistral, or a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

struct ModelRope {
  std::string layers;  // "full_attention"; empty if all layers have the same rope
  RopeSpec spec;
};

struct ModelConfig {
  std::string model_type;                               // "llama"
  std::vector<ModelRope> ropes;                         // at least one
  std::optional<std::int64_t> max_position_embeddings;  // tokens
  std::optional<DType> dtype;                           // of weights and activations
  std::vector<std::string> assumed;                     // what the file does not say, as sentences
};

struct ModelReading {
  bool accepts_guesses = false;
  bool knows_pairing = false;  // from elsewhere, so that it need not be guessed
};

// `where` names the file in messages. InputError names the field: an unknown rope type (with the known ones), a model
// without rope, a layout that a RopeSpec cannot express, or what would have to be guessed. Of a GGUF file, the content
// may end after its tensors' names.
ModelConfig read_model_config(std::string_view content, std::string_view where, const ModelReading& how = {});

}  // namespace rope
