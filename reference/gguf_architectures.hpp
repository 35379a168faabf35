// How llama.cpp rotates each architecture that a GGUF file may name, by llama_model_rope_type() and the graphs of
// llama.cpp 0c1e570 (2026-10-01). An architecture that is not here has layers with other rules, or was not looked at.
#pragma once

#include <string_view>
#include <vector>

namespace rope {

struct GgufArchitecture {
  enum class Rope { none, interleaved, half_split, chunked_axes, interleaved_axes };  // with axes: half_split
  // The base of layers that see only near tokens, unless rope.freq_base_swa says it.
  enum class Near { no_such_layers, same_base, base_10000, only_these_rotate };

  std::string_view name;
  std::string_view model_type = {};  // of transformers; empty if it has none
  Rope rope;
  Near near = Near::no_such_layers;
  int every_layer_without_rope = 0;  // 4: layers 3, 7, ..
  bool rotates_whole_head = false;   // rope.dimension_count must be the whole head
  bool rotates_a_part = false;       // a head's part rotates, as DeepSeek's, and is a tensor of its own
  bool reads_beta = false;           // yarn_beta_fast, yarn_beta_slow; all others have 32 and 1
  bool reads_multiplier = false;     // yarn_log_multiplier, mscale_all_dim
};

const GgufArchitecture* gguf_architecture(std::string_view name);  // nullptr: not known
std::vector<std::string_view> gguf_architectures();

}  // namespace rope
