// ropecheck verify as a person runs it.
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

TEST_CASE("command: a wrong value of an option is named with the values that it takes") {
  check_refused(2, {"verify", "half_split", "--head-dim", "x"}, {"--head-dim = x; expected INT"});
  check_refused(2, {"verify", "half_split", "--level", "fast"}, {"--level: \"fast\"", "quick, full or exhaustive"});
  check_refused(2, {"verify", "half_split", "--dtype", "f32,f8"}, {"--dtype: \"f8\"", "use f64, f32, f16 or bf16"});
  check_refused(2, {"verify", "half_split", "--dtype", "i32"}, {"--dtype: \"i32\"", "use f64, f32, f16 or bf16"});
  check_refused(2, {"verify", "half_split", "--pairing", "split"},
                {"--pairing: \"split\"", "half_split or interleaved"});
  check_refused(2, {"verify", "half_split", "--seed", "-1"},
                {"--seed: \"-1\" is not a seed; expected a whole number from 0"});
  check_refused(2, {"verify", "half_split", "--seed", "18446744073709551616"}, {"--seed", "from 0 to 2^64 - 1"});
  check_refused(2, {"verify", "half_split", "--seed", "one"}, {"--seed: \"one\" is not a seed"});
}

TEST_CASE("command: a budget that leaves something out gives no verdict, unless something fails") {
  check_refused(2, {"verify", "half_split", "--budget", "0"}, {"--budget: \"0\" is not a budget; expected a number"});
  check_refused(2, {"verify", "half_split", "--budget", "nan"}, {"is not a budget"});
  const TemporaryFolder folder;
  const std::string list = (folder / "expected.txt").string();
  Result result = ropecheck({"verify", mutants + "#none", "--level", "quick", "--budget", "0.2", "--jobs", "1",
                             "--write-expected-failures", list});
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.out, Contains("#none: no verdict: nothing that was asked fails, but not all was asked  ("));
  CHECK_THAT(result.out, Contains("  budget of 0.2 s used: ") && Contains("only in part\n"));
  CHECK_THAT(result.out, Contains(list + " was not written: the budget left no time for some cases\n"));
  CHECK_FALSE(fs::exists(list));
  result = ropecheck({"verify", mutants + "#SIGN-01", "--level", "quick", "--budget", "0.6", "--jobs", "1"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Contains("#SIGN-01: does not conform  (") && Contains("  budget of 0.6 s used: "));
  CHECK_THAT(result.out, Contains("diagnosis: sign-direction"));
  result = ropecheck({"verify", "half_split", "--only", "ROT-02", "--level", "quick", "--budget", "600"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("half_split: conforms  (") && !Contains("budget"));
}

TEST_CASE("command: a kernel that hangs now and then does not conform, and every report says so") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const Result result = ropecheck({"verify",          (build_folder() / "hanging.so").string() + "#every_50th",
                                   "--level",         "quick",
                                   "--only",          "ROT-02,STA-03",
                                   "--head-dim",      "8",
                                   "--deadline",      "0.3",
                                   "--wall-deadline", "0.3",
                                   "--json",          file("json"),
                                   "--junit",         file("junit"),
                                   "--markdown",      file("md"),
                                   "--html",          file("html")});
  CHECK(result.exit_code == 1);
  const Json subject = Json::parse(read(folder / "json"))["subjects"][0];
  CHECK(subject["recovered_hangs"] >= 2);
  CHECK(subject["requirements"][1]["verdict"] == "fail");
  const auto words = Contains("did not return in time, and did in a new process");
  CHECK_THAT(result.out, Contains("  hangs: ") && words && Contains("STA-03  FAIL"));
  for (const char* name : {"junit", "md", "html"}) CHECK_THAT(read(folder / name), words);
}

