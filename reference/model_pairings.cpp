#include "reference/model_pairings.hpp"

#include <algorithm>

namespace rope {
namespace {

constexpr std::string_view interleaved[] = {
    "blt",          "codegen",      "cohere", "cohere2", "cohere2_moe", "deepseek_v2", "deepseek_v3",
    "ernie4_5",     "ernie4_5_moe", "glm",    "glm4",    "glm4v",       "glm4v_text",  "glm_ocr",
    "glm_ocr_text", "gptj",         "helium", "llama4",  "llama4_text", "moonshine",   "moonshine_streaming"};

// clang-format off
constexpr std::string_view half_split[] = {
    "afmoe", "apertus", "arcee", "aria", "aria_text", "bamba", "beam", "bitnet", "chameleon", "clvp", "clvp_decoder",
    "cohere_compass", "cohere_compass_text", "cosmos3_edge", "cosmos3_edge_text", "csm", "cwm", "dbrx",
    "deepseek_ocr2", "deepseek_ocr2_text", "dia", "dia_decoder", "diffllama", "diffusion_gemma",
    "diffusion_gemma_text", "dinov3_vit", "doge", "dots1", "embedding_gemma2", "embedding_gemma2_text", "emu3",
    "emu3_text_model", "eomt_dinov3", "esm", "esmc", "esmfold2", "eurobert", "evolla", "exaone4", "exaone4_5",
    "exaone_moe", "falcon", "falcon_h1", "flex_olmo", "flint", "gemma", "gemma2", "gemma3", "gemma3_text", "gemma3n",
    "gemma3n_text", "gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text", "glm4_moe", "glm4v_moe",
    "glm4v_moe_text", "glm5_next", "glm5_next_text", "glm_image", "glm_image_text", "glmasr", "gpt_neox",
    "gpt_neox_japanese", "gpt_oss", "gradium_phonon_tts", "granite", "granite_docling", "granite_docling_text",
    "granite_swa", "granitemoe", "granitemoe_swa", "granitemoehybrid", "granitemoeshared", "gte", "hrm_text",
    "hunyuan_v1_dense", "hunyuan_v1_moe", "hunyuan_vl", "hunyuan_vl_text", "hy_v3", "hy_v4", "hyperclovax", "idefics",
    "jais2", "jamba", "jetmoe", "jina_embeddings_v3", "kimi_k25", "kolibri1", "kyutai_speech_to_text", "laguna",
    "lasr_ctc", "lfm2", "lfm2_moe", "lfm3", "lfm3_vl", "llama", "mellum", "mimi", "mimi_decoder", "mimo_v2_flash",
    "minicpm3", "minimax", "minimax_m2", "minimax_m3_vl", "minimax_m3_vl_text", "ministral", "ministral3", "mistral",
    "mixtral", "mllama", "mllama_text_model", "modernbert", "modernbert-decoder", "molmo2", "molmo2_text", "moshi",
    "moshi_depth", "muse_glimmer", "muse_glimmer_text", "muse_spark", "muse_spark_text", "nanochat", "nemotron",
    "nemotron_asr_streaming", "nemotron_h", "neucodec", "nomic_bert", "olmo", "olmo2", "olmo3", "olmo_hybrid", "olmoe",
    "paddleocr_vl", "paddleocr_vl_text", "parakeet_ctc", "parakeet_rnnt", "parakeet_tdt", "persimmon", "phi", "phi3",
    "phi4_multimodal", "phimoe", "pocket_tts", "qwen2", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_moe", "qwen2_vl",
    "qwen2_vl_text", "qwen3", "qwen3_5", "qwen3_5_moe", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe", "qwen3_next",
    "qwen3_omni_moe", "qwen3_omni_moe_talker_text", "qwen3_omni_moe_text", "qwen3_omni_moe_thinker", "qwen3_vl",
    "qwen3_vl_moe", "qwen3_vl_moe_text", "qwen3_vl_text", "qwen4_exp", "qwen4_exp_text", "recurrent_gemma", "sapiens2",
    "seed_oss", "smollm3", "solar_open", "stablelm", "starcoder2", "step3p5", "step3p7", "t5gemma", "t5gemma2",
    "t5gemma2_decoder", "t5gemma2_text", "ultrabert", "unlimited_ocr", "unlimited_ocr_text", "vaultgemma",
    "video_llama_3", "voxtral_realtime", "voxtral_realtime_text", "xcodec2", "zamba2", "zaya"};
// clang-format on

}  // namespace

std::optional<Pairing> pairing_of_model(std::string_view model_type) {
  const auto is_among = [&](const auto& names) { return std::ranges::find(names, model_type) != std::end(names); };
  if (is_among(interleaved)) return Pairing::interleaved;
  if (is_among(half_split)) return Pairing::half_split;
  return std::nullopt;
}

}  // namespace rope
