#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

using Catch::Contains;

TEST_CASE("command: identify prints the plan and a spec that reproduces it") {
  const Result result = ropecheck({"identify", "interleaved", "--pairing", "interleaved", "--head-dim", "64",
                                   "--rotary-dim", "48", "--base", "500000", "--scaling", "linear,factor=4"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(line_with(result.out, "  pairs "), Contains("(2i, 2i+1) for i = 0 .. 23: interleaved"));
  CHECK_THAT(line_with(result.out, "  passed "), Contains("48 .. 63"));
  CHECK_THAT(line_with(result.out, "  rule "), Contains("linear, factor 4, base 500000"));
  CHECK_THAT(line_with(result.out, "  matches "), Contains("the request"));
  CHECK_THAT(line_with(result.out, "  spec "),
             Contains("--head-dim 64 --rotary-dim 48 --pairing interleaved --base 500000 --scaling linear,factor=4"));
}

TEST_CASE("command: identify says what a wrong kernel computes") {
  const Result result = ropecheck({"identify", mutants + "#FREQ-01", "--head-dim", "64", "--base", "500000"});
  CHECK(result.exit_code == 0);  // it was identified
  CHECK_THAT(line_with(result.out, "  differs "), Contains("31 of 32 frequencies are others: base 10000"));
}

TEST_CASE("command: identify writes plans that match their schema") {
  const TemporaryFolder folder;
  std::string documents;  // one a line
  int number = 0;
  for (const Words& words : {Words{"half_split"}, Words{"complex", "--source", "tables", "--dtype", "bf16"},
                             Words{mutants + "#PAIR-03"}, Words{mutants + "#MEM-INPUT-WRITTEN"},
                             Words{mutants + "#PART-UNWRITTEN", "--head-dim", "32", "--rotary-dim", "16"},
                             Words{mutants + "#PAIR-05", "--source", "tables"}, Words{"naive_matrix", "--backward"}}) {
    Words command{"identify"};
    command.insert(command.end(), words.begin(), words.end());
    const std::string file = (folder / (std::to_string(number++) + ".json")).string();
    command.insert(command.end(), {"--json", file});
    CHECK(ropecheck(command).exit_code == 0);
    CHECK_THAT(read(file), Contains("\"tool\": \"ropecheck\""));
    documents += nlohmann::json::parse(read(file)).dump() + "\n";
  }
  if (jsonschema_python().empty()) {
    WARN("left out: Python's jsonschema is not installed (Debian package python3-jsonschema)");
    return;
  }
  write(folder / "lines", documents);
  const Result answer = run_program({"sh", "-c", R"("$0" "$1" "$2" < "$3")", jsonschema_python(),
                                     (source_folder() / "tests/unit/report/schema_errors.py").string(),
                                     (source_folder() / "tools/report/plan.schema.json").string(), folder / "lines"});
  INFO(answer.out);
  std::istringstream lines(answer.out);
  int valid = 0;
  for (std::string line; std::getline(lines, line);) valid += line == "valid" ? 1 : 0;
  CHECK(valid == number);
}

TEST_CASE("command: identify without --pairing measures each claimed pairing") {
  const Result one = ropecheck({"identify", "interleaved", "--head-dim", "64", "--base", "500000"});
  CHECK(one.exit_code == 0);
  CHECK_THAT(line_with(one.out, "  spec "), Contains("--pairing interleaved --base 500000"));
  const Result both = ropecheck({"identify", "complex", "--head-dim", "64"});
  CHECK_THAT(both.out, Contains("--pairing half_split") && Contains("--pairing interleaved"));
}

TEST_CASE("command: identify names what is not claimed") {
  const auto why = [](const Words& words) {
    Words command{"identify", (build_folder() / "examples/broken_kernel.so").string()};
    command.insert(command.end(), words.begin(), words.end());
    const Result result = ropecheck(command);
    CHECK(result.exit_code == 2);
    return result.out;
  };
  CHECK_THAT(why({"--dtype", "f64"}), Contains("(f64 input is not claimed)"));
  CHECK_THAT(why({"--head-dim", "64", "--rotary-dim", "32"}), Contains("(partial rotary is not claimed)"));
  CHECK_THAT(why({"--backward"}), Contains("(backward is not claimed)"));
  CHECK_THAT(why({"--source", "computed"}), Contains("(angle source computed is not claimed)"));
}

TEST_CASE("command: identify refuses what it cannot do") {
  check_refused(2, {"identify"}, {"subjects"});
  check_refused(2, {"identify", "half_split", "--dtype", "i32"}, {"--dtype", "f64, f32, f16 or bf16"});
  check_refused(2, {"identify", "half_split", "--source", "magic"}, {"--source", "tables, frequencies or computed"});
  check_refused(2, {"identify", "no_such_kernel"}, {"no_such_kernel"});
  const Result unclaimed = ropecheck({"identify", "half_split", "--head-dim", "64", "--pairing", "interleaved"});
  CHECK(unclaimed.exit_code == 2);
  CHECK_THAT(unclaimed.out, Contains("the claims cover nothing of what was asked (interleaved is not claimed)"));
}

}  // namespace
}  // namespace rope
