// Runs the real ropecheck as a person does. Tests its answer to a mistake (what, where, what to do), its exit code, and
// what it leaves behind.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

TEST_CASE("command: a wrong command line is answered with a right one") {
  check_refused(2, {},
                {"no command was given; the commands are verify, identify, plan, replay, golden, vectors, report, "
                 "compare, certify, certificate, list, help"});
  check_refused(
      2, {"frobnicate"},
      {"\"frobnicate\" is not a command; the commands are verify, identify, plan, replay, golden, vectors, report, "
       "compare, certify, certificate, list"});
  check_refused(2, {"verrify"}, {"\"verrify\" is not a command; did you mean verify? the commands are verify"});
  check_refused(2, {"verify", "--frobnicate"}, {"verify: unknown option \"--frobnicate\"", "ropecheck verify --help"});
  check_refused(2, {"replay", "ROT-01:head_dim=2"}, {"replay: --subject is required", "ropecheck replay --help"});
  check_refused(2, {"list"}, {"list: what is required", "ropecheck list --help"});
  check_refused(2, {"list", "kernels"}, {"\"kernels\" is not known; use requirements, impls, goldens or conventions"});
  check_refused(2, {"golden"}, {"golden: ", "ropecheck golden --help"});
}

TEST_CASE("command: list names everything there is") {
  const Result requirements = ropecheck({"list", "requirements"});
  CHECK(requirements.exit_code == 0);
  CHECK_THAT(requirements.out, Contains("ROT-01  MUST    Every output element MUST") && Contains("does not see"));
  const Result impls = ropecheck({"list", "impls"});
  CHECK(impls.exit_code == 0);
  for (const char* name : {"half_split", "interleaved", "complex", "naive_matrix", "cuda-on-cpu", "cuda"})
    CHECK_THAT(impls.out, Contains(name));
  const Result goldens = ropecheck({"list", "goldens"});
  CHECK(goldens.exit_code == 0);
  CHECK_THAT(goldens.out, Contains("labml") && Contains("huggingface/llama") && Contains("deviates"));
}

TEST_CASE("command: list prints JSON for programs") {
  const Json requirements = Json::parse(ropecheck({"list", "requirements", "--json"}).out);
  CHECK(requirements[0]["id"] == "ROT-01");
  CHECK(requirements[0]["must"] == true);
  for (const char* key : {"sentence", "answers", "limits"}) CHECK(requirements[0][key].is_string());
  CHECK(Json::parse(ropecheck({"list", "impls", "--json"}).out)[0]["name"] == "half_split");
  CHECK(Json::parse(ropecheck({"list", "goldens", "--json"}).out)[0].contains("package"));
  const Json conventions =
      Json::parse(ropecheck({"list", "conventions", "--json"}, {"ROPECHECK_PYTHON=" + rope::python()}).out);
  CHECK(conventions[0].contains("signature"));
  check_refused(2, {"list", "requirements", "--json", "--markdown", "-"}, {"two formats"});
}

TEST_CASE("command: help, the version and the man page are printed without anything else") {
  CHECK(ropecheck({"help", "vectors", "export"}).out == ropecheck({"vectors", "export", "--help"}).out);
  check_refused(2, {"help", "verrify"}, {"help: \"verrify\" is not known; did you mean verify?"});
  CHECK(ropecheck({"-V"}).out == ropecheck({"--version"}).out);
  CHECK_THAT(ropecheck({"man"}).out, Catch::StartsWith(".TH ROPECHECK 1"));
  CHECK_THAT(ropecheck({"completion", "bash"}).out, Contains("complete -F _ropecheck ropecheck"));
  const Result regenerate = ropecheck({"golden", "regenerate", "--help"});
  CHECK(regenerate.err.empty());  // else it says what it installs
  CHECK_THAT(regenerate.out, Contains("--check"));
}