TEST_CASE("command: a kernel that cannot be asked for or opened does not stop its library") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const std::string mixed = (build_folder() / "odd_mixed.so").string();
  const auto began = std::chrono::steady_clock::now();
  const Result result =
      ropecheck({"verify", mixed, "--level", "quick", "--only", "ROT-02", "--head-dim", "8", "--json", file("json"),
                 "--junit", file("junit"), "--markdown", file("md"), "--html", file("html")});
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(20));
  CHECK(result.exit_code == 3);
  const Json report = Json::parse(read(folder / "json"));
  const std::string bell = R"(#bell\x07\x1b[31m<b>\u202e)";
  REQUIRE(report["subjects"].size() == 2);
  CHECK(report["subjects"][0]["subject"] == mixed + "#right");
  CHECK(report["subjects"][0]["conforms"] == true);
  CHECK(report["subjects"][1]["subject"] == mixed + bell);
  REQUIRE(report["refused"].size() == 10);
  CHECK(report["refused"][0] ==
        Json{{"subject", mixed + "#1"}, {"why", "the name of kernel 1 cannot be used: it is empty"}});
  CHECK_THAT(result.err, Contains(mixed + "#3 is refused: the name of kernel 3 cannot be used: it is not UTF-8") &&
                             Contains("head_dims: 100000 are claimed; allowed are 1024") &&
                             Contains("#lacks_apply is refused: "));
  CHECK_THAT(read(folder / "junit"), Contains("errors=\"10\"") && Contains("refused: the name of kernel 1"));
  CHECK_THAT(read(folder / "md"), Contains("| **refused** | the name of kernel 1 cannot be used: it is empty |"));
  CHECK_THAT(read(folder / "html"), Contains("the name of kernel 1 cannot be used: it is empty"));
  for (const char* name : {"json", "junit", "md", "html"}) {
    const std::string text = read(folder / name);
    INFO(name);
    CHECK(text.find_first_of("\a\x1b") == text.npos);
    CHECK(text.find("\u202e") == text.npos);
  }
  CHECK((result.out + result.err).find_first_of("\a\x1b") == std::string::npos);
  CHECK_THAT(result.out, Contains(bell));

  // Where no kernel is left, the library is refused.
  check_refused(3, {"verify", (build_folder() / "odd_twins.so").string()},
                {"kernels 0 and 1 have the same name, twin; choose one by its index, as in", "odd_twins.so#0"});
}

TEST_CASE("command: if the only kernel cannot be started, every report says so") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  const std::string missing = file("missing.so");
  const Result result = ropecheck({"verify", missing, "--json", file("json"), "--junit", file("junit"), "--markdown",
                                   file("md"), "--html", file("html")});
  CHECK(result.exit_code == 3);
  CHECK_THAT(result.err, Contains("\nropecheck: " + missing + " does not exist"));
  const Json report = Json::parse(read(folder / "json"));
  CHECK(report["subjects"].empty());
  REQUIRE(report["refused"].size() == 1);
  CHECK(report["refused"][0]["subject"] == missing);
  CHECK_THAT(read(folder / "junit"), Contains("tests=\"1\" failures=\"0\" errors=\"1\"") &&
                                         Contains("<error message=\"refused: ") && Contains("does not exist"));
  CHECK_THAT(read(folder / "md"), Contains("| **refused** | ") && Contains("does not exist"));
  CHECK_THAT(read(folder / "html"), Contains("refused") && Contains("does not exist"));
}

TEST_CASE("command: --quiet takes 15 lines at most, --verbose tells every requirement") {
  const auto printed = [](const char* option) {
    return ropecheck({"verify", mutants + "#PAIR-01", "--level", "quick", "--only", "ROT,ANG,POS", option}).out;
  };
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const std::string quiet = printed("--quiet"), verbose = printed("--verbose");
  CHECK(lines(quiet) <= 15);
  CHECK_THAT(quiet, Contains("diagnosis: pairing-layout") && Contains("ropecheck replay ") && Contains("ANG-07"));
  CHECK(lines(verbose) > 100);
  CHECK_THAT(verbose, Contains("  ROT-01  FAIL ") && Contains("  ANG-01  FAIL ") && Contains("  ROT-02  pass "));
}

