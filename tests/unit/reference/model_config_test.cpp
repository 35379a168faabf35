#include "reference/model_config.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"

namespace rope {
namespace {

using Catch::Contains;

ModelConfig read(const char* text) { return model_config_from_json(text, "config.json"); }

RopeSpec only(const char* text) {
  const ModelConfig model = read(text);
  REQUIRE(model.ropes.size() == 1);
  return model.ropes[0].spec;
}

TEST_CASE("model config: Llama's fields, of either generation", "[model_config]") {
  const ModelConfig old = read(R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,
    "max_position_embeddings":131072,"rope_theta":500000.0,"torch_dtype":"bfloat16","head_dim":null,
    "rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
    "original_max_position_embeddings":8192}})");
  REQUIRE(old.ropes.size() == 1);
  const RopeSpec& spec = old.ropes[0].spec;
  CHECK(spec.head_dim == 128);
  CHECK(spec.rotary_dim == 128);
  CHECK(spec.pairing == Pairing::half_split);
  CHECK(spec.base == 500000);
  REQUIRE(std::holds_alternative<scaling::Llama3>(spec.scaling));
  CHECK(std::get<scaling::Llama3>(spec.scaling).original_max_position_embeddings == 8192);
  CHECK(old.max_position_embeddings == 131072);
  CHECK(old.dtype == DType::bf16);
  CHECK(old.assumed.empty());
  const ModelConfig later = read(R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"head_dim":128,
    "max_position_embeddings":131072,"dtype":"bfloat16","rope_parameters":{"rope_type":"llama3","rope_theta":500000.0,
    "factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192}})");
  CHECK(later.ropes[0].spec == spec);
  CHECK(later.dtype == old.dtype);
}

TEST_CASE("model config: the pairing of an unknown model is marked as a guess", "[model_config]") {
  const ModelConfig unknown = read(R"({"model_type":"llamma","head_dim":64,"rope_theta":1e4})");
  CHECK(unknown.ropes[0].spec.pairing == Pairing::half_split);
  CHECK(unknown.guessed_pairing == Pairing::half_split);
  CHECK(read(R"({"head_dim":64,"rope_theta":1e4})").guessed_pairing);
  for (const char* known : {"llama", "qwen3", "gpt_oss", "gemma3_text", "llama4_text", "deepseek_v3"}) {
    const std::string text = fmt::format(R"({{"model_type":"{}","head_dim":64,"rope_theta":1e4}})", known);
    CHECK_FALSE(read(text.c_str()).guessed_pairing);
  }
  CHECK_FALSE(read(R"({"model_type":"new","head_dim":64,"rope_theta":1e4,"rope_interleave":true})").guessed_pairing);
}

TEST_CASE("model config: Llama 4 has one boundary of wavelengths", "[model_config]") {
  const RopeSpec scout = only(R"({"model_type":"llama4","text_config":{"model_type":"llama4_text","head_dim":128,
    "max_position_embeddings":10485760,"rope_theta":500000.0,"rope_scaling":{"rope_type":"llama3","factor":16.0,
    "low_freq_factor":1.0,"high_freq_factor":1.0,"original_max_position_embeddings":8192}}})");
  CHECK(scout.pairing == Pairing::interleaved);
  CHECK(std::get<scaling::Llama3>(scout.scaling).high_freq_factor == 1);
}

TEST_CASE("model config: missing fields of a file are named", "[model_config]") {
  const ModelConfig first = read(R"({"model_type":"llama","hidden_size":64,"num_attention_heads":2})");
  CHECK(first.ropes[0].spec.base == 10000);
  REQUIRE(first.assumed.size() == 1);
  CHECK_THAT(first.assumed[0], Contains("rope_theta"));
  CHECK_FALSE(first.max_position_embeddings.has_value());
}

TEST_CASE("model config: part of the head, by each of its names", "[model_config]") {
  CHECK(only(R"({"head_dim":128,"rope_theta":1e4,"partial_rotary_factor":0.5})").rotary_dim == 64);
  CHECK(only(R"({"hidden_size":6144,"num_attention_heads":64,"rotary_pct":0.25,"rotary_emb_base":10000})").rotary_dim ==
        24);
  CHECK(only(R"({"head_dim":256,"rope_parameters":{"rope_theta":1e4,"partial_rotary_factor":0.25}})").rotary_dim == 64);
  const RopeSpec gptj = only(R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":64})");
  CHECK(gptj.head_dim == 256);
  CHECK(gptj.rotary_dim == 64);
  CHECK(gptj.pairing == Pairing::interleaved);
  const RopeSpec proportional = only(
      R"({"head_dim":256,"rope_parameters":{"rope_type":"proportional","rope_theta":1e6,"partial_rotary_factor":0.25}})");
  CHECK(proportional.rotary_dim == 256);
  CHECK(std::get<scaling::Proportional>(proportional.scaling).proportion == 0.25);
}

