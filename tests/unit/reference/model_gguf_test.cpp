// Ropes from GGUF files: as llama.cpp has them, and the same as from the config.json that the file was made of.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "reference/model_config.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/reference/gguf_writer.hpp"

namespace rope {
namespace {

using Catch::Contains;

ModelConfig of_gguf(const GgufWriter& writer, const ModelReading& how = {}) {
  return read_model_config(writer.file(), "a.gguf", how);
}

std::string lines_of(const ModelConfig& model) { return fmt::format("{}", fmt::join(model.assumed, "\n")); }

void refuses_gguf(const GgufWriter& writer, const std::string& words) {
  CHECK_THROWS_WITH(of_gguf(writer), Contains("a.gguf") && Contains(words));
}

GgufWriter llama() {
  GgufWriter writer("llama");
  return writer.u32("llama.embedding_length", 4096).u32("llama.attention.head_count", 32);
}

// Of GGUF's f32, and of f64 in a config.json: a base or factor that differs by 2^-24 of itself changes theta by about
// that much times its exponent, which is below 2.
void check_same_plan(const RopeSpec& one, const RopeSpec& other) {
  const RotationPlan a = compile(one, 100000), b = compile(other, 100000);
  CHECK(a.head_dim == b.head_dim);
  CHECK(a.lambda == Approx(b.lambda).epsilon(1.2e-7));
  REQUIRE(a.pairs.size() == b.pairs.size());
  for (std::size_t p = 0; p < a.pairs.size(); ++p) {
    CHECK(a.pairs[p].theta.to_double() == Approx(b.pairs[p].theta.to_double()).epsilon(1.2e-7));
    CHECK(a.pairs[p].axis == b.pairs[p].axis);
  }
}

void check_same(const GgufWriter& writer, const char* config) {
  CAPTURE(config);
  const ModelConfig gguf = of_gguf(writer), json = read_model_config(config, "config.json");
  REQUIRE(gguf.ropes.size() == json.ropes.size());
  for (std::size_t i = 0; i < json.ropes.size(); ++i) {
    CHECK(gguf.ropes[i].layers == json.ropes[i].layers);
    check_same_plan(gguf.ropes[i].spec, json.ropes[i].spec);
    // What llama.cpp pairs otherwise, it reorders.
    const bool is_same = gguf.ropes[i].spec.pairing == json.ropes[i].spec.pairing;
    CHECK(is_same != (lines_of(gguf).find("its converter reorders the weights of q and k") != std::string::npos));
  }
}

TEST_CASE("model gguf: the same plan as the config.json that it was made of") {
  check_same(llama()
                 .u32("llama.context_length", 4096)
                 .f32("llama.rope.freq_base", 1e6F)
                 .u32("llama.rope.dimension_count", 128),
             R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"rope_theta":1e6})");
  check_same(llama().u32("llama.attention.key_length", 160),
             R"({"model_type":"mistral","hidden_size":4096,"num_attention_heads":32,"head_dim":160,"rope_theta":1e4})");
  check_same(llama().text("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4),
             R"({"model_type":"llama","head_dim":128,"rope_scaling":{"type":"linear","factor":4.0}})");
  check_same(llama().f32("llama.rope.scale_linear", 4),
             R"({"model_type":"llama","head_dim":128,"rope_scaling":{"type":"linear","factor":4.0}})");
  check_same(GgufWriter("qwen2")
                 .u32("qwen2.attention.key_length", 128)
                 .f32("qwen2.rope.freq_base", 1e6F)
                 .text("qwen2.rope.scaling.type", "yarn")
                 .f32("qwen2.rope.scaling.factor", 4)
                 .u32("qwen2.rope.scaling.original_context_length", 32768),
             R"({"model_type":"qwen2","hidden_size":128,"num_attention_heads":1,"rope_theta":1e6,
                 "max_position_embeddings":131072,"rope_scaling":{"type":"yarn","factor":4.0,
                 "original_max_position_embeddings":32768}})");
  check_same(GgufWriter("phi2")
                 .u32("phi2.embedding_length", 2560)
                 .u32("phi2.attention.head_count", 32)
                 .u32("phi2.rope.dimension_count", 32),
             R"({"model_type":"phi","hidden_size":2560,"num_attention_heads":32,"partial_rotary_factor":0.4,
                 "rope_theta":1e4})");
  check_same(GgufWriter("cohere2").u32("cohere2.attention.key_length", 128).f32("cohere2.rope.freq_base", 5e4F),
             R"({"model_type":"cohere2","head_dim":128,"rope_theta":5e4})");
  check_same(GgufWriter("gemma3")
                 .u32("gemma3.attention.key_length", 256)
                 .u32("gemma3.attention.sliding_window", 1024)
                 .f32("gemma3.rope.freq_base", 1e6F)
                 .text("gemma3.rope.scaling.type", "linear")
                 .f32("gemma3.rope.scaling.factor", 8),
             R"({"model_type":"gemma3_text","head_dim":256,"rope_theta":1e6,"rope_local_base_freq":1e4,
                 "rope_scaling":{"rope_type":"linear","factor":8.0}})");
  check_same(GgufWriter("qwen2vl")
                 .u32("qwen2vl.attention.key_length", 128)
                 .f32("qwen2vl.rope.freq_base", 1e6F)
                 .i32_list("qwen2vl.rope.dimension_sections", {16, 24, 24, 0}),
             R"({"model_type":"qwen2_vl_text","hidden_size":128,"num_attention_heads":1,"rope_theta":1e6,
                 "rope_scaling":{"type":"mrope","mrope_section":[16,24,24]}})");
  check_same(GgufWriter("qwen35")
                 .u32("qwen35.attention.key_length", 256)
                 .u32("qwen35.rope.dimension_count", 64)
                 .f32("qwen35.rope.freq_base", 1e7F)
                 .i32_list("qwen35.rope.dimension_sections", {11, 11, 10, 0}),
             R"({"model_type":"qwen3_5_text","head_dim":256,"rope_parameters":{"rope_type":"default","rope_theta":1e7,
                 "partial_rotary_factor":0.25,"mrope_section":[11,11,10],"mrope_interleaved":true}})");
}

