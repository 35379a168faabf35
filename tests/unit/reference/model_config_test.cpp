#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/unit/reference/read_model.hpp"

namespace rope {
namespace {

using Catch::Contains;
using of_config::guessed, of_config::only, of_config::read, of_config::said;

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

TEST_CASE("model config: an unknown model is refused where a field must be guessed, or each guess is said") {
  const char* unknown = R"({"model_type":"llamma","hidden_size":256,"num_attention_heads":4})";
  CHECK_THROWS_WITH(read(unknown), Contains("config.json.model_type: \"llamma\" is not a type of transformers") &&
                                       Contains("did you mean llama?") && Contains("head_dim is not there: 64") &&
                                       Contains("rope_theta is not there: 10000") && Contains("pairing half_split") &&
                                       Contains("--guess"));
  const ModelConfig model = guessed(unknown);
  CHECK(model.ropes[0].spec.head_dim == 64);
  CHECK_THAT(said(model), Contains("a guess: head_dim") && Contains("a guess: rope_theta") &&
                              Contains("a guess: the pairing") && Contains("is not a type of transformers"));
  CHECK_THROWS_WITH(read(R"({"head_dim":64,"rope_theta":1e4})"), Contains("config.json.model_type: missing"));
  CHECK_THROWS_WITH(read(R"({"model_type":5})"), Contains("config.json.model_type: expected text, found number"));
  CHECK_THAT(said(read(R"({"architectures":["LlamaForCausalLM"]})")),
             Contains("config.json.model_type is not there; read as llama, by architectures"));
  const char* told = R"({"model_type":"new","head_dim":64,"rope_theta":1e4,"rope_interleave":true})";
  CHECK(read(told).ropes[0].spec.pairing == Pairing::interleaved);
  const char* half = R"({"model_type":"new","head_dim":64,"rope_theta":1e4})";
  CHECK(read_model_config(half, "config.json", {.knows_pairing = true}).ropes.size() == 1);
}

TEST_CASE("model config: a field that tells of rope is never passed over in silence") {
  const auto refuses = [](const char* text, const char* words) { CHECK_THROWS_WITH(read(text), Contains(words)); };
  refuses(R"({"model_type":"llama","rope_ratio":500})", ".rope_ratio: 500 is not understood");
  refuses(R"({"model_type":"llama","attn_config":{"rope_theta":5e5}})", ".attn_config.rope_theta: 500000.0 is not");
  refuses(R"({"model_type":"llama","partial_rotary_factor":0.5})", "partial_rotary_factor");
  refuses(R"({"model_type":"llama","rope_scaling":{"type":"linear","factor":2.0,"alpha":8}})", ".alpha: 8 is not");
  refuses(R"({"model_type":"falcon","alibi":true})", ".alibi: true is not understood");
  refuses(R"({"model_type":"granitemoehybrid","position_embedding_type":"nope"})", "\"nope\" is not rope");
  refuses(R"({"model_type":"zamba2"})", "no layer of zamba2 has rope");
  refuses(R"({"model_type":"gemma3_text","rope_parameters":{"rope_type":"linear","factor":8.0}})", "passes over it");
  const ModelConfig told =
      read(R"({"model_type":"llama","rope_scaling":{"type":"linear","factor":2.0,"mscale":1,"finetuned":true}})");
  CHECK_THAT(said(told), Contains(".rope_scaling.mscale: 1 is passed over") && Contains(".finetuned: true"));
  CHECK(read(R"({"model_type":"llama","rope_scaling":null,"lora_alpha":8,"properties":1})").ropes.size() == 1);
}

TEST_CASE("model config: only a type that reads position_embedding_type is refused by it, and by its default") {
  CHECK_THROWS_WITH(read(R"({"model_type":"granitemoehybrid","hidden_size":64,"num_attention_heads":1})"),
                    Contains(".position_embedding_type: missing; the default of granitemoehybrid") &&
                        Contains("is null, which is not rope"));
  CHECK_THROWS_WITH(read(R"({"model_type":"esm"})"), Contains("is \"absolute\", which is not rope"));
  CHECK_THROWS_WITH(read(R"({"model_type":"esm","position_embedding_type":"rope"})"), Contains("\"rope\" is not rope"));
  CHECK(read(R"({"model_type":"esm","position_embedding_type":"rotary"})").ropes.size() == 1);
  const char* unknown = R"({"model_type":"new","head_dim":64,"rope_theta":1e4,"position_embedding_type":"absolute"})";
  CHECK_THROWS_WITH(guessed(unknown), Contains(".position_embedding_type: \"absolute\" is not rope"));
  const ModelConfig model = read(R"({"model_type":"modernbert","position_embedding_type":"absolute"})");
  CHECK_THAT(said(model), Contains(".position_embedding_type: \"absolute\" is passed over: modernbert does not read"));
}

TEST_CASE("model config: a head_dim that the type does not read must be the width that it has") {
  CHECK_THROWS_WITH(read(R"({"model_type":"falcon","head_dim":128})"),
                    Contains(".head_dim is 128; falcon does not read it and has 64"));
  CHECK_THROWS_WITH(read(R"({"model_type":"gptj","head_dim":128})"), Contains("gptj does not read it and has 256"));
  CHECK(read(R"({"model_type":"falcon","head_dim":64})").ropes[0].spec.head_dim == 64);
  CHECK_THROWS_WITH(read(R"({"model_type":"gpt_neox","head_dim":128})"),
                    Contains("gpt_neox does not read it and has 96"));
  CHECK_THROWS_WITH(read(R"({"model_type":"glm4v_text","head_dim":256,"rope_scaling":{"rope_type":"default",
    "partial_rotary_factor":0.5,"mrope_section":[8,12,12]}})"), Contains("glm4v_text does not read it and has 128"));
  for (const char* type : {"phi3", "phi4_multimodal"}) {
    CAPTURE(type);
    const std::string text = fmt::format(R"({{"model_type":"{}","head_dim":128}})", type);
    CHECK(read(text).ropes[0].spec.head_dim == 128);
  }
}

TEST_CASE("model config: words that tell of another position embedding, or of the model's own code, are doubts") {
  for (const char* field : {R"("use_alibi":true)", R"("alibi_bias_max":8)", R"("pos_emb":"x")", R"("mrope":true)",
                            R"("position_embedding":"x")", R"("mrope_section":[1])", R"("rot_dim":8)",
                            R"("position_scale":2)", R"("use_rope":false)", R"("rope_interleaved":true)"}) {
    CAPTURE(field);
    const std::string text = fmt::format(R"({{"model_type":"llama","max_position_embeddings":64,{}}})", field);
    CHECK_THROWS_WITH(read(text), Contains("is not understood"));
  }
  CHECK_THROWS_WITH(read(R"({"model_type":"llama","auto_map":{"AutoModelForCausalLM":"modeling_my.MyForCausalLM"}})"),
                    Contains(".auto_map: modeling_my.MyForCausalLM may differ from llama of transformers"));
  const ModelConfig same = read(R"({"model_type":"phi3","auto_map":{"AutoConfig":"configuration_phi3.Phi3Config",
    "AutoModelForCausalLM":"modeling_phi3.Phi3ForCausalLM",
    "AutoModelForTokenClassification":"modeling_phi3.Phi3ForTokenClassification"}})");
  CHECK_THAT(said(same), Contains(".auto_map: modeling_phi3.Phi3ForCausalLM is not looked into; read as phi3"));
  const ModelConfig flat = read(R"({"model_type":"qwen2_vl","hidden_size":128,"num_attention_heads":1,"rope_theta":1e6,
    "rope_scaling":{"type":"mrope","mrope_section":[16,24,24]},"auto_map":{"AutoModel":"modeling_q.Qwen2VLModel"}})");
  CHECK_THAT(said(flat), Contains("Qwen2VLModel is not looked into; read as qwen2_vl of"));
  for (const char* plain : {R"("model_type":"llama","rope_interleaved":false,"use_alibi":false,"use_rope":true)",
                            R"("model_type":"qwen2","use_mrope":false)",
                            R"("model_type":"gptj","rotary":true,"rope_interleaved":true)"}) {
    CAPTURE(plain);
    CHECK(read(fmt::format("{{{}}}", plain)).ropes.size() == 1);
  }
}