TEST_CASE("command: a spec given by flags without --pairing is judged with each claimed pairing") {
  const TemporaryFolder folder;
  const Words words{"verify", "interleaved", "complex", "--level", "quick", "--only", "ROT-01", "--head-dim", "8",
                    "--json", folder / "json", "--markdown", folder / "md"};
  const Result result = ropecheck(words);
  CHECK(result.exit_code == 0);
  const Json report = Json::parse(read(folder / "json"));
  for (const Json& subject : report["subjects"]) {
    CHECK(subject["cases"] > 0);
    CHECK_FALSE(subject["spec"].contains("pairing"));
  }
  CHECK_THAT(read(folder / "md"), Contains("--head-dim 8 --rotary-dim 8 --base 10000"));
}

TEST_CASE("command: an invalid spec given by flags is refused by field, value and limit") {
  const auto spec = [](const Words& flags, const Words& expected) {
    Words command{"verify", "half_split"};
    command.insert(command.end(), flags.begin(), flags.end());
    check_refused(2, command, expected);
  };
  spec({"--head-dim", "64", "--rotary-dim", "33"}, {"rotary_dim is 33; it must be even"});
  spec({"--head-dim", "64", "--rotary-dim", "80"}, {"rotary_dim is 80; it must be 2 to head_dim = 64"});
  spec({"--rotary-dim", "32"}, {"--head-dim is missing"});
  spec({"--base", "500000", "--rotary-dim", "32"}, {"--head-dim is missing"});
  spec({"--base", "-1"}, {"--base: -1 is not a number above 0"});
  spec({"--head-dim", "64", "--scaling", "linaer,factor=2"},
       {"\"linaer\" is not known; did you mean linear? use one of none, linear"});
  spec({"--head-dim", "64", "--scaling", "linear"}, {"--scaling.factor: missing", "\"linear\" needs it"});
  spec({"--axes-order", "interleaved", "--head-dim", "64"}, {"--axes is missing"});
  spec({"--axes", "16:16", "--axes-order", "mixed", "--head-dim", "64"},
       {"\"mixed\"", "chunked, interleaved, spread or others_first"});
}

TEST_CASE("command: a wrong spec file is refused by file, byte or field") {
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
  spec(R"({"head_dim": 64, "colour": 1})",
       {file, "unknown field \"colour\"; known are", "rotary_dim, rotary_offset, pairing, base"});
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

TEST_CASE("command: a subject without a kernel is refused by path and reason") {
  check_refused(2, {"verify", "halfsplit"}, {"\"halfsplit\" is neither a built-in (half_split, interleaved, complex"});
  check_refused(3, {"verify", "/nowhere/lib.so"},
                {"/nowhere/lib.so does not exist; give the path of a shared library"});
  check_refused(3, {"verify", build_folder().string()},
                {build_folder().string() + " is a folder, not a shared library"});
  const TemporaryFolder folder;
  const std::string text = (folder / "text.so").string();
  write(text, "int main() {}");
  check_refused(3, {"verify", text}, {text + " cannot be loaded", "expected a shared library for this machine"});
  check_refused(3, {"verify", (build_folder() / "no_kernels.so").string()},
                {"no_kernels.so does not export rope_kernel_count", "see impls/include/rope_kernel.h"});
  check_refused(3, {"verify", (build_folder() / "zero_kernels.so").string()}, {"zero_kernels.so holds no kernels"});
  check_refused(3, {"verify", mutants + "#PAIR-99"},
                {mutants + " holds no kernel PAIR-99; did you mean PAIR-", "? it holds none, PAIR-01"});
  const std::string crashing = (build_folder() / "throwing.so").string();
  check_refused(3, {"verify", crashing, "--env", "CRASH_WHILE_LOADING"},
                {crashing + ": the subject aborted", "while it was loaded, before any call"},
                {"CRASH_WHILE_LOADING=1"});
  const std::string future = (build_folder() / "future_abi.so").string();
  check_refused(
      3, {"verify", future},
      {"kernel future of " + future, "built for ABI 2, this ropecheck speaks ABI 1", "use a newer ropecheck"});
}

TEST_CASE("command: a name of no kind of subject is reported before anything is judged") {
  check_refused(2, {"verify", "half_split", "halfsplit"}, {"\"halfsplit\" is neither a built-in"});
}

TEST_CASE("command: a built-in's name means the built-in, also beside a file or folder of that name") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "half_split");
  const std::string built = (build_folder() / "ropecheck").string();
  const Result result = run_program({"env", "-C", folder.path().string(), built, "verify", "half_split", "--only",
                                     "ROT-02", "--level", "quick"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("half_split: conforms"));
}

