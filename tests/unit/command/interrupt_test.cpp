// An interrupted ropecheck: its report says so, and no process is left behind.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

// CPU time of all workers; the start takes a part of a second even with sanitizers.
double seconds_of_workers(const std::string& variable) {
  double seconds = 0;
  for (const pid_t pid : processes_with(variable)) {
    const fs::path process = fs::path("/proc") / std::to_string(pid);
    if (!read(process / "comm").starts_with("ropecheck_host")) continue;
    std::istringstream fields(read(process / "stat"));
    std::vector<std::string> all{std::istream_iterator<std::string>(fields), {}};
    if (all.size() < 15) continue;  // the process has just ended
    seconds += (std::stod(all[13]) + std::stod(all[14])) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return seconds;
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
  const std::string junit = (folder / "junit.xml").string(), markdown = (folder / "summary.md").string();
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string(), list = (folder / "expected.txt").string();
  Program program({(build_folder() / "ropecheck").string(), "verify", mutants + "#none", mutants + "#NAN-03", "--level",
                   "exhaustive", "--only", "ROT", "--json", json, "--junit", junit, "--markdown", markdown,
                   "--write-expected-failures", list},
                  {mark});
  // Until the cases are listed and some have run, however busy the machine is.
  REQUIRE(within(std::chrono::seconds(300), [&] { return seconds_of_workers(mark) >= 1; }));
  program.signal(signal);
  const Result result = program.wait();
  CHECK(result.exit_code == 4);
  CHECK_THAT(result.out, Contains("#none: interrupted: no verdict") && Contains("1 of 2 subjects were judged"));
  CHECK_THAT(result.out, !Contains("conforms"));
  CHECK_THAT(result.out, Contains(list + " was not written: the run was interrupted\n"));
  CHECK_FALSE(fs::exists(list));
  const Json report = Json::parse(read(json));
  REQUIRE(report["subjects"].size() == 1);
  CHECK(report["subjects"][0]["interrupted"] == true);
  CHECK(report["subjects"][0]["conforms"] == false);
  CHECK(report["subjects"][0]["cases"] > 0);
  CHECK(report["not_judged"] == Json{mutants + "#NAN-03"});
  CHECK_THAT(read(junit), Contains("<error message=\"interrupted: no verdict\"") && Contains("</testsuites>") &&
                              Contains("<error message=\"interrupted before it was judged\""));
  CHECK_THAT(read(markdown),
             Contains("**interrupted: no verdict**") && Contains("| interrupted before it was judged |"));
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

TEST_CASE("command: an interrupted run says that it is incomplete and leaves no worker behind") {
  check_interrupted(SIGINT);
  check_interrupted(SIGTERM);
}

TEST_CASE("command: interrupted twice it ends at once, without a half-written report") {
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Program program({(build_folder() / "ropecheck").string(), "verify",
                   (build_folder() / "misbehaving.so#endless").string(), "--json", (folder / "report.json").string()},
                  {mark});
  REQUIRE(within(std::chrono::seconds(300), [&] { return seconds_of_workers(mark) >= 1; }));  // in the endless call
  program.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  program.signal(SIGINT);
  CHECK(program.wait().exit_code == 130);
  CHECK(fs::is_empty(folder.path()));
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

}  // namespace
}  // namespace rope