TEST_CASE("model config: the file's own code is a doubt for a type that is not known, with a known part or without") {
  const char* code = R"("auto_map":{"AutoConfig":"a.Config","AutoModel":"modeling_foo.FooModel"})";
  const std::string flat = fmt::format(R"({{"model_type":"foo","head_dim":64,"rope_theta":1e4,"rope_interleave":true,
    {}}})", code);
  const std::string outer = fmt::format(R"({{"model_type":"foo_vl",{},"text_config":{{"model_type":"llama"}}}})", code);
  for (const std::string& text : {flat, outer}) {
    CHECK_THROWS_WITH(read(text), Contains(".auto_map: modeling_foo.FooModel is the file's own code"));
  }
}

TEST_CASE("model config: fields are read by each name that the type knows") {
  for (const char* type : {"gptj", "codegen"}) {
    CAPTURE(type);
    const auto text = [&](const char* fields) { return fmt::format(R"({{"model_type":"{}",{}}})", type, fields); };
    const ModelConfig model = read(text(R"("hidden_size":2048,"num_attention_heads":8,"rotary_dim":64)"));
    CHECK(model.ropes[0].spec.head_dim == 256);
    CHECK_THAT(said(model), !Contains("n_embd is not there") && !Contains("n_head is not there"));
    CHECK_THROWS_WITH(read(text(R"("hidden_size":2048,"n_embd":1024)")),
                      Contains("config.json: hidden_size is 2048, n_embd is 1024; they mean the same"));
    CHECK(read(text(R"("hidden_size":1024,"n_embd":1024)")).ropes[0].spec.head_dim == 64);
  }
}

