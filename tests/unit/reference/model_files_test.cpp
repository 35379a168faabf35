// Released files, written as our own small ones: tests/models/configs. model_types_test.py compares those that are read
// with the classes of transformers.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "reference/input_error.hpp"
#include "reference/model_config.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

using Words = std::vector<std::string>;
const Words none;

// What is said about a file, and the specs of its ropes; "refused", and the words of the reason.
const std::map<std::string, std::pair<Words, Words>> files = {
    {"axk2", {{"qk_rope_head_dim is not there: 32"}, {"interleaved"}}},
    {"bailing_hybrid", {{"the default of bailing_hybrid"}, {R"(64,"pairing":"interleaved","base":6000000.0)"}}},
    {"bailing_vl", {{"refused"}, {"mrope_interleaved", "pairing half_split"}}},
    {"both_dictionaries", {{"rope_scaling counts"}, {R"("base":20000.0,"scaling":{"kind":"linear","factor":2.0})"}}},
    {"chatglm3", {{"refused"}, {"rope_ratio: 500 is not understood", "pairing half_split"}}},
    {"cohere2", {{"full_attention layers of cohere2 have no rope"}, {R"("pairing":"interleaved","base":50000.0)"}}},
    {"dbrx", {{"refused"}, {"attn_config.rope_theta: 500000 is not understood"}}},
    {"deepseek_v32", {none, {R"("rotary_dim":64,"pairing":"interleaved")"}}},
    {"deepseek_v4",
     {{"does not apply to main layers", "attention_factor is not there: 1", "features from 448 rotate; for a kernel"},
      {R"(main: {"head_dim":512,"rotary_dim":64,"rotary_offset":448,"pairing":"interleaved","base":10000.0)",
       R"(compress: {"head_dim":512,"rotary_dim":64,"rotary_offset":448,"pairing":"interleaved","base":160000.0)",
       R"("attention_factor":1.0)"}}},
    {"dots3_note",
     {none,
      {R"(indexed_attention: {"head_dim":64,"rotary_dim":64,"pairing":"interleaved","base":80000000.0)",
       R"(sliding_attention: {"head_dim":64,"rotary_dim":64,"pairing":"interleaved","base":50000.0)"}}},
    {"eomt_dinov3", {{"refused"}, {"does not take the positions of tokens"}}},
    {"exaone4", {{"full_attention layers of exaone4 have no rope"}, {R"("head_dim":128)"}}},
    {"falcon_7b", {{"rope_theta is not there: 10000, the default of falcon"}, {R"("head_dim":64)"}}},
    {"gemma3_12b",
     {{"head_dim is not there: 256, the default of gemma3_text"},
      {R"(full_attention: {"head_dim":256,"rotary_dim":256,"pairing":"half_split","base":1000000.0)",
       R"({"kind":"linear","factor":8.0})",
       R"(sliding_attention: {"head_dim":256,"rotary_dim":256,"pairing":"half_split","base":10000.0)"}}},
    {"gemma3_27b",
     {{"rope_theta (full_attention) is not there: 1000000"},
      {R"(full_attention: {"head_dim":128,"rotary_dim":128,"pairing":"half_split","base":1000000.0)",
       R"(sliding_attention: {"head_dim":128,"rotary_dim":128,"pairing":"half_split","base":10000.0)"}}},
    {"gemma3_4b", {{"head_dim is not there: 256"}, {R"(full_attention: {"head_dim":256,)", R"("kind":"linear")"}}},
    {"gemma4_saved",
     {{"full_attention: layers 1\n"},
      {R"(full_attention: {"head_dim":512,)", R"(sliding_attention: {"head_dim":256,)"}}},
    {"glm_moe_dsa", {{"the default of glm_moe_dsa"}, {"interleaved"}}},
    {"granite_swa", {{"layers without rope: 1"}, {"rope_theta=10000: ", "rope_theta=500000: ", R"("base":500000.0)"}}},
    {"hunyuan_7b", {{"mscale: 1.0 is passed over"}, {R"("base":10000.0,"scaling":{"kind":"ntk","factor":1000.0})"}}},
    {"jetmoe_8b", {{"not known: whether all layers of jetmoe have rope"}, {R"("head_dim":128,"rotary_dim":128)"}}},
    {"kimi_k2", {{"read as deepseek_v3, by architectures"}, {R"("pairing":"interleaved","base":50000.0)"}}},
    {"llama4_scout", {{"layers without rope: 3, 7, 11, 15, 19, 23, 27, 31 .."}, {R"("pairing":"interleaved")"}}},
    {"longcat_flash", {{"the default of longcat_flash"}, {"interleaved"}}},
    {"mimo_v2_flash", {{"refused"}, {"swa_rope_theta: 10000 is not understood"}}},
    {"mistral_large4_text", {{"rule yarn, the default of"}, {R"("pairing":"interleaved")", R"("kind":"yarn")"}}},
    {"mistral_small_4", {{"llama_4_scaling_beta: 0.1 is passed over"}, {R"("head_dim":64,"rotary_dim":64)", "yarn"}}},
    {"modernbert", {none, {R"("base":160000.0)", R"("base":10000.0)"}}},
    {"moonshine", {none, {R"("head_dim":36,"rotary_dim":32,"pairing":"interleaved")"}}},
    {"musicflamingo", {{"refused"}, {"rope_parameters is not the language model's"}}},
    {"nemotron_old", {{"refused"}, {"rope_percent: 0.5 is not understood"}}},
    {"nomic_embed", {{"refused"}, {"rotary_scaling_factor: 2 is not understood"}}},
    {"olmo3_7b",
     {{"does not apply to sliding_attention layers"},
      {R"(full_attention: {"head_dim":128,"rotary_dim":128,"pairing":"half_split","base":500000.0,)",
       R"("scaling":{"kind":"yarn")", R"(sliding_attention: {"head_dim":128,)",
       R"("base":500000.0,"scaling":{"kind":"none")"}}},
    {"openai_privacy_filter", {{"rule yarn, the default of"}, {R"("pairing":"interleaved","base":150000.0)"}}},
    {"pe_audio_encoder", {{"the default of pe_audio_encoder"}, {R"("pairing":"interleaved","base":20000.0)"}}},
    {"pe_video_encoder", {{"the default of pe_video_encoder"}, {R"("pairing":"interleaved","base":20000.0)"}}},
    {"phimoe", {none, {R"("kind":"longrope","factor":32.0)", R"("attention_factor":1.24)"}}},
    {"pixtral_vision", {{"refused"}, {"axial"}}},
    {"smollm3", {{"layers without rope: 3, 7, 11, 15, 19, 23, 27, 31 .."}, {R"("base":5000000.0)"}}},
    {"zamba2", {{"whether all layers of zamba2 have rope"}, {R"("head_dim":160,"rotary_dim":160)"}}},
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A line for each sentence and each rope.
std::pair<std::string, std::string> read_released(const std::filesystem::path& path) {
  try {
    const ModelConfig model = read_model_config(content_of(path), path.filename().string());
    std::string specs;
    for (const ModelRope& rope : model.ropes) specs += fmt::format("{}: {}\n", rope.layers, to_json(rope.spec));
    return {fmt::format("{}\n", fmt::join(model.assumed, "\n")), specs};
  } catch (const InputError& error) {
    return {"refused", error.what()};
  }
}

TEST_CASE("model files: each is read right, or refused with the reason") {
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests/models/configs")) {
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    REQUIRE(files.contains(name));
    const auto& [words, ropes] = files.at(name);
    const auto [said, specs] = read_released(entry.path());
    for (const std::string& word : words) CHECK_THAT(said, Catch::Contains(word));
    for (const std::string& word : ropes) CHECK_THAT(specs, Catch::Contains(word));
    if (words.empty()) CHECK(said == "\n");
  }
}

}  // namespace
}  // namespace rope