TEST_CASE("model gguf: yarn's attention factor is as llama.cpp computes it from the keys that it reads") {
  const auto deepseek = [] {
    GgufWriter writer("deepseek2");
    return writer.u32("deepseek2.attention.key_length", 576)
        .u32("deepseek2.rope.dimension_count", 64)
        .text("deepseek2.rope.scaling.type", "yarn")
        .f32("deepseek2.rope.scaling.factor", 40)
        .u32("deepseek2.rope.scaling.original_context_length", 4096);
  };
  const char* v3 = R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"rope_theta":1e4,
    "max_position_embeddings":163840,"rope_scaling":{"type":"yarn","factor":40,"mscale":1.0,"mscale_all_dim":1.0,
    "original_max_position_embeddings":4096}})";
  check_same(deepseek().f32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F), v3);
  check_same(deepseek().f32("deepseek2.rope.scaling.yarn_log_multiplier", 0.0707F), v3);
  const RopeSpec plain = of_gguf(deepseek()).ropes[0].spec;
  CHECK(compile(plain, 1).lambda == Approx(0.1 * std::log(40) + 1));
  const RopeSpec twice = of_gguf(deepseek().f32("deepseek2.rope.scaling.attn_factor", 2)).ropes[0].spec;
  CHECK(compile(twice, 1).lambda == Approx(2 * (0.1 * std::log(40) + 1)));
  GgufWriter mistral("mistral3");
  mistral.u32("mistral3.attention.key_length", 128)
      .text("mistral3.rope.scaling.type", "yarn")
      .f32("mistral3.rope.scaling.factor", 16)
      .u32("mistral3.rope.scaling.original_context_length", 16384)
      .f32("mistral3.rope.scaling.yarn_log_multiplier", 1)
      .f32("mistral3.rope.scaling.yarn_beta_fast", 24);
  const RopeSpec read = of_gguf(mistral).ropes[0].spec;
  CHECK(std::get<scaling::Yarn>(read.scaling).beta_fast == 24);
  CHECK(compile(read, 1).lambda == 1);
  refuses_gguf(deepseek().f32("deepseek2.rope.scaling.yarn_beta_fast", 1),
               "yarn_beta_fast is 1; llama.cpp does not read it for deepseek2 and has 32");
  const RopeSpec factor = of_gguf(llama().f32("llama.rope.scaling.attn_factor", 1.5F)).ropes[0].spec;
  CHECK(factor.attention_factor == 1.5);
}