TEST_CASE("model config: EXAONE 4 without a window has rope in all layers, Cohere 2 in none") {
  const char* kinds = R"("layer_types":["full_attention","sliding_attention"])";
  const auto text = [&](const char* type, const char* window) {
    return fmt::format(R"({{"model_type":"{}","rope_theta":1e4,"head_dim":64,{}{}}})", type, kinds, window);
  };
  CHECK_THAT(said(read(text("exaone4", ""))), Contains("full_attention layers of exaone4 have no rope"));
  CHECK(said(read(text("exaone4", R"(,"sliding_window":null)"))).empty());
  CHECK_THROWS_WITH(read(text("cohere2", R"(,"sliding_window":null)")), Contains("no layer of cohere2 has rope"));
}

TEST_CASE("model config: a base for each layer, but not thousands of them") {
  const auto text = [](const auto& base_of) {
    std::string bases = "0";
    for (int i = 0; i < 20000; ++i) bases += fmt::format(",{}", base_of(i));
    return fmt::format(R"({{"model_type":"granite_swa","head_dim":64,"layer_rope_theta":[{}]}})", bases);
  };
  CHECK(read(text([](int i) { return i % 2 == 0 ? 1e4 : 5e5; })).ropes.size() == 2);
  CHECK_THROWS_WITH(read(text([](int i) { return 1e4 + i; })),
                    Contains(".layer_rope_theta: 20000 different bases; allowed are 64"));
}

TEST_CASE("model config: around a known part, an unknown type is named and its fields are doubts") {
  const char* text = R"({"model_type":"foo_vl","rope_ratio":4,"text_config":{"model_type":"llama","rope_theta":1e4}})";
  CHECK_THROWS_WITH(read(text), Contains("config.json.rope_ratio is not the language model's: passed over"));
  CHECK_THAT(said(guessed(text)), Contains("config.json.model_type \"foo_vl\" is not known: read is its text_config"));
}

TEST_CASE("model config: every default that is taken is said, with where it comes from") {
  const ModelConfig model = read(R"({"model_type":"gpt_oss"})");
  for (const char* words : {"rope_parameters is not there: rule yarn", "head_dim is not there: 64",
                            "rope_theta is not there: 150000", "the default of gpt_oss in transformers 5."}) {
    CHECK_THAT(said(model), Contains(words));
  }
  CHECK(said(read(R"({"model_type":"llama","head_dim":64,"rope_theta":1e4})")).empty());
}

