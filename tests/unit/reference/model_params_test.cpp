// Ropes from params.json of Meta and Mistral.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "reference/model_config.hpp"

namespace rope {
namespace {

using Catch::Contains;

ModelConfig of_params(const std::string& text) { return read_model_config(text, "params.json"); }

std::string lines_of_params(const ModelConfig& model) { return fmt::format("{}", fmt::join(model.assumed, "\n")); }

void refuses_params(const std::string& text, const std::string& words) {
  CHECK_THROWS_WITH(of_params(text), Contains("params.json") && Contains(words));
}

TEST_CASE("model params: the numbers of Meta's scaled rope are in its code") {
  const ModelConfig llama = of_params(R"({"dim":4096,"n_layers":32,"n_heads":32,"n_kv_heads":8,"vocab_size":128256,
    "ffn_dim_multiplier":1.3,"multiple_of":1024,"norm_eps":1e-05,"rope_theta":500000.0,"use_scaled_rope":true})");
  REQUIRE(llama.ropes.size() == 1);
  RopeSpec same = read_model_config(R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,
    "rope_theta":5e5,"rope_scaling":{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,
    "original_max_position_embeddings":8192}})", "config.json").ropes[0].spec;
  same.pairing = Pairing::interleaved;
  CHECK(llama.ropes[0].spec == same);
  CHECK_THAT(lines_of_params(llama), Contains("factor 8, high_freq_factor 4, as in the code of Llama 3") &&
                                         Contains("the pairing is interleaved"));
  refuses_params(R"({"dim":2048,"n_heads":32,"rope_theta":5e5,"use_scaled_rope":true})",
                 "the config.json of Llama 3.2 has factor 32");
  const ModelConfig scout = of_params(R"({"dim":5120,"n_heads":40,"n_kv_heads":8,"head_dim":128,"rope_theta":5e5,
    "use_scaled_rope":true,"nope_layer_interval":4,"moe_args":{"num_experts":16}})");
  const auto rule = std::get<scaling::Llama3>(scout.ropes[0].spec.scaling);
  CHECK(rule.factor == 16);
  CHECK(rule.high_freq_factor == 1);
  CHECK_THAT(lines_of_params(scout), Contains("every 4. layer has no rope"));
  const auto given = of_params(R"({"dim":2048,"n_heads":16,"rope_theta":5e5,"use_scaled_rope":true,
    "rope_scaling_factor":12,"rope_high_freq_factor":2})").ropes[0].spec;
  CHECK(std::get<scaling::Llama3>(given.scaling).factor == 12);
  CHECK(std::get<scaling::Llama3>(given.scaling).high_freq_factor == 2);
  refuses_params(R"({"dim":5120,"n_heads":40,"head_dim":64,"rope_theta":5e5,"moe_args":{}})",
                 "head_dim is 64; the code of Llama 4 has frequencies for dim / n_heads, 128");
}

TEST_CASE("model params: Mistral's head_dim, yarn and DeepSeek's layers") {
  const ModelConfig nemo = of_params(R"({"dim":5120,"n_layers":40,"head_dim":128,"hidden_dim":14336,"n_heads":32,
    "n_kv_heads":8,"rope_theta":1e6,"norm_eps":1e-05,"vocab_size":131072,"max_seq_len":131072})");
  CHECK(nemo.ropes[0].spec.head_dim == 128);
  CHECK(nemo.ropes[0].spec.pairing == Pairing::interleaved);
  CHECK(nemo.max_position_embeddings == 131072);
  const auto yarn = [](const char* scale) {
    return of_params(fmt::format(R"({{"dim":4096,"n_heads":32,"head_dim":128,"rope_theta":1e6,
      "model_type":"transformer",
      "yarn":{{"original_max_position_embeddings":16384,"factor":16,"alpha":2,"beta":30{}}}}})", scale))
        .ropes[0].spec;
  };
  const auto rule = std::get<scaling::Yarn>(yarn("").scaling);
  CHECK(rule.factor == 16);
  CHECK(rule.original_max_position_embeddings == 16384);
  CHECK(rule.beta_slow == 2);
  CHECK(rule.beta_fast == 30);
  CHECK_FALSE(yarn(R"(,"apply_scale":true)").attention_factor.has_value());
  CHECK(yarn(R"(,"apply_scale":false)").attention_factor == 1);
  CHECK_THROWS_WITH(yarn(R"(,"mscale":2)"), Contains("params.json.yarn: unknown field \"mscale\""));
  refuses_params(R"({"dim":64,"n_heads":1,"rope_theta":1e4,"yarn":{"factor":2}})",
                 ".yarn.original_max_position_embeddings: missing");
  const ModelConfig large = of_params(R"({"dim":7168,"n_heads":128,"head_dim":192,"qk_nope_head_dim":128,
    "qk_rope_head_dim":64,"rope_theta":1e4})");
  CHECK(large.ropes[0].spec.head_dim == 64);
}

TEST_CASE("model params: what is missing or not understood is refused") {
  refuses_params(R"({"dim":4096,"n_heads":32})", "rope_theta is not there: 10000; the code of Llama 3 takes 500000");
  refuses_params(R"({"dim":4096,"n_heads":0,"rope_theta":1e4})", "dim and n_heads must be above 0");
  refuses_params(R"({"dim":4096,"n_heads":32,"rope_theta":1e4,"rope_ratio":4})", ".rope_ratio: 4 is not understood");
  refuses_params(R"({"dim":768,"n_heads":12,"model_type":"distilbert"})", "nothing about the rope of \"distilbert");
  refuses_params(R"({"dim":4096,"n_heads":32,"rope_theta":1e4,"max_seq_len":0})", ".max_seq_len: 0; it must be from 1");
  refuses_params(R"({"dim":4096,"n_heads":32,"rope_theta":1e4,"use_scaled_rope":true,"yarn":{"factor":2,
    "original_max_position_embeddings":64}})", "yarn and use_scaled_rope are both there");
  const char* told = R"({"dim":64,"n_heads":1,"rope_theta":1e4})";
  CHECK(lines_of_params(read_model_config(told, "params.json", {.knows_pairing = true})).empty());
}

}  // namespace
}  // namespace rope
