// Which scaling rule, with which numbers, and which axes a config.json means.
#include <catch2/catch.hpp>
#include <cmath>

#include "reference/input_error.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/reference/read_model.hpp"

namespace rope {
namespace {

using Catch::Contains;
using of_config::guessed, of_config::only, of_config::read, of_config::said;

TEST_CASE("model config: a rule is what the type's class takes its name for") {
  for (const char* name : {"ntk", "none", "constant", "mrope", "pixel", "su"}) {
    CAPTURE(name);
    const std::string text = fmt::format(
        R"({{"model_type":"llama","head_dim":4,"rope_scaling":{{"type":"{}","factor":2.0,"alpha":2.0,
        "short_factor":[1.0,1.0],"long_factor":[2.0,2.0]}}}})", name);
    CHECK_THROWS_WITH(read(text), Contains(fmt::format(".type: \"{}\" is not a rule of transformers", name)));
  }
  CHECK_THROWS_WITH(read(R"({"model_type":"llama","rope_scaling":{"type":"mrope","mrope_section":[16,24,24]}})"),
                    Contains(".type: \"mrope\" is not a rule of transformers"));
  CHECK(guessed(R"({"model_type":"llama","rope_scaling":{"type":"ntk","factor":2.0}})").ropes.size() == 1);
  for (const char* name : {"su", "yarn", "longrope"}) {
    CAPTURE(name);
    const std::string text = fmt::format(R"({{"model_type":"phi3","hidden_size":16,"num_attention_heads":4,
        "max_position_embeddings":8192,"original_max_position_embeddings":4096,
        "rope_scaling":{{"type":"{}","short_factor":[1.0,1.5],"long_factor":[2.0,3.0]}}}})", name);
    CHECK(std::holds_alternative<scaling::LongRope>(only(text).scaling));
    const std::string words = fmt::format("\"{}\" means \"longrope\"", name);
    CHECK((said(read(text)).find(words) != std::string::npos) == (std::string(name) != "longrope"));
  }
  CHECK_THROWS_WITH(read(R"({"model_type":"phi3","rope_scaling":{"type":"linear","factor":2.0}})"),
                    Contains("refuses rule \"linear\""));
  const char* old = R"({"model_type":"gemma3_text","rope_scaling":{"type":"linear","factor":8.0}})";
  CHECK_THROWS_WITH(read(old), Contains(".rope_scaling.type: gemma3_text of transformers 5.23.0 reads only rope_type"));
}

TEST_CASE("model config: ntk is vLLM's fixed and mixed NTK, as a guess") {
  const auto read_ntk = [](const char* more) {
    const std::string text = fmt::format(R"({{"model_type":"llama","head_dim":128,"rope_theta":1e4,
      "rope_scaling":{{"rope_type":"ntk","factor":8.0{}}}}})", more);
    CHECK_THROWS_WITH(read(text), Contains("\"ntk\" is not a rule of transformers"));
    return guessed(text);
  };
  const ModelConfig model = read_ntk("");
  CHECK_THAT(said(model), Contains("\"ntk\" is read as vLLM's rule"));
  const RotationPlan fixed = compile(model.ropes[0].spec, 100);
  const RotationPlan mixed = compile(read_ntk(R"(,"mixed_b":0.625)").ropes[0].spec, 100);
  CHECK(fixed.lambda == 1);
  for (int p = 0; p < 64; ++p) {
    CAPTURE(p);
    // As vllm/model_executor/layers/rotary_embedding/ntk_scaling_rope.py.
    const double stretched = std::pow(1e4 * 8, -p / 64.0) / std::pow(8, 2 / 128.0);
    const double a = std::log(8) / std::pow(64, 0.625);
    const double unequal = std::pow(1e4, -p / 64.0) / std::exp(a * std::pow(p + 1, 0.625));
    CHECK(fixed.pairs[static_cast<std::size_t>(p)].theta.to_double() == Approx(stretched).epsilon(1e-13));
    CHECK(mixed.pairs[static_cast<std::size_t>(p)].theta.to_double() == Approx(unequal).epsilon(1e-13));
  }
  const char* bare = R"({"model_type":"llama","head_dim":128,"rope_scaling":{"rope_type":"ntk"}})";
  CHECK_THROWS_WITH(guessed(bare), Contains("vLLM's rule ntk needs factor"));
}

TEST_CASE("model config: Phi-4-mini's longrope turns a part of the head") {
  std::string lists = "[1.0";
  for (int i = 1; i < 48; ++i) lists += ",1.0";
  lists += "]";
  const std::string text = fmt::format(R"({{"model_type":"phi3","hidden_size":3072,"num_attention_heads":24,
    "partial_rotary_factor":0.75,"rope_theta":1e4,"max_position_embeddings":131072,
    "original_max_position_embeddings":4096,
    "rope_scaling":{{"type":"longrope","short_factor":{0},"long_factor":{0}}}}})", lists);
  const RopeSpec spec = only(text);
  CHECK(spec.head_dim == 128);
  CHECK(spec.rotary_dim == 96);
}

TEST_CASE("model config: Llama 4 has one boundary of wavelengths", "[model_config]") {
  const RopeSpec scout = only(R"({"model_type":"llama4","text_config":{"model_type":"llama4_text","head_dim":128,
    "max_position_embeddings":10485760,"rope_theta":500000.0,"rope_scaling":{"rope_type":"llama3","factor":16.0,
    "low_freq_factor":1.0,"high_freq_factor":1.0,"original_max_position_embeddings":8192}}})");
  CHECK(scout.pairing == Pairing::interleaved);
  CHECK(std::get<scaling::Llama3>(scout.scaling).high_freq_factor == 1);
}