TEST_CASE("command: a subject that cannot be started is refused, and those beside it are judged") {
  const std::string crashing = (build_folder() / "throwing.so").string();
  const std::string zero = (build_folder() / "zero_kernels.so").string();
  const TemporaryFolder folder;
  const std::string report = (folder / "report.json").string(), page = (folder / "report.html").string();
  const Words env{"--env", "CRASH_WHILE_LOADING"}, crash{"CRASH_WHILE_LOADING=1"};
  const auto with = [&](const Words& words) {
    Words all = words;
    all.insert(all.end(), env.begin(), env.end());
    return ropecheck(all, crash);
  };
  const Result both = with({"verify", crashing, "cmd:true", "half_split", zero, "/nowhere/lib.so", "--only", "ROT-02",
                            "--level", "quick", "--json", report, "--html", page});
  CHECK(both.exit_code == 3);
  CHECK_THAT(both.out, Contains("half_split: conforms"));
  CHECK_THAT(both.err, Contains(crashing + " is refused: ") && Contains("the subject aborted") &&
                           Contains("cmd:true is refused: ") && Contains(zero + " is refused: ") &&
                           Contains("/nowhere/lib.so is refused: /nowhere/lib.so does not exist"));
  const Json written = Json::parse(read(report));
  CHECK(written.at("subjects").size() == 1);
  CHECK(written.at("refused").size() == 4);
  // One that fails counts for more.
  CHECK(with({"verify", crashing, mutants + "#PAIR-01", "--only", "ROT-01", "--level", "quick", "--no-diagnosis"})
            .exit_code == 1);
  // None can be started.
  const Result none = with({"verify", crashing, "cmd:true", "--json", report, "--html", page});
  CHECK(none.exit_code == 3);
  CHECK(Json::parse(read(report)).at("refused").size() == 2);
  const Result identified = with({"identify", crashing, "half_split", "--dtype", "f32"});
  CHECK(identified.exit_code == 3);
  CHECK_THAT(identified.out, Contains("half_split"));
  const Result golden = with({"golden", "verify", "cmd:true", "half_split", crashing});
  CHECK(golden.exit_code == 3);
  CHECK_THAT(golden.out, Contains("from stored tables"));
}

TEST_CASE("command: a run without cases is not a pass") {
  const Result result = ropecheck({"verify", "half_split", "--pairing", "interleaved"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.out, Contains("the claims cover nothing of what was asked (interleaved is not claimed)"));
  CHECK_THAT(result.out, !Contains("half_split: conforms"));
}

std::string requirement_count() { return std::to_string(all_requirements().size()); }

TEST_CASE("command: a right kernel conforms, with only the report in a pipe") {
  const Result result = ropecheck({"verify", "half_split", "--level", "quick"});
  const std::string passed = std::to_string(all_requirements().size() - 1);  // MEM-07 is about devices
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("half_split: conforms  (" + passed + " passed, 0 failed, 1 not claimed"));
  CHECK(result.out.find('\x1b') == std::string::npos);
  CHECK(result.out.find('\r') == std::string::npos);
  CHECK(result.err.empty());
}

TEST_CASE("command: on a terminal there is colour, and a line of progress that goes away") {
  const std::string command = (build_folder() / "ropecheck").string() + " verify half_split --level quick --dtype f32";
  const Result result = run_program({"script", "-qec", command, "/dev/null"}, {"TERM=xterm", "NO_COLOR="});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out,
             Contains("/" + requirement_count() + "] half_split  ") && Contains("\r\x1b[K\x1b[1mhalf_split"));
}