TEST_CASE("model config: lengths and factors come from the fields that transformers reads", "[model_config]") {
  const char* phi3 = R"({"model_type":"phi3","head_dim":4,"max_position_embeddings":131072,
    "original_max_position_embeddings":4096,"rope_theta":1e4,
    "rope_scaling":{"type":"su","short_factor":[1.0,1.5],"long_factor":[2.0,3.0]}})";
  const auto longrope = std::get<scaling::LongRope>(only(phi3).scaling);
  CHECK(longrope.factor == 32);
  CHECK(longrope.original_max_position_embeddings == 4096);
  const RopeSpec yarn = only(R"({"head_dim":64,"max_position_embeddings":32768,"rope_theta":1e4,
    "rope_scaling":{"type":"yarn","factor":4.0,"attention_factor":0.5,"original_max_position_embeddings":8192}})");
  CHECK(std::get<scaling::Yarn>(yarn.scaling).original_max_position_embeddings == 8192);
  CHECK(yarn.attention_factor == 0.5);
  const ModelConfig dynamic = read(R"({"head_dim":64,"max_position_embeddings":2048,"rope_theta":1e4,
    "rope_scaling":{"type":"dynamic","factor":2.0}})");
  CHECK(std::get<scaling::Dynamic>(dynamic.ropes[0].spec.scaling).original_max_position_embeddings == 2048);
  const ModelConfig assumed = read(R"({"head_dim":64,"max_position_embeddings":32768,"rope_theta":1e4,
    "rope_scaling":{"type":"yarn","factor":4.0}})");
  CHECK(std::get<scaling::Yarn>(assumed.ropes[0].spec.scaling).original_max_position_embeddings == 32768);
  REQUIRE(assumed.assumed.size() == 1);
  CHECK_THAT(assumed.assumed[0], Contains("original_max_position_embeddings"));
}

TEST_CASE("model config: layers of two kinds have two ropes", "[model_config]") {
  const ModelConfig nested = read(R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","head_dim":256,
    "rope_parameters":{"sliding_attention":{"rope_type":"default","rope_theta":1e4},
    "full_attention":{"rope_type":"linear","factor":8.0,"rope_theta":1e6}}},"dtype":"bfloat16"})");
  REQUIRE(nested.ropes.size() == 2);
  CHECK(nested.ropes[0].layers == "sliding_attention");
  CHECK(nested.ropes[0].spec.base == 10000);
  CHECK(nested.ropes[1].layers == "full_attention");
  CHECK(nested.ropes[1].spec.base == 1000000);
  CHECK(std::holds_alternative<scaling::Linear>(nested.ropes[1].spec.scaling));
  CHECK(nested.dtype == DType::bf16);
  const ModelConfig old = read(R"({"model_type":"gemma3_text","head_dim":256,"rope_theta":1e6,
    "rope_local_base_freq":1e4,"rope_scaling":{"rope_type":"linear","factor":8.0}})");
  REQUIRE(old.ropes.size() == 2);
  CHECK(old.ropes[0].spec == nested.ropes[1].spec);
  CHECK(old.ropes[1].spec == nested.ropes[0].spec);
}

TEST_CASE("model config: axes of models for pictures", "[model_config]") {
  const RopeSpec qwen = only(R"({"model_type":"qwen2_vl","hidden_size":8192,"num_attention_heads":64,"rope_theta":1e6,
    "rope_scaling":{"type":"mrope","mrope_section":[16,24,24]}})");
  CHECK(qwen.axes.sections == std::vector<int>{16, 24, 24});
  CHECK(qwen.axes.order == AxisLayout::Order::chunked);
  const RopeSpec alternating = only(R"({"model_type":"qwen3_vl_text","head_dim":128,"rope_parameters":{"rope_theta":5e6,
    "rope_type":"default","mrope_interleaved":true,"mrope_section":[24,20,20]}})");
  CHECK(alternating.axes.order == AxisLayout::Order::interleaved);
  const ModelConfig silent = read(R"({"model_type":"qwen2_vl_text","head_dim":128,"rope_theta":1e6})");
  CHECK(silent.ropes[0].spec.axes.sections == std::vector<int>{16, 24, 24});
  CHECK(silent.assumed.size() == 1);
}

TEST_CASE("model config: DeepSeek's rope turns a part of the head, and says how it pairs", "[model_config]") {
  const RopeSpec spec = only(R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"hidden_size":7168,
    "num_attention_heads":128,"rope_interleave":true,"rope_theta":1e4})");
  CHECK(spec.head_dim == 64);
  CHECK(spec.pairing == Pairing::interleaved);
  CHECK(
      only(R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"rope_interleave":false,"rope_theta":1e4})").pairing ==
      Pairing::half_split);
}

TEST_CASE("model config: unreadable values are named with their field", "[model_config]") {
  const auto says = [](const char* text, const char* words) {
    CHECK_THROWS_WITH(read(text), Contains(words) && Contains("config.json"));
  };
  says("[1]", "expected an object");
  says("{", "byte 1");
  says(R"({"model_type":"bert","hidden_size":768,"num_attention_heads":12})", "nothing in it tells of rope");
  says(R"({"rope_theta":1e4})", "hidden_size");
  says(R"({"rope_theta":"much","head_dim":64})", ".rope_theta: expected a number");
  says(R"({"head_dim":64,"rope_scaling":{"type":"spiral"}})", ".rope_scaling.type: scaling kind \"spiral\"");
  says(R"({"head_dim":64,"rope_scaling":{"type":"spiral"}})", "use one of none, linear");
  says(R"({"head_dim":64,"rope_parameters":{"rope_type":"yarm"}})",
       ".rope_parameters.rope_type: scaling kind \"yarm\" is not known; did you mean yarn? use one of none");
  says(R"({"head_dim":64,"rope_scaling":7})", ".rope_scaling: expected an object");
  says(R"({"head_dim":64,"rope_scaling":{"type":"linear"}})", "factor: missing");
  says(R"({"head_dim":7,"rope_theta":1e4})", "rotary_dim is 7");
  says(R"({"model_type":"ernie4_5_vl_moe_text","head_dim":64,"rope_theta":1e4})", "laid out");
  says(R"({"model_type":"qwen2_vl","head_dim":128,"rope_scaling":{"type":"mrope","mrope_section":[1,2]}})",
       "axes.sections add up to 3");
}

}  // namespace
}  // namespace rope