TEST_CASE("model config: lengths and factors come from the fields that transformers reads") {
  const char* phi3 = R"({"model_type":"phi3","hidden_size":16,"num_attention_heads":4,"max_position_embeddings":131072,
    "original_max_position_embeddings":4096,"rope_theta":1e4,
    "rope_scaling":{"type":"longrope","short_factor":[1.0,1.5],"long_factor":[2.0,3.0]}})";
  const auto longrope = std::get<scaling::LongRope>(only(phi3).scaling);
  CHECK(longrope.factor == 32);
  CHECK(longrope.original_max_position_embeddings == 4096);
  const RopeSpec yarn = only(R"({"model_type":"llama","head_dim":64,"max_position_embeddings":32768,"rope_theta":1e4,
    "rope_scaling":{"type":"yarn","factor":4.0,"attention_factor":0.5,"original_max_position_embeddings":8192}})");
  CHECK(std::get<scaling::Yarn>(yarn.scaling).original_max_position_embeddings == 8192);
  CHECK(yarn.attention_factor == 0.5);
  const ModelConfig dynamic = read(R"({"model_type":"llama","head_dim":64,"max_position_embeddings":2048,
    "rope_theta":1e4,"rope_scaling":{"type":"dynamic","factor":2.0}})");
  CHECK(std::get<scaling::Dynamic>(dynamic.ropes[0].spec.scaling).original_max_position_embeddings == 2048);
  const ModelConfig assumed = read(R"({"model_type":"llama","head_dim":64,"max_position_embeddings":32768,
    "rope_theta":1e4,"rope_scaling":{"type":"yarn","factor":4.0}})");
  CHECK(std::get<scaling::Yarn>(assumed.ropes[0].spec.scaling).original_max_position_embeddings == 32768);
  CHECK(said(assumed) == "original_max_position_embeddings is not there: max_position_embeddings, 32768");
}

TEST_CASE("model config: attention_factor counts for yarn and longrope only, as in transformers") {
  for (const char* rule : {R"("type":"linear","factor":4.0)", R"("type":"dynamic","factor":4.0)", R"("type":"default")",
                           R"("type":"proportional")",
                           R"("type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
                              "original_max_position_embeddings":8192)"}) {
    CAPTURE(rule);
    const ModelConfig model = read(fmt::format(R"({{"model_type":"llama","head_dim":64,"max_position_embeddings":8192,
      "rope_theta":1e4,"rope_scaling":{{{},"attention_factor":0.5}}}})", rule));
    CHECK_FALSE(model.ropes[0].spec.attention_factor.has_value());
    CHECK_THAT(said(model), Contains(".rope_scaling.attention_factor: 0.5 is passed over"));
  }
  const RopeSpec longrope = only(R"({"model_type":"llama","head_dim":4,"max_position_embeddings":8192,"rope_theta":1e4,
    "rope_scaling":{"type":"longrope","factor":4.0,"short_factor":[1.0,1.0],"long_factor":[2.0,2.0],
    "original_max_position_embeddings":2048,"attention_factor":0.5}})");
  CHECK(longrope.attention_factor == 0.5);
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
  CHECK(said(silent) == "mrope_section is not there: 16, 24, 24, the default of qwen2_vl_text in transformers 5.23.0");
}

TEST_CASE("model config: rule axial of vision towers is two axes that start again") {
  const std::string tower = R"({"model_type":"qwen3_vl_vision","hidden_size":1152,"num_heads":16)";
  const RopeSpec qwen = only(tower + "}");
  CHECK((qwen.head_dim == 72 && qwen.rotary_dim == 72 && qwen.base == 10000 && qwen.axes.restart));
  CHECK(qwen.axes.sections == std::vector<int>{18, 18});
  CHECK(only(tower + R"(,"rope_parameters":{"rope_type":"axial","rope_theta":500.0}})").base == 500);
  CHECK_THROWS_WITH(read(tower + R"(,"rope_parameters":{"rope_type":"linear","factor":2.0}})"),
                    Contains("takes only rule \"axial\", not \"linear\""));
  CHECK_THROWS_WITH(read(R"({"model_type":"qwen3_vl_vision","hidden_size":1056,"num_heads":16})"),
                    Contains("33 pairs cannot be shared by two axes"));
}

TEST_CASE("model config: an unknown type's axes in turn are a guess: there are two such orders") {
  const auto text = [](bool in_turn) {
    return fmt::format(R"({{"model_type":"new","head_dim":128,"rope_theta":1e4,"rope_interleave":true,
      "rope_scaling":{{"type":"mrope","mrope_section":[16,24,24],"mrope_interleaved":{}}}}})", in_turn);
  };
  CHECK_THROWS_WITH(read(text(true)), Contains("mrope_interleaved: the order of Qwen3-VL"));
  CHECK(guessed(text(true)).ropes[0].spec.axes.order == AxisLayout::Order::interleaved);
  CHECK(read(text(false)).ropes[0].spec.axes.order == AxisLayout::Order::chunked);
  std::string pangu = text(true);
  pangu.replace(pangu.find("mrope"), 5, "openpangu");
  CHECK(read(pangu).ropes[0].spec.axes.order == AxisLayout::Order::spread);
}

}  // namespace
}  // namespace rope