TEST_CASE("model config: bad numbers and control characters are sentences, at once") {
  CHECK_THROWS_WITH(read(R"({"model_type":"llama","head_dim":1000000000,"rope_theta":1e4})"),
                    Contains("head_dim is 1000000000; it must be at most 65536"));
  CHECK_THROWS_WITH(read(R"({"model_type":"llama","hidden_size":9223372036854775807})"), Contains("above 0"));
  CHECK_THROWS_WITH(read(R"({"model_type":"llama","hidden_size":64,"num_attention_heads":0})"), Contains("above 0"));
  CHECK_THROWS_WITH(read(R"({"model_type":"glm","partial_rotary_factor":1e300})"), Contains("at most 1"));
  CHECK_THROWS_WITH(read(R"({"model_type":"a\u001b[31m\nb\u009b","head_dim":8})"), Contains(R"("a\x1b[31m\x0ab\x9b")"));
}

TEST_CASE("model config: a length that no sequence has is refused where it is read") {
  for (const char* length : {"0", "-5", "9007199254740993"}) {
    for (const char* field : {"max_position_embeddings", "n_positions"}) {
      CAPTURE(length, field);
      const std::string text = fmt::format(R"({{"model_type":"llama","head_dim":64,"{}":{}}})", field, length);
      CHECK_THROWS_WITH(read(text),
                        Contains(fmt::format(".{}: {}; it must be from 1 to 2^53", field, length)));
    }
  }
}

TEST_CASE("model config: of many fields that nobody knows, the first are named and the others counted") {
  std::string text = R"({"model_type":"llama")";
  for (int i = 0; i < 5000; ++i) text += fmt::format(R"(,"rope_{}":1)", i);
  text += "}";
  CHECK_THROWS_WITH(read(text), Contains(".rope_19: 1 is not") && !Contains(".rope_20: ") &&
                                            Contains("; and 4980 more; give the spec"));
}

TEST_CASE("model config: missing fields of a file are named", "[model_config]") {
  const ModelConfig first = read(R"({"model_type":"llama","hidden_size":64,"num_attention_heads":2})");
  CHECK(first.ropes[0].spec.base == 10000);
  CHECK(said(first) == "rope_theta is not there: 10000, the default of llama in transformers 5.23.0");
  CHECK_FALSE(first.max_position_embeddings.has_value());
}

TEST_CASE("model config: part of the head, by each of its names") {
  CHECK(only(R"({"model_type":"glm","head_dim":128,"rope_theta":1e4,"partial_rotary_factor":0.25})").rotary_dim == 32);
  CHECK(only(R"({"model_type":"gpt_neox","hidden_size":6144,"num_attention_heads":64,"rotary_pct":0.5,
    "rotary_emb_base":10000})").rotary_dim == 48);
  CHECK(only(R"({"model_type":"glm","head_dim":256,"rope_parameters":{"rope_theta":1e4,
    "partial_rotary_factor":0.25}})").rotary_dim == 64);
  const ModelConfig gptj = read(R"({"model_type":"gptj","n_embd":4096,"n_head":16})");
  CHECK(gptj.ropes[0].spec.head_dim == 256);
  CHECK(gptj.ropes[0].spec.rotary_dim == 64);
  CHECK(gptj.ropes[0].spec.pairing == Pairing::interleaved);
  CHECK_THAT(said(gptj), Contains("rotary_dim is not there: 64, the default of gptj"));
  CHECK(only(R"({"model_type":"codegen","n_embd":1024,"n_head":16,"rotary_dim":32})").rotary_dim == 32);
  const ModelConfig other = guessed(R"({"model_type":"new","head_dim":256,"rotary_dim":64})");
  CHECK(other.ropes[0].spec.rotary_dim == 64);
  const RopeSpec proportional = only(R"({"model_type":"llama","head_dim":256,"rope_parameters":{
    "rope_type":"proportional","rope_theta":1e6,"partial_rotary_factor":0.25}})");
  CHECK(proportional.rotary_dim == 256);
  CHECK(std::get<scaling::Proportional>(proportional.scaling).proportion == 0.25);
}