TEST_CASE("model gguf: factors that are tensors, and keys that llama.cpp does not read, are refused") {
  refuses_gguf(llama().tensor("rope_freqs.weight"), "the tensor rope_freqs.weight divides the frequencies");
  refuses_gguf(llama().tensor("blk.0.rope_factors_long.weight"), "reads no tensors; give the config.json");
  CHECK(of_gguf(llama().tensor("blk.0.rope.inv").tensor("token_embd.weight")).ropes.size() == 1);
  refuses_gguf(llama().text("llama.rope.scaling.type", "longrope"), "its factors are tensors");
  refuses_gguf(llama().text("llama.rope.scaling.type", "spiral"), "\"spiral\" is not known; llama.cpp has none");
  refuses_gguf(llama().f32("llama.rope.scaling.alpha", 1000), "llama.rope.scaling.alpha: 1000.0 is not understood");
  refuses_gguf(llama().f32("llama.rope.scaling.yarn_attn_factor", 1), "yarn_attn_factor: 1.0 is not understood");
  refuses_gguf(llama().f32("llama.attention.max_alibi_bias", 8), "max_alibi_bias: 8.0 is not understood");
  CHECK(of_gguf(llama().f32("llama.attention.max_alibi_bias", 0)).ropes.size() == 1);
  refuses_gguf(llama().u32("split.count", 3), "the model has several files");
  refuses_gguf(llama().u32("llama.rope.dimension_count", 64), "llama.cpp refuses other than 128, the whole head");
  GgufWriter oss("gpt-oss");
  refuses_gguf(oss.u32("gpt-oss.attention.key_length", 64)
                   .text("gpt-oss.rope.scaling.type", "yarn")
                   .f32("gpt-oss.rope.scaling.factor", 32)
                   .u32("gpt-oss.rope.scaling.original_context_length", 4096),
               "transformers has truncate false for gpt_oss");
  GgufWriter qwen("qwen3vl");
  qwen.u32("qwen3vl.attention.key_length", 128).i32_list("qwen3vl.rope.dimension_sections", {24, 20, 20, 0});
  refuses_gguf(qwen, "llama.cpp turns pairs 61, 62 by a fourth position");
}

TEST_CASE("model gguf: layers that see only near tokens have the far layers' base, or their own") {
  const auto gemma = [] {
    GgufWriter writer("gemma2");
    return writer.u32("gemma2.attention.key_length", 256).f32("gemma2.rope.freq_base", 5e4F);
  };
  CHECK(of_gguf(gemma()).ropes.size() == 1);
  const ModelConfig two = of_gguf(gemma().f32("gemma2.rope.freq_base_swa", 2e4F));
  REQUIRE(two.ropes.size() == 2);
  CHECK(two.ropes[0].spec.base == 50000);
  CHECK(two.ropes[1].layers == "sliding_attention");
  CHECK(two.ropes[1].spec.base == 20000);
}

TEST_CASE("model gguf: an architecture is known, has no rope, or must be guessed") {
  refuses_gguf(GgufWriter("gpt2"), "general.architecture: \"gpt2\" has no rope in llama.cpp");
  refuses_gguf(GgufWriter(), "general.architecture: missing");
  GgufWriter unknown("qwen22");
  unknown.u32("qwen22.attention.key_length", 64);
  refuses_gguf(unknown, "\"qwen22\" is not one whose layers in llama.cpp ropecheck knows; did you mean qwen2?");
  refuses_gguf(unknown, "the pairing half_split (or give --pairing)");
  const ModelConfig guessed = of_gguf(unknown, {.accepts_guesses = true});
  CHECK_THAT(lines_of(guessed), Contains("a guess: general.architecture") && Contains("a guess: the pairing"));
  CHECK(guessed.ropes[0].spec.head_dim == 64);
}

TEST_CASE("model gguf: defaults and layers without rope are said") {
  CHECK_THAT(lines_of(of_gguf(llama())), Contains("llama.rope.freq_base is not there: 10000, as llama.cpp takes"));
  GgufWriter smol("smollm3");
  CHECK_THAT(lines_of(of_gguf(smol.u32("smollm3.attention.key_length", 128))), Contains("every 4. layer of smollm3"));
  GgufWriter cohere("cohere2");
  CHECK_THAT(lines_of(of_gguf(cohere.u32("cohere2.attention.key_length", 128))),
             Contains("full_attention layers of cohere2 have no rope"));
  const ModelConfig model = of_gguf(llama().u32("llama.context_length", 4096), {.knows_pairing = true});
  CHECK(model.max_position_embeddings == 4096);
  CHECK_THAT(lines_of(model), !Contains("pairing"));
}

TEST_CASE("model gguf: heads by layer need a head's width, and bad sizes are sentences") {
  GgufWriter equal("openelm"), unequal("openelm");
  equal.u32("openelm.embedding_length", 256).i32_list("openelm.attention.head_count", {4, 4});
  CHECK(of_gguf(equal).ropes[0].spec.head_dim == 64);
  unequal.u32("openelm.embedding_length", 256).i32_list("openelm.attention.head_count", {4, 2});
  refuses_gguf(unequal, "neither openelm.attention.key_length nor openelm.embedding_length and one openelm.attention");
  refuses_gguf(GgufWriter("llama").u32("llama.attention.key_length", 0), "head_dim is 0");
  refuses_gguf(GgufWriter("llama").u32("llama.attention.key_length", 1U << 30), "it must be at most 65536");
  refuses_gguf(llama().u32("llama.context_length", 0), "llama.context_length: 0; it must be from 1 to 2^53");
  refuses_gguf(llama().f32("llama.rope.freq_base", -1), "base");
  refuses_gguf(llama().text("llama.rope.freq_base", "x"), ".llama.rope.freq_base: expected a number");
}

}  // namespace
}  // namespace rope
