// --model-config and --layers on the command line; what a config.json says is tested in
// reference/model_config_test.cpp.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/reference/gguf_writer.hpp"

namespace rope {
namespace {

std::string two_ropes() {
  const std::string file = (build_folder() / "two_ropes.json").string();
  std::ofstream(file) << R"({"model_type":"gemma3_text","head_dim":8,"rope_theta":1e6,"rope_local_base_freq":1e4})";
  return file;
}

TEST_CASE("command: a model with two ropes is judged by both, or by the selected one") {
  const std::string file = two_ropes();
  const Result both = ropecheck({"plan", "--model-config", file});
  CHECK(both.exit_code == 0);
  CHECK_THAT(both.out, Catch::Contains("full_attention layers") && Catch::Contains("sliding_attention layers"));
  const Result one = ropecheck({"plan", "--model-config", file, "--layers", "sliding_attention"});
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.out, Catch::Contains("\"base\":10000.0") && !Catch::Contains("full_attention"));
  const Result data = ropecheck({"plan", "--head-dim", "8", "--json", "-"});
  CHECK(nlohmann::json::parse(data.out)["plans"].size() == 1);
  CHECK(data.err.empty());
  check_refused(2, {"plan", "--model-config", file, "--layers", "some"}, {"--layers: \"some\" is not known"});
  check_refused(2, {"identify", "half_split", "--model-config", file}, {"choose one by --layers: full_attention"});
  check_refused(2, {"plan", "--model-config", file, "--base", "3"}, {"leave the other flags out"});
  check_refused(2, {"plan", "--guess"}, {"--guess accepts guesses of --model-config"});
  check_refused(2, {"plan", "--layers", "some"}, {"give both"});
  check_refused(2, {"plan", "--model-config", "no_such.json"}, {"no_such.json cannot be read"});
  check_refused(2, {"plan"}, {"give the rope by --spec, --model-config or flags"});
}

TEST_CASE("command: of a GGUF file of any length only the metadata is read") {
  const std::filesystem::path file = build_folder() / "long_model.gguf";
  GgufWriter writer("qwen2");
  std::ofstream(file, std::ios::binary) << writer.u32("qwen2.attention.key_length", 8).tensor("a").file();
  std::filesystem::resize_file(file, std::uintmax_t{1} << 27);  // longer than any text that is read
  const Result plan = ropecheck({"plan", "--model-config", file.string()});
  CHECK(plan.exit_code == 0);
  CHECK_THAT(plan.out, Catch::Contains("qwen2.rope.freq_base is not there: 10000, as llama.cpp takes"));
  std::filesystem::remove(file);
  check_refused(2, {"plan", "--model-config", "/dev/zero"}, {"/dev/zero: byte 67108864: the text goes on"});
}

TEST_CASE("command: guesses about a model are refused, or accepted and printed") {
  const std::string file = (build_folder() / "unknown_model.json").string();
  std::ofstream(file) << R"({"model_type":"llamma","head_dim":8,"rope_theta":1e4})";
  check_refused(2, {"plan", "--model-config", file}, {"did you mean llama?", "--guess"});
  const Result accepted = ropecheck({"plan", "--model-config", file, "--guess"});
  CHECK(accepted.exit_code == 0);
  CHECK_THAT(accepted.out, Catch::Contains("a guess: the pairing half_split"));
  const Result paired = ropecheck({"plan", "--model-config", file, "--pairing", "interleaved"});
  CHECK(paired.exit_code == 0);
  CHECK_THAT(paired.out, !Catch::Contains("a guess"));
}

}  // namespace
}  // namespace rope
