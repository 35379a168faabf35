#include "reference/gguf_architectures.hpp"

#include <algorithm>
#include <span>

namespace rope {
namespace {

std::span<const GgufArchitecture> all_architectures() {
  using enum GgufArchitecture::Rope;
  using Near = GgufArchitecture::Near;
  static constexpr GgufArchitecture all[] = {
      {.name = "arcee", .model_type = "arcee", .rope = interleaved},
      {.name = "arctic", .rope = interleaved},
      {.name = "bailingmoe", .rope = interleaved},
      {.name = "chameleon", .model_type = "chameleon", .rope = interleaved},
      {.name = "chatglm", .rope = interleaved},
      {.name = "cohere2", .model_type = "cohere2", .rope = interleaved, .near = Near::only_these_rotate},
      {.name = "command-r", .model_type = "cohere", .rope = interleaved},
      {.name = "deci", .rope = interleaved, .rotates_whole_head = true},
      {.name = "deepseek", .rope = interleaved},
      {.name = "deepseek2",
       .model_type = "deepseek_v3",
       .rope = interleaved,
       .rotates_a_part = true,
       .reads_multiplier = true},
      {.name = "ernie4_5", .model_type = "ernie4_5", .rope = interleaved},
      {.name = "ernie4_5-moe", .model_type = "ernie4_5_moe", .rope = interleaved},
      {.name = "glm4", .model_type = "glm4", .rope = interleaved},
      {.name = "internlm2", .rope = interleaved},
      {.name = "llada", .rope = interleaved},
      {.name = "llama", .model_type = "llama", .rope = interleaved, .rotates_whole_head = true},
      {.name = "llama-embed", .model_type = "llama", .rope = interleaved, .rotates_whole_head = true},
      {.name = "maincoder", .rope = interleaved},
      {.name = "mistral3",
       .model_type = "ministral3",
       .rope = interleaved,
       .reads_beta = true,
       .reads_multiplier = true},
      {.name = "olmo", .model_type = "olmo", .rope = interleaved},
      {.name = "smollm3", .model_type = "smollm3", .rope = interleaved, .every_layer_without_rope = 4},
      {.name = "xverse", .rope = interleaved},

      {.name = "apertus", .model_type = "apertus", .rope = half_split},
      {.name = "bailingmoe2", .rope = half_split},
      {.name = "bitnet", .model_type = "bitnet", .rope = half_split},
      {.name = "codeshell", .rope = half_split},
      {.name = "dbrx", .model_type = "dbrx", .rope = half_split},
      {.name = "dots1", .model_type = "dots1", .rope = half_split},
      {.name = "dream", .rope = half_split},
      {.name = "eurobert", .model_type = "eurobert", .rope = half_split},
      {.name = "exaone", .rope = half_split},
      {.name = "falcon", .model_type = "falcon", .rope = half_split, .rotates_whole_head = true},
      {.name = "gemma", .model_type = "gemma", .rope = half_split},
      {.name = "gemma2", .model_type = "gemma2", .rope = half_split, .near = Near::same_base},
      {.name = "gemma3", .model_type = "gemma3_text", .rope = half_split, .near = Near::base_10000},
      {.name = "gpt-oss", .model_type = "gpt_oss", .rope = half_split, .near = Near::same_base},
      {.name = "gptneox", .model_type = "gpt_neox", .rope = half_split},
      {.name = "grovemoe", .rope = half_split},
      {.name = "hunyuan-moe", .model_type = "hunyuan_v1_moe", .rope = half_split},
      {.name = "jais2", .model_type = "jais2", .rope = half_split},
      {.name = "llada-moe", .rope = half_split},
      {.name = "minimax-m2", .model_type = "minimax_m2", .rope = half_split},
      {.name = "nemotron", .model_type = "nemotron", .rope = half_split},
      {.name = "olmoe", .model_type = "olmoe", .rope = half_split},
      {.name = "openelm", .rope = half_split},
      {.name = "orion", .rope = half_split},
      {.name = "pangu-embedded", .rope = half_split},
      {.name = "phi2", .model_type = "phi", .rope = half_split},
      {.name = "phi3", .model_type = "phi3", .rope = half_split},
      {.name = "phimoe", .model_type = "phimoe", .rope = half_split},
      {.name = "qwen", .rope = half_split},
      {.name = "qwen2", .model_type = "qwen2", .rope = half_split},
      {.name = "qwen2moe", .model_type = "qwen2_moe", .rope = half_split},
      {.name = "qwen3", .model_type = "qwen3", .rope = half_split},
      {.name = "qwen3moe", .model_type = "qwen3_moe", .rope = half_split},
      {.name = "qwen3next", .model_type = "qwen3_next", .rope = half_split},
      {.name = "rnd1", .rope = half_split},
      {.name = "seed_oss", .model_type = "seed_oss", .rope = half_split},
      {.name = "stablelm", .model_type = "stablelm", .rope = half_split},
      {.name = "starcoder2", .model_type = "starcoder2", .rope = half_split},

      {.name = "qwen2vl", .model_type = "qwen2_vl_text", .rope = chunked_axes},
      {.name = "qwen35", .model_type = "qwen3_5_text", .rope = interleaved_axes},
      {.name = "qwen35moe", .model_type = "qwen3_5_moe_text", .rope = interleaved_axes},
      {.name = "qwen3vl", .model_type = "qwen3_vl_text", .rope = interleaved_axes},
      {.name = "qwen3vlmoe", .model_type = "qwen3_vl_moe_text", .rope = interleaved_axes},

      {.name = "bloom", .rope = none},
      {.name = "clip", .rope = none},
      {.name = "gpt2", .rope = none},
      {.name = "gptj", .rope = none},
      {.name = "jais", .rope = none},
      {.name = "jamba", .rope = none},
      {.name = "jina-bert-v2", .rope = none},
      {.name = "mamba", .rope = none},
      {.name = "mamba2", .rope = none},
      {.name = "mpt", .rope = none},
      {.name = "nemotron_h", .rope = none},
      {.name = "refact", .rope = none},
      {.name = "rwkv6", .rope = none},
      {.name = "rwkv7", .rope = none},
      {.name = "t5", .rope = none},
      {.name = "t5encoder", .rope = none},
  };
  return all;
}

}  // namespace

const GgufArchitecture* gguf_architecture(std::string_view name) {
  const auto all = all_architectures();
  const auto found = std::ranges::find(all, name, &GgufArchitecture::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> gguf_architectures() {
  std::vector<std::string_view> names;
  for (const GgufArchitecture& row : all_architectures()) names.push_back(row.name);
  return names;
}

}  // namespace rope
