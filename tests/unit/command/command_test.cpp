// The real ropecheck as a person runs it: what it answers to a mistake (what, where, what to do), how it ends, and what
// it leaves behind.
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "golden/npy.hpp"
#include "golden/sha256.hpp"
#include "tests/conformance/requirement.hpp"
#include "tests/unit/command/program.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;
using Words = Program::Words;

const std::string mutants = (build_folder / "mutants.so").string();

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The answer to a mistake: the exit code, nothing on stdout, and on stderr every one of the words, as a person's
// message.
void check_refused(int exit_code, const Words& command, const Words& expected, const Words& variables = {}) {
  const Result result = ropecheck(command, variables);
  CAPTURE(command);
  CHECK(result.exit_code == exit_code);
  CHECK(result.out.empty());
  for (const std::string& words : expected) CHECK_THAT(result.err, Contains(words));
  CHECK_THAT(result.err, Catch::StartsWith("ropecheck: ") && Catch::EndsWith("\n"));
  CHECK_THAT(result.err, !Contains("internal error"));
}

// One line of a report, "  ROT-01  FAIL ..".
std::string line_with(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

TEST_CASE("command: a command line that makes no sense is answered with what would") {
  check_refused(2, {}, {"no command was given; the commands are verify, replay, golden, list"});
  check_refused(2, {"frobnicate"}, {"\"frobnicate\" is no command; the commands are verify, replay, golden, list"});
  check_refused(2, {"verify", "--frobnicate"}, {"verify: \"--frobnicate\" is no option", "ropecheck verify --help"});
  check_refused(2, {"replay", "ROT-01:head_dim=2"}, {"replay: --subject is required", "ropecheck replay --help"});
  check_refused(2, {"list"}, {"list: what is required", "ropecheck list --help"});
  check_refused(2, {"list", "kernels"}, {"\"kernels\" is not known; use requirements, impls or goldens"});
  check_refused(2, {"golden"}, {"golden: ", "ropecheck golden --help"});
}

TEST_CASE("command: a value that an option cannot take is named with what it takes") {
  check_refused(2, {"verify", "half_split", "--head-dim", "x"}, {"--head-dim = x; expected INT"});
  check_refused(2, {"verify", "half_split", "--level", "fast"}, {"--level: \"fast\"", "quick, full or exhaustive"});
  check_refused(2, {"verify", "half_split", "--dtype", "f32,f8"}, {"--dtype: \"f8\"", "use f64, f32, f16 or bf16"});
  check_refused(2, {"verify", "half_split", "--dtype", "i32"}, {"--dtype: \"i32\"", "use f64, f32, f16 or bf16"});
  check_refused(2, {"verify", "half_split", "--pairing", "split"},
                {"--pairing: \"split\"", "half_split or interleaved"});
  check_refused(2, {"verify", "half_split", "--seed", "-1"},
                {"--seed: \"-1\" is no seed; it must be a whole number from 0"});
  check_refused(2, {"verify", "half_split", "--seed", "18446744073709551616"}, {"--seed", "from 0 to 2^64 - 1"});
  check_refused(2, {"verify", "half_split", "--seed", "one"}, {"--seed: \"one\" is no seed"});
}

TEST_CASE("command: a spec given by flags that cannot be is refused by field, value and limit") {
  const auto spec = [](const Words& flags, const Words& expected) {
    Words command{"verify", "half_split"};
    command.insert(command.end(), flags.begin(), flags.end());
    check_refused(2, command, expected);
  };
  spec({"--head-dim", "64", "--rotary-dim", "33"}, {"rotary_dim is 33; it must be even"});
  spec({"--head-dim", "64", "--rotary-dim", "80"}, {"rotary_dim is 80; it must be 2 to head_dim = 64"});
  spec({"--rotary-dim", "32"}, {"--head-dim is missing"});
  spec({"--head-dim", "64", "--scaling", "linaer,factor=2"}, {"\"linaer\" is not known; use one of none, linear"});
  spec({"--head-dim", "64", "--scaling", "linear"}, {"--scaling.factor: missing", "\"linear\" needs it"});
  spec({"--axes-order", "interleaved", "--head-dim", "64"}, {"--axes is missing"});
  spec({"--axes", "16:16", "--axes-order", "mixed", "--head-dim", "64"}, {"\"mixed\"", "chunked or interleaved"});
}

TEST_CASE("command: a spec file that is wrong is refused by file, byte or field") {
  const TemporaryFolder folder;
  const std::string file = (folder / "spec.json").string();
  const auto spec = [&](const std::string& text, const Words& expected) {
    write(file, text);
    check_refused(2, {"verify", "half_split", "--spec", file}, expected);
  };
  spec("{\"head_dim\": 64,\n \"rotary_dim\": 32,,}", {file + ": byte 35: not JSON", "line 2, column 19"});
  spec("", {file + ": byte 0: not JSON"});
  spec(R"({"head_dim": 64, "scaling": {"kind": "linear", "factor": -2}})",
       {"scaling.factor must be above 0 (found -2)"});
  spec(R"({"head_dim": 64, "xpos": {}})", {"xpos: no kernel can be asked for it through the contract", "leave it out"});
  spec("[64]", {file, "expected an object"});
  spec(R"({"head_dim": 64, "colour": 1})", {file, "unknown field \"colour\"; known are", "rotary_dim, pairing, base"});
  spec(R"({"head_dim": 64, "rotary_dim": "32"})", {file + ".rotary_dim: expected a whole number, found \"32\""});
  spec(R"({"head_dim": 64, "rotary_dim": 33})", {file, "rotary_dim is 33; it must be even"});
  spec(R"({"head_dim": 64, "scaling": {"kind": "linear"}})", {file + ".scaling.factor: missing"});
  write(file, R"({"head_dim": 64})");
  check_refused(2, {"verify", "half_split", "--spec", file, "--base", "1e6"}, {"--spec says everything"});
  check_refused(2, {"verify", "half_split", "--spec", "/nowhere/spec.json"},
                {"--spec: /nowhere/spec.json cannot be read: No such file or directory", "RopeSpec as JSON"});
  check_refused(2, {"verify", "half_split", "--spec", folder.path().string()},
                {"--spec: " + folder.path().string() + " cannot be read: Is a directory"});
}

TEST_CASE("command: a subject that is no kernel is refused by path and reason") {
  check_refused(2, {"verify", "halfsplit"}, {"\"halfsplit\" is neither a built-in (half_split, interleaved, complex"});
  check_refused(3, {"verify", "/nowhere/lib.so"},
                {"/nowhere/lib.so does not exist; give the path of a shared library"});
  check_refused(3, {"verify", build_folder.string()}, {build_folder.string() + " is a folder, not a shared library"});
  const TemporaryFolder folder;
  const std::string text = (folder / "text.so").string();
  write(text, "int main() {}");
  check_refused(3, {"verify", text}, {text + " cannot be loaded", "expected a shared library for this machine"});
  check_refused(3, {"verify", (build_folder / "no_kernels.so").string()},
                {"no_kernels.so does not export rope_kernel_count", "see impls/rope_kernel.h"});
  check_refused(3, {"verify", (build_folder / "zero_kernels.so").string()}, {"zero_kernels.so holds no kernels"});
  check_refused(3, {"verify", mutants + "#PAIR-99"}, {mutants + " holds no kernel PAIR-99; it holds none, PAIR-01"});
  const std::string crashing = (build_folder / "throwing.so").string();
  check_refused(3, {"verify", crashing}, {crashing + ": the subject aborted", "while it was loaded, before any call"},
                {"CRASH_WHILE_LOADING=1"});
  const std::string future = (build_folder / "future_abi.so").string();
  check_refused(
      3, {"verify", future},
      {"kernel future of " + future, "built for ABI 2, this ropecheck speaks ABI 1", "use a newer ropecheck"});
}

TEST_CASE("command: a subject that cannot be opened is told before any other is judged") {
  check_refused(3, {"verify", "half_split", "/nowhere/lib.so"}, {"/nowhere/lib.so does not exist"});
  check_refused(2, {"verify", "half_split", "halfsplit"}, {"\"halfsplit\" is neither a built-in"});
}

TEST_CASE("command: a case that cannot be replayed is refused by field") {
  const auto replay = [](const std::string& id, const Words& expected) {
    check_refused(2, {"replay", id, "--subject", "half_split"}, expected);
  };
  replay("ROT-01", {"case \"ROT-01\": expected REQUIREMENT:field=value"});
  replay("ROT-99:head_dim=2", {"requirement \"ROT-99\" is not known; known are ROT-01, ROT-02"});
  replay("ROT-01:heads_dim=2",
         {"\"heads_dim=2\" is not field=value of a known field", "the fields are head_dim, rotary_dim"});
  replay("ROT-01:head_dim=two", {"head_dim: \"two\" is not a number"});
  replay("ROT-01:head_dim=3", {"rotary_dim is 3; it must be even"});
  replay("ROT-01:head_dim=2,dtype=f33", {"dtype: \"f33\" is not one of f64, f32"});
  replay("ROT-01:seq=9999999", {"seq=9999999 is out of range; it must be 0 to"});
  replay("ROT-01:pairing=interleaved", {"does not apply to half_split: interleaved is not claimed"});
  replay("GLD-01:golden=nothing", {"golden case \"nothing\" is not in the manifest", "ropecheck list goldens"});
}

// A folder with one case of our own golden files, for each test to damage.
class GoldenFolder {
 public:
  GoldenFolder() : manifest(Json::parse(read(source_folder / "golden" / "manifest.json"))) {
    manifest["cases"] = Json::array({manifest["cases"][0]});
    for (const Json& array : manifest["cases"][0]["arrays"]) {
      const fs::path copy = folder_ / array["file"];
      fs::create_directories(copy.parent_path());
      fs::copy_file(source_folder / "golden" / array["file"], copy);
    }
    write_manifest();
  }

  Json& array() { return manifest["cases"][0]["arrays"][0]; }
  std::string file() { return (folder_ / array()["file"]).string(); }
  std::string id() const { return manifest["cases"][0]["id"]; }
  std::string manifest_file() const { return (folder_ / "manifest.json").string(); }
  void write_manifest() const { write(manifest_file(), manifest.dump(1)); }
  Words variables() const { return {"ROPECHECK_GOLDEN=" + folder_.path().string()}; }

  // As whoever made the manifest of it would have.
  void damage(const std::string& content) {
    write(file(), content);
    array()["sha256"] = sha256(std::as_bytes(std::span(content)));
    write_manifest();
  }
  void check(const Words& expected) const { check_refused(2, {"golden", "check-files"}, expected, variables()); }

  Json manifest;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("command: a golden folder that is right is accepted wherever it lies") {
  GoldenFolder golden;
  const Result result = ropecheck({"golden", "check-files"}, golden.variables());
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("1 cases") && Contains("all as the manifest says"));
}

TEST_CASE("command: a golden array that is damaged is refused by file, array, case and byte") {
  GoldenFolder golden;
  const std::string whole = read(golden.file());
  write(golden.file(), whole.substr(0, whole.size() - 1) + '\x7f');
  golden.check({golden.file() + ": array " + golden.array()["name"].get<std::string>() + " of case " + golden.id(),
                "sha256 is ", "the manifest says ", "restore the file"});
  golden.damage(whole.substr(0, whole.size() - 3));
  golden.check({golden.file() + ": byte " + std::to_string(whole.size() - 3), "it is truncated, make it again"});
  golden.damage(whole + "more");
  golden.check({golden.file() + ": byte " + std::to_string(whole.size()), "4 bytes follow", "one array a file"});
  golden.damage("not an array");
  golden.check({golden.file() + ": byte 0: expected the six bytes \\x93NUMPY", "numpy.save"});
  golden.damage(std::string(whole).replace(whole.find("False"), 5, "Maybe"));
  golden.check({golden.file() + ": byte " + std::to_string(whole.find("False"))});
  fs::remove(golden.file());
  golden.check({golden.id() + ").arrays[0].file: there is no file " + golden.file(), "restore it"});
}

TEST_CASE("command: verify does not judge by golden files that are damaged") {
  GoldenFolder golden;
  write(golden.file(), "not an array");
  check_refused(2, {"verify", "half_split"}, {golden.file(), "sha256 is "}, golden.variables());
}

TEST_CASE("command: a manifest that is wrong is refused by field, and leads nowhere out of its folder") {
  GoldenFolder golden;
  golden.array()["file"] = "../secret.npy";
  golden.write_manifest();
  golden.check({golden.manifest_file() + ": cases[0]", ".file: \"../secret.npy\" leads out of the manifest's folder"});
  golden.array()["file"] = "/etc/passwd";
  golden.write_manifest();
  golden.check({".file: \"/etc/passwd\"", "leads out of the manifest's folder"});
  write(golden.manifest_file(), "{\"schema\": 1, oops}");
  golden.check({golden.manifest_file() + ": byte 14: not JSON"});
  fs::remove(golden.manifest_file());
  golden.check({golden.manifest_file() + ": no such file"});
  check_refused(2, {"verify", "half_split"}, {golden.manifest_file() + ": no such file"}, golden.variables());
}

TEST_CASE("command: what leaves no case to run is not a pass") {
  const Result result = ropecheck({"verify", "half_split", "--pairing", "interleaved"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.out, Contains("no case was executed: the claims cover nothing of what was asked"));
  CHECK_THAT(result.out, !Contains("half_split: conforms"));
}

const Words small{"--head-dim", "8", "--dtype", "f32", "--level", "quick"};  // answers in a tenth of a second

Words verify(const Words& words, const Words& more = {}) {
  Words command{"verify"};
  for (const Words& some : {words, small, more}) command.insert(command.end(), some.begin(), some.end());
  return command;
}

TEST_CASE("command: a report that cannot be written is told at once, and nothing is half written") {
  const TemporaryFolder folder;
  check_refused(2, verify({"half_split"}, {"--json", "/nowhere/report.json"}),
                {"/nowhere/report.json: cannot be written: No such file or directory", "a folder that exists"});
  check_refused(2, verify({"half_split"}, {"--json", folder.path().string()}), {"cannot be written: Is a directory"});
  CHECK(fs::is_empty(folder.path()));
  const std::string earlier = (folder / "report.json").string();
  write(earlier, "earlier");
  check_refused(3, verify({"/nowhere/lib.so"}, {"--json", earlier}), {"/nowhere/lib.so does not exist"});
  CHECK(read(earlier) == "earlier");
}

TEST_CASE("command: --json - writes the report to stdout and the text beside it") {
  const Result result = ropecheck(verify({"half_split"}, {"--json", "-"}));
  CHECK(result.exit_code == 0);
  CHECK(Json::parse(result.out)["subjects"][0]["conforms"] == true);
  CHECK_THAT(result.err, Contains("half_split: conforms"));
}

TEST_CASE("command: list names what there is") {
  const Result requirements = ropecheck({"list", "requirements"});
  CHECK(requirements.exit_code == 0);
  CHECK_THAT(requirements.out, Contains("ROT-01  Every output element MUST") && Contains("does not see"));
  const Result impls = ropecheck({"list", "impls"});
  CHECK(impls.exit_code == 0);
  for (const char* name : {"half_split", "interleaved", "complex", "naive_matrix"})
    CHECK_THAT(impls.out, Contains(name));
  const Result goldens = ropecheck({"list", "goldens"});
  CHECK(goldens.exit_code == 0);
  CHECK_THAT(goldens.out, Contains("labml") && Contains("huggingface/llama") && Contains("deviates"));
}

std::string requirement_count() { return std::to_string(all_requirements().size()); }

TEST_CASE("command: a right kernel conforms, with nothing but the report in a pipe") {
  const Result result = ropecheck({"verify", "half_split", "--level", "quick"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out,
             Contains("half_split: conforms  (" + requirement_count() + " passed, 0 failed, 0 not claimed"));
  CHECK(result.out.find('\x1b') == std::string::npos);
  CHECK(result.out.find('\r') == std::string::npos);
  CHECK(result.err.empty());
}

TEST_CASE("command: on a terminal there is colour and a line of progress, which goes away") {
  const std::string command = (build_folder / "ropecheck").string() + " verify half_split --level quick";
  const Result result = run_program({"script", "-qec", command, "/dev/null"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out,
             Contains("/" + requirement_count() + "] half_split  ") && Contains("\r\x1b[K\x1b[1mhalf_split"));
}

TEST_CASE("command: a report that did not get through is not a pass") {
  // As large as a buffer, and smaller.
  for (const char* what : {"requirements", "impls"}) {
    const std::string program = (build_folder / "ropecheck").string();
    const Result result = run_program({"sh", "-c", R"("$0" list "$1" > /dev/full)", program, what});
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("ropecheck: stdout cannot be written"));
  }
}

TEST_CASE("command: a seed gives the same cases and another seed others") {
  const auto cases = [](const char* seed) {
    Json json = Json::parse(ropecheck(verify({"half_split"}, {"--seed", seed, "--json", "-"})).out);
    json["subjects"][0].erase("seconds");
    json["subjects"][0].erase("seed");
    return json;
  };
  CHECK(cases("7") == cases("7"));
  CHECK(cases("7") != cases("8"));
}

TEST_CASE("command: a wrong kernel is rejected, and the line that verify prints shows it again") {
  const Result result = ropecheck({"verify", mutants + "#PAIR-01", "--level", "quick"});
  CHECK(result.exit_code == 1);
  CHECK(result.err.empty());
  CHECK_THAT(line_with(result.out, "ROT-01  "), Contains("FAIL"));
  CHECK_THAT(result.out, Contains("#PAIR-01: does not conform"));
  const std::string found = line_with(result.out, "found  ");
  const std::string replay = line_with(result.out, "ropecheck replay ");
  REQUIRE_THAT(replay, Contains("replay    ropecheck replay 'ROT-01:"));

  // As it stands there, by a shell that finds ropecheck.
  const std::string line = replay.substr(replay.find("ropecheck"));
  const Result again = run_program({"sh", "-c", line}, {"PATH=" + build_folder.string() + ":/usr/bin:/bin"});
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));
  CHECK_THAT(again.out, Contains(found.substr(found.find("found") + 10)));
  const Result right = run_program({"sh", "-c", std::string(line).replace(line.find("PAIR-01"), 7, "none")},
                                   {"PATH=" + build_folder.string() + ":/usr/bin:/bin"});
  CHECK(right.exit_code == 0);
}

TEST_CASE("command: the replay line holds where the path needs quotes") {
  const TemporaryFolder folder;
  const std::string path = (folder / "it's a kernel.so").string();
  fs::copy_file(mutants, path);
  const Result result = ropecheck(verify({path + "#PIPE-01"}));
  CHECK(result.exit_code == 1);
  const std::string replay = line_with(result.out, "ropecheck replay ");
  REQUIRE_FALSE(replay.empty());
  const Result again = run_program({"sh", "-c", replay.substr(replay.find("ropecheck"))},
                                   {"PATH=" + build_folder.string() + ":/usr/bin:/bin"});
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));
}