TEST_CASE("command: tools/run prints help without building") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "tools");
  fs::create_directories(folder / "docs");
  for (const char* file : {"tools/run", "tools/setup", "docs/command.md"}) {
    fs::copy_file(source_folder() / file, folder / file);
  }
  const Result result = run_program({(folder / "tools/run").string(), "verify", "--help"});
  CHECK(result.exit_code == 0);
  CHECK(result.out == read(source_folder() / "docs/command.md"));
  CHECK_THAT(result.err, Contains("nothing is built here yet"));
  CHECK_FALSE(fs::exists(folder / "build"));
}

// On a device the kernel has to conform. Without one it is not run, and a message says so.
TEST_CASE("command: the CUDA kernel is judged where there is a device, and refused elsewhere") {
  const Result result = ropecheck({"verify", "cuda", "--level", "quick", "--no-diagnosis"});
  if (result.exit_code != 3) {
    INFO(result.out);
    CHECK(result.exit_code == 0);
    return;
  }
  const bool is_built = std::filesystem::exists(build_folder() / "libropecheck_cuda.so");
  CHECK_THAT(result.err, Contains(is_built ? "no CUDA d" : "this build has none"));  // driver, device
  WARN("not run: " << result.err);
}

TEST_CASE("command: a report that was not written is not a pass") {
  // As large as a buffer, and smaller.
  for (const char* what : {"requirements", "impls"}) {
    const std::string program = (build_folder() / "ropecheck").string();
    const Result result = run_program({"sh", "-c", R"("$0" list "$1" > /dev/full)", program, what});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("ropecheck: cannot write to stdout"));
  }
}

TEST_CASE("command: text of others that is nested too deep or has no end is refused") {
  const TemporaryFolder folder;
  const std::string deep = (folder / "deep.json").string();
  write(deep, std::string(100'000, '[') + std::string(100'000, ']'));
  const std::string set = (folder / "set").string();
  fs::create_directory(set);
  fs::copy_file(deep, fs::path(set) / "manifest.json");
  const std::string why = ": byte 64: nested 65 deep; allowed are 64 levels";
  check_refused(2, {"verify", "half_split", "--spec", deep}, {deep + why});
  check_refused(2, {"verify", "half_split", "--model-config", deep}, {deep + why});
  check_refused(2, {"plan", "--model-config", deep}, {deep + why});
  check_refused(2, {"vectors", "export", set, "--claims", deep}, {deep + why});
  check_refused(2, {"vectors", "verify", set}, {"manifest.json" + why});
  check_refused(2, {"report", deep}, {deep + why});
  check_refused(2, {"compare", deep, deep}, {deep + why});
  const std::string endless = "cannot be read: it goes on after byte 67108864; allowed are 67108864 bytes";
  check_refused(2, {"verify", "half_split", "--spec", "/dev/zero"}, {"--spec: /dev/zero " + endless});
  check_refused(2, {"verify", "half_split", "--expected-failures", "/dev/zero"}, {"/dev/zero " + endless});
  check_refused(2, {"report", "/dev/zero"}, {"/dev/zero: " + endless});
}

TEST_CASE("command: a closed stream's number is not given to another file") {
  const TemporaryFolder folder;
  const std::string program = (build_folder() / "ropecheck").string();
  const auto judged = [&](const std::string& closed) {
    const std::string script =
        R"("$0" verify half_split --level quick --only ROT-02 --json "$1/report.json" )" + closed;
    const Result result = run_program({"sh", "-c", script, program, folder.path().string()});
    const Json report = Json::parse(read(folder / "report.json"));
    CHECK(report["subjects"][0]["conforms"] == true);
    return result;
  };
  CHECK(judged("<&-").exit_code == 0);
  const Result without_stdout = judged(">&-");
  CHECK(without_stdout.exit_code == 2);
  CHECK_THAT(without_stdout.err, Contains("ropecheck: cannot write to stdout"));
  CHECK(judged("2>&-").exit_code == 0);
  CHECK(judged("<&- >&- 2>&-").exit_code == 2);
}

}  // namespace
}  // namespace rope
