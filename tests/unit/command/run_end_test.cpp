// Whatever ends a run before its end, what was seen until then is reported, and a failure keeps exit code 1.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

// What one run left in all of its reports.
struct Reported {
  Result result;
  Json json;
  std::string junit, html, markdown;

  const Json& subject(std::size_t i = 0) const { return json["subjects"][i]; }
};

Reported reported(Words command, const Words& variables = {}, const Words& before = {}) {
  const TemporaryFolder folder;
  const auto file = [&](const char* name) { return (folder / name).string(); };
  command.insert(command.end(), {"--json", file("report.json"), "--junit", file("report.xml"), "--html",
                                 file("report.html"), "--markdown", file("report.md")});
  command.insert(command.begin(), (build_folder() / "ropecheck").string());
  command.insert(command.begin(), before.begin(), before.end());
  Reported all;
  all.result = run_program(command, variables);
  INFO(all.result.out << all.result.err);
  REQUIRE(fs::exists(file("report.json")));
  all.json = Json::parse(read(file("report.json")));
  all.junit = read(file("report.xml"));
  all.html = read(file("report.html"));
  all.markdown = read(file("report.md"));
  return all;
}

// All reports say that the subject was not judged to its end, and why.
void check_incomplete(const Reported& all, int exit_code, const std::string& verdict, const std::string& why,
                      std::size_t subject = 0) {
  INFO(all.result.out << all.result.err);
  CHECK(all.result.exit_code == exit_code);
  CHECK_THAT(all.result.out, Contains(verdict) && Contains("ended early: " + why));
  CHECK(all.subject(subject)["interrupted"] == true);
  CHECK(all.subject(subject)["conforms"] == false);
  CHECK(all.subject(subject)["cases"] > 0);
  CHECK(all.subject(subject)["ended_by"] == why);
  CHECK(all.subject(subject)["verdict"] == verdict);
  CHECK_THAT(all.junit, Contains("<error message=\"" + verdict + ": " + why + "\""));
  CHECK_THAT(all.html, Contains(verdict) && Contains("Ended early:") && Contains(why));
  CHECK_THAT(all.markdown, Contains(verdict) && Contains("- ended early: "));
}

const Words exhaustive{"--level", "exhaustive", "--only", "ROT-01"};
const std::string four_seconds = "the time limit of 4 s was reached";

TEST_CASE("command: --time-limit ends the whole run; the reports have what was judged") {
  Words right{"verify", mutants + "#none", "half_split", "--time-limit", "4"};
  right.insert(right.end(), exhaustive.begin(), exhaustive.end());
  const auto start = std::chrono::steady_clock::now();
  const Reported all = reported(right);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  check_incomplete(all, 4, "incomplete: no verdict", four_seconds);
  CHECK(all.json["time_limit"] == 4.0);
  CHECK(all.json["not_judged"] == Json{"half_split"});
  CHECK_THAT(all.result.out, Contains(four_seconds + ": 1 of 2 subjects were judged"));

  Words wrong{"verify", mutants + "#PAIR-01", "--time-limit", "4"};
  wrong.insert(wrong.end(), exhaustive.begin(), exhaustive.end());
  check_incomplete(reported(wrong), 1, "does not conform; incomplete", four_seconds);
}

TEST_CASE("command: --time-limit ends a call that hangs, and every command that judges") {
  const TemporaryFolder folder;
  const std::string kernel = (build_folder() / "hanging.so").string() + "#hanging";
  const Words hangs{"HANGING_FROM=20", "HANGING_CALLS=" + (folder / "calls").string()};
  const auto with_limit = [&](Words words) {
    words.insert(words.end(), {"--time-limit", "4"});
    for (const std::string& word : open_for_tests(folder)) words.push_back(word);
    return words;
  };
  check_incomplete(reported(with_limit({"verify", kernel, "--level", "quick", "--jobs", "1"}), hangs), 4,
                   "incomplete: no verdict", four_seconds);
  for (const Words& command : {with_limit({"identify", kernel}), with_limit({"golden", "verify", kernel})}) {
    fs::remove(folder / "calls");
    const Result result = ropecheck(command, {"HANGING_FROM=3", hangs[1]});
    CHECK(result.exit_code == 4);
    CHECK_THAT(result.out, Contains(four_seconds + ": not every "));
  }
}