TEST_CASE("model config: layers of two kinds have two ropes", "[model_config]") {
  const ModelConfig nested = read(R"({"model_type":"gemma3","text_config":{"model_type":"gemma3_text","head_dim":256,
    "rope_parameters":{"sliding_attention":{"rope_type":"default","rope_theta":1e4},
    "full_attention":{"rope_type":"linear","factor":8.0,"rope_theta":1e6}}},"dtype":"bfloat16"})");
  REQUIRE(nested.ropes.size() == 2);
  CHECK(nested.ropes[0].layers == "full_attention");
  CHECK(nested.ropes[0].spec.base == 1000000);
  CHECK(std::holds_alternative<scaling::Linear>(nested.ropes[0].spec.scaling));
  CHECK(nested.ropes[1].layers == "sliding_attention");
  CHECK(nested.ropes[1].spec.base == 10000);
  CHECK(nested.dtype == DType::bf16);
  const ModelConfig old = read(R"({"model_type":"gemma3_text","head_dim":256,"rope_theta":1e6,
    "rope_local_base_freq":1e4,"rope_scaling":{"rope_type":"linear","factor":8.0}})");
  REQUIRE(old.ropes.size() == 2);
  CHECK(old.ropes[0].spec == nested.ropes[0].spec);
  CHECK(old.ropes[1].spec == nested.ropes[1].spec);
  CHECK_THROWS_WITH(read(R"({"model_type":"gemma3_text","rope_parameters":{"full_attention":{"type":"default"}}})"),
                    Contains("\"sliding_attention\" is missing"));
}

TEST_CASE("model config: DeepSeek's rope turns a part of the head, and a field may say how it pairs") {
  const RopeSpec spec = only(R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"hidden_size":7168,
    "num_attention_heads":128,"rope_interleave":true,"rope_theta":1e4})");
  CHECK(spec.head_dim == 64);
  CHECK(spec.pairing == Pairing::interleaved);
  CHECK(
      only(R"({"model_type":"deepseek_v3","qk_rope_head_dim":64,"rope_interleave":false,"rope_theta":1e4})").pairing ==
      Pairing::half_split);
  CHECK_THROWS_WITH(read(R"({"model_type":"mistral4","qk_rope_head_dim":64,"head_dim":128,
    "rope_parameters":{"rope_type":"linear","factor":2.0,"rope_theta":1e4,"partial_rotary_factor":0.25}})"),
                    Contains("qk_rope_head_dim is 64, and partial_rotary_factor is 0.25 of 128 features"));
}

TEST_CASE("model config: unreadable values are named with their field", "[model_config]") {
  const auto says = [](const char* text, const char* words) {
    CHECK_THROWS_WITH(read(text), Contains(words) && Contains("config.json"));
  };
  says("[1]", "expected an object");
  says("{", "byte 1");
  says(R"({"model_type":"bert","hidden_size":768,"num_attention_heads":12})", "no rotary class takes its");
  says(R"({"model_type":"llama","rope_theta":"much","head_dim":64})", ".rope_theta: expected a number");
  says(R"({"model_type":"llama","rope_scaling":{"type":"spiral"}})", ".rope_scaling.type: scaling kind \"spiral\"");
  says(R"({"model_type":"llama","rope_scaling":{"type":"spiral"}})", "use one of none, linear");
  says(R"({"model_type":"llama","rope_parameters":{"rope_type":"yarm"}})",
       ".rope_parameters.rope_type: scaling kind \"yarm\" is not known; did you mean yarn? use one of none");
  says(R"({"model_type":"llama","rope_scaling":7})", ".rope_scaling: expected an object");
  says(R"({"model_type":"llama","rope_scaling":{"type":"linear"}})", "factor: missing");
  says(R"({"model_type":"llama","rope_scaling":{"type":"axial"}})", "vision towers");
  says(R"({"model_type":"llama","head_dim":7,"rope_theta":1e4})", "rotary_dim is 7");
  says(R"({"model_type":"ernie4_5_vl_moe_text","head_dim":64,"rope_theta":1e4})", "not powers of rope_theta");
  says(R"({"model_type":"qwen2_vl","head_dim":128,"rope_scaling":{"type":"mrope","mrope_section":[1,2]}})",
       "axes.sections add up to 3");
  says(R"({"model_type":"gemma3"})", "\"text_config\" is missing");
  says(R"({"model_type":"gptj","rotary_dim":null})", ".rotary_dim: null; gptj of transformers");
  says(R"({"model_type":"jetmoe","head_dim":64,"kv_channels":32})", "they mean the same");
}

}  // namespace
}  // namespace rope