TEST_CASE("command: one wrong kernel among right ones decides") {
  const Result result = ropecheck(verify({"half_split", mutants + "#PIPE-01", mutants + "#none"}));
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Contains("half_split: conforms") && Contains("#none: conforms"));
}

// Processes that inherited the variable, besides this one.
std::vector<pid_t> processes_with(const std::string& variable) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (read(entry.path() / "environ").find(variable) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

bool within(std::chrono::seconds time, const std::function<bool()>& happens) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!happens()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

void check_interrupted(int signal) {
  const TemporaryFolder folder;
  const std::string json = (folder / "report.json").string();
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Program program({(build_folder / "ropecheck").string(), "verify", mutants + "#none", mutants + "#NAN-03", "--level",
                   "exhaustive", "--json", json},
                  {mark});
  // Two: ropecheck and its worker, both at work.
  REQUIRE(within(std::chrono::seconds(20), [&] { return processes_with(mark).size() >= 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  program.signal(signal);
  const Result result = program.wait();
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.out, Contains("#none: interrupted: no verdict") && Contains("1 of 2 subjects were judged"));
  CHECK_THAT(result.out, !Contains("conforms"));
  const Json report = Json::parse(read(json));
  REQUIRE(report["subjects"].size() == 1);
  CHECK(report["subjects"][0]["interrupted"] == true);
  CHECK(report["subjects"][0]["conforms"] == false);
  CHECK(report["subjects"][0]["cases"] > 0);
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

TEST_CASE("command: an interrupted run says that it is incomplete and leaves no worker behind") {
  check_interrupted(SIGINT);
  check_interrupted(SIGTERM);
}

TEST_CASE("command: asked twice it ends at once, and without a report half written") {
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Program program({(build_folder / "ropecheck").string(), "verify", (build_folder / "misbehaving.so#endless").string(),
                   "--json", (folder / "report.json").string()},
                  {mark});
  REQUIRE(within(std::chrono::seconds(20), [&] { return processes_with(mark).size() >= 2; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  program.signal(SIGINT);
  CHECK(program.wait().exit_code == 130);
  CHECK(fs::is_empty(folder.path()));
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

}  // namespace
}  // namespace rope