TEST_CASE("command: --time-limit counts from the start of the process, so it ends what comes before judging, too") {
  const TemporaryFolder folder;
  const std::string model = (folder / "config.json").string();
  REQUIRE(mkfifo(model.c_str(), 0600) == 0);
  // Its writer may take any time.
  const auto run_with = [&](const std::string& writer, const std::string& more) {
    return run_program({"sh", "-c", "exec 9<>" + model + "; " + writer + " & exec timeout 60 " +
                                        (build_folder() / "ropecheck").string() + " verify half_split --model-config " +
                                        model + more + " 9>&-"});
  };
  const Result never = run_with("sleep 2", " --time-limit 0.5");
  CHECK(never.exit_code == 4);
  CHECK(never.err ==
        "ropecheck: the time limit of 0.5 s was reached before anything was judged; give more with --time-limit\n");
  const std::string report = (folder / "report.json").string();
  const Result late = run_with("{ sleep 4; echo '{\"head_dim\": 8, \"rope_theta\": 1e6}' >&9; }",
                               " --pairing half_split --level exhaustive --time-limit 6 --json " + report);
  CHECK(late.exit_code == 4);
  CHECK_THAT(late.out, Contains("the time limit of 6 s was reached"));
  CHECK(Json::parse(read(report))["subjects"][0]["seconds"] < 4);  // less than 2 are left, not 6
}

TEST_CASE("command: without a limit of its own a run has five hours, and its report says so") {
  const Reported all = reported(verify({"half_split"}));
  CHECK(all.result.exit_code == 0);
  CHECK(all.json["time_limit"] == 18000.0);
  CHECK_THAT(all.html, Contains("18000 s"));
}

TEST_CASE("command: without room for its tensors, a subject keeps its failures; later ones are judged") {
  const std::string worker = "cmd:python3 -B " + (source_folder() / "tests/unit/worker/broken_worker.py").string();
  const Words asked{"--only", "ROT-01,STA-01", "--level", "quick", "--dtype", "f32", "--head-dim", "2", "--no-diagnosis"};
  const auto judged = [&](const std::string& words) {
    Words command{"verify", worker + words, "half_split"};
    command.insert(command.end(), asked.begin(), asked.end());
    return reported(command);
  };
  const auto why = [&](const std::string& words) {
    return worker + words + " cannot be judged here: no memory for the tensors";
  };
  const std::string right = " lacks_room sometimes", wrong = right + " wrong_values";
  const Reported some = judged(wrong), none = judged(right);
  check_incomplete(some, 1, "does not conform; incomplete", why(wrong));
  check_incomplete(none, 4, "incomplete: no verdict", why(right));
  for (const Reported* one : {&some, &none}) {
    REQUIRE(one->json["subjects"].size() == 2);
    CHECK(one->subject(1)["conforms"] == true);
  }
}

TEST_CASE("command: a subject that cannot be started again loses nothing that was judged before it") {
  const TemporaryFolder folder;
  // The second start fails: the first one, before anything is judged, is not enough to find it.
  write(folder / "once.py", "import os, sys\nsys.path.insert(0, '" + (source_folder() / "tests/unit/worker").string() +
                                "')\nimport page_worker\nmark = os.path.join(os.path.dirname(__file__), 'started')\n"
                                "if os.path.exists(mark): sys.exit('no more')\nopen(mark, 'w').close()\n"
                                "page_worker.Worker(os.environ['ROPECHECK_WORKER']).serve()\n");
  const std::string once = "cmd:python3 -B " + (folder / "once.py").string();
  const Reported all =
      reported(verify({mutants + "#SIGN-01", once, "half_split", "--allow", folder.path().string()}));
  CHECK(all.result.exit_code == 1);
  REQUIRE(all.json["subjects"].size() == 2);
  CHECK(all.subject(0)["conforms"] == false);
  CHECK(all.subject(1)["conforms"] == true);
  CHECK(all.json["refused"][0]["subject"] == once);
  CHECK_THAT(all.json["refused"][0]["why"].get<std::string>(), Contains("no more"));
}

TEST_CASE("command: a reader of stdout that goes loses neither reports nor the exit code") {
  const Words shell{"sh", "-c", "{ \"$@\"; echo $? >&2; } | true", "sh"};
  const Reported all = reported(verify({mutants + "#SIGN-01", "half_split"}), {}, shell);
  CHECK(all.json["subjects"].size() == 2);
  CHECK_THAT(all.result.err, Contains("cannot write to stdout") && Catch::EndsWith("\n1\n"));
}

TEST_CASE("command: a report on a full stdout loses neither the other reports nor the exit code") {
  const TemporaryFolder folder;
  const std::string command = (build_folder() / "ropecheck").string() + " verify " + mutants +
                              "#SIGN-01 --level quick --only ANG-01 --no-diagnosis --json - --markdown ";
  const Result result = run_program({"sh", "-c", command + (folder / "report.md").string() + " > /dev/full"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("cannot write to stdout"));
  CHECK_THAT(read(folder / "report.md"), Contains("does not conform"));
}

TEST_CASE("command: a limit on CPU time ends a run as the time limit does") {
  Words command{"verify", "half_split"};  // in ropecheck's own process
  command.insert(command.end(), exhaustive.begin(), exhaustive.end());
  check_incomplete(reported(command, {}, {"sh", "-c", "ulimit -S -t 3; exec \"$@\"", "sh"}), 4,
                   "incomplete: no verdict", "the limit on CPU time was reached (`ulimit -t`)");
}

}  // namespace
}  // namespace rope