TEST_CASE("command: NO_COLOR, TERM=dumb and --color decide on colours, --quiet on the rest") {
  const auto on_terminal = [](const std::string& more, const Words& variables) {
    const std::string command = (build_folder() / "ropecheck").string() +
                                " verify --only ROT-02 half_split --dtype f32 --level quick --verbose " + more;
    return run_program({"script", "-qec", command, "/dev/null"}, variables).out;
  };
  CHECK_THAT(on_terminal("", {"TERM=xterm", "NO_COLOR="}), Contains("\x1b[32mpass"));
  CHECK_THAT(on_terminal("", {"TERM=xterm", "NO_COLOR=1"}), !Contains("\x1b[32m") && Contains("ROT-02  pass"));
  const std::string dumb = on_terminal("", {"TERM=dumb", "NO_COLOR="});
  CHECK_THAT(dumb, !Contains("\x1b") && Contains("ROT-02  pass"));
  CHECK_THAT(on_terminal("--color always", {"TERM=dumb", "NO_COLOR=1"}), Contains("\x1b[32mpass"));
  const Result quiet = ropecheck({"verify", "--only", "ROT-02", "half_split", "--level", "quick", "-q"});
  CHECK_THAT(quiet.out, Catch::StartsWith("half_split: conforms  (1 passed"));
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '\n') == 1);
}

// What every run of the same cases says.
Json without_times(const std::string& text) {
  Json json = Json::parse(text);
  json.erase("started");
  for (Json& subject : json["subjects"]) {
    for (const char* time : {"seconds", "kernel_seconds"}) {
      subject.erase(time);
      for (Json& requirement : subject["requirements"]) requirement.erase(time);
    }
  }
  return json;
}

TEST_CASE("command: a seed gives the same cases, another seed gives others") {
  const auto cases = [](const char* seed) {
    Json json = without_times(ropecheck(verify({"half_split"}, {"--seed", seed, "--json", "-"})).out);
    json["subjects"][0].erase("seed");
    return json;
  };
  const Json first = cases("7");
  CHECK(first == cases("7"));
  CHECK(first != cases("8"));
}

TEST_CASE("command: the report is the same for every number of jobs, with one kernel that crashes and one with state") {
  const auto told = [](const Words& jobs) {
    Words command{"verify", mutants + "#MEM-PAST-COS", mutants + "#TAB-01", "half_split", "--level", "quick",
                  "--head-dim", "8", "--only", "ROT-01,ROT-03,ROT-09,STA-01,MEM,DET-03", "--json", "-"};
    command.insert(command.end(), jobs.begin(), jobs.end());
    return without_times(ropecheck(command).out);
  };
  const Json one = told({"--jobs", "1"});
  CHECK(one["subjects"][0]["conforms"] == false);
  CHECK(one["subjects"][1]["conforms"] == false);
  CHECK(one == told({"--jobs", "4"}));
  CHECK(one == told({}));
}

TEST_CASE("command: a number of jobs is a whole number from 1") {
  check_refused(2, {"verify", "half_split", "--jobs", "0"}, {"--jobs"});
  check_refused(2, {"verify", "half_split", "--jobs", "many"}, {"--jobs: Value many not in range 1 to 1024"});
}

TEST_CASE("command: frequencies that no kernel can follow are refused") {
  const Words spec{"--head-dim", "8", "--base", "1e-300"};
  for (const Words& command : {Words{"verify", "half_split"}, Words{"identify", "half_split"}, Words{"plan"}}) {
    Words all = command;
    all.insert(all.end(), spec.begin(), spec.end());
    check_refused(2, all, {"the frequency of pair 1 is 1e+75; allowed are 1000 radians a position"});
  }
}

TEST_CASE("command: one wrong kernel among right ones decides") {
  const Result result = ropecheck(verify({"half_split", mutants + "#PIPE-01", mutants + "#none"}));
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Contains("half_split: conforms") && Contains("#none: conforms"));
}

}  // namespace
}  // namespace rope
