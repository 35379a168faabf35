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
                   "--write-expected-failures", list, "--env", "MARK_OF_A_TEST"},
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

// Both come at once: one would be enough to end it.
bool ended_by_two_signals(Program& program) {
  for (const int signal : {SIGSTOP, SIGTERM, SIGINT, SIGCONT}) program.signal(signal);
  const int code = program.wait().exit_code;
  return code == 128 + SIGINT || code == 128 + SIGTERM;
}

TEST_CASE("command: interrupted twice it ends at once, without a half-written report") {
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Program program({(build_folder() / "ropecheck").string(), "verify",
                   (build_folder() / "misbehaving.so#endless").string(), "--json", (folder / "report.json").string(), "--env",
                   "MARK_OF_A_TEST"},
                  {mark});
  REQUIRE(within(std::chrono::seconds(300), [&] { return seconds_of_workers(mark) >= 1; }));  // in the endless call
  CHECK(ended_by_two_signals(program));
  CHECK(fs::is_empty(folder.path()));
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

// A place in a run at which the kernel hangs. What it has answered until then is in the report.
struct Phase {
  std::string name;
  Words command;
  Words variables;  // of hanging.cpp
  int exit_code = 4;
  std::string said;
  std::int64_t hanging = 1;  // processes
};

const std::string hanging_library = (build_folder() / "hanging.so").string();
const Words few_cases{"--only", "ROT-02,REL-01,MEM-01", "--level", "quick", "--head-dim", "8", "--dtype", "f32"};

Words verify_hanging(const Words& more = {}) {
  Words command{"verify", hanging_library + "#hanging"};
  command.insert(command.end(), few_cases.begin(), few_cases.end());
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::int64_t calls_counted(const fs::path& file) {
  std::error_code absent;
  const std::uintmax_t size = fs::file_size(file, absent);
  return absent ? 0 : static_cast<std::int64_t>(size);
}

// Calls of a run that does not hang: in the suite, and in all.
std::pair<std::int64_t, std::int64_t> calls_of(const Words& variables, Json& report) {
  const TemporaryFolder folder;
  Words all = variables;
  all.push_back("HANGING_CALLS=" + (folder / "calls").string());
  Words command = verify_hanging({"--json", (folder / "report.json").string()});
  for (const std::string& word : open_for_tests(folder)) command.push_back(word);
  ropecheck(command, all);
  report = Json::parse(read(folder / "report.json"))["subjects"][0];
  return {report["calls"], calls_counted(folder / "calls")};
}

void check_ends_at_once(const Phase& phase) {
  INFO(phase.name);
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Words command = phase.command, variables = phase.variables;
  command.insert(command.begin(), (build_folder() / "ropecheck").string());
  for (const std::string& word : open_for_tests(folder)) command.push_back(word);
  variables.insert(variables.end(), {mark, "HANGING_CALLS=" + (folder / "calls").string()});
  const bool has_report = command[1] == "verify" || command[1] == "identify";
  if (has_report) command.insert(command.end(), {"--json", (folder / "report.json").string()});
  Program program(command, variables);
  REQUIRE(within(std::chrono::seconds(60), [&] { return calls_counted(folder / "calls.hung") >= phase.hanging; }));
  const auto start = std::chrono::steady_clock::now();
  program.signal(SIGTERM);
  const Result result = program.wait();
  // A call that hangs costs two deadlines of ten seconds. It ends in a hundredth; a busy machine gets more time.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(result.exit_code == phase.exit_code);
  CHECK_THAT(result.out + result.err, Contains(phase.said));
  CHECK(processes_with(mark).empty());
  if (!has_report) return;
  const Json report = Json::parse(read(folder / "report.json"));
  const bool is_marked = command[1] == "identify" ? report.contains("interrupted")
                         : report["subjects"].empty() ? !report["not_judged"].empty()
                                                      : report["subjects"][0]["interrupted"] == true;
  CHECK(is_marked);
}

TEST_CASE("command: in every phase SIGTERM ends the run at once, with its report and without its workers") {
  const std::string kernel = hanging_library + "#hanging", wrong = "HANGING_WRONG=in place";
  Json right_report, wrong_report;
  const auto [right_calls, right_total] = calls_of({}, right_report);
  const auto [wrong_calls, wrong_total] = calls_of({wrong}, wrong_report);
  REQUIRE(!right_report["horizons"].empty());  // measured by the last calls
  REQUIRE(wrong_report.contains("conforms_without"));
  REQUIRE(wrong_report.contains("diagnosis"));
  REQUIRE(right_calls == right_total);
  REQUIRE(wrong_calls + 100 < wrong_total);
  const auto from = [](std::int64_t call) { return "HANGING_FROM=" + std::to_string(call); };
  const std::string none = "interrupted: no verdict", some = "does not conform; interrupted";
  const std::string left = "interrupted: 0 of 1 subjects were judged";
  std::vector<Phase> phases{
      {"listing the kernels of a library", {"verify", hanging_library}, {from(0)}, 4, left},
      {"loading a library", verify_hanging(), {from(0)}, 4, left},
      {"the first call", verify_hanging(), {from(1)}, 4, none},
      {"the suite", verify_hanging({"--jobs", "1"}), {from(20)}, 4, none},
      {"lanes", {"verify", kernel, "--level", "quick", "--only", "ROT,REL", "--jobs", "4"}, {from(200)}, 4, none, 2},
      {"shrinking", {"verify", kernel, "--level", "quick", "--only", "MEM-03"}, {"HANGING_WRONG=shrinking"}, 1, some},
      {"the horizon", verify_hanging(), {from(right_calls)}, 4, none},
      {"judging again with fewer claims", verify_hanging(), {wrong, from(wrong_calls + 1)}, 1, some},
      {"the diagnosis", verify_hanging(), {wrong, from(wrong_total)}, 1, some},
      {"identify", {"identify", kernel}, {from(3)}, 4, "interrupted: not every plan was measured"},
      {"replay", {"replay", "ROT-01:head_dim=8", "--subject", kernel}, {from(1)}, 4, "ropecheck: interrupted"},
      {"golden verify", {"golden", "verify", kernel}, {from(5)}, 4, "interrupted: not every case was judged"}};
  for (const Phase& phase : phases) check_ends_at_once(phase);
}

TEST_CASE("command: a module in Python that hangs, and its first call, end at once when interrupted") {
  if (numpy_python().empty()) return;
  const TemporaryFolder folder;
  const std::string hang =
      "    with open(os.environ['HANGING_CALLS'] + '.hung', 'a') as file: file.write('.')\n    time.sleep(600)\n";
  write(folder / "slow_import.py", "import os, time\nif True:\n" + hang);
  write(folder / "slow_call.py", "import os, time\ndef rope(call):\n" + hang);
  for (const std::string module : {"slow_import", "slow_call"}) {
    const std::string subject = "python:" + module + ":rope --python " + numpy_python();
    check_ends_at_once({module, {"verify", subject}, {"PYTHONPATH=" + folder.path().string()}, 4,
                        "interrupted: 0 of 1 subjects were judged"});
  }
}

TEST_CASE("command: interrupted twice, not even a program that ignores everything is left") {
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  const std::string busy = "cmd:" + python() + " -c 'while True: pass'";
  Program program({(build_folder() / "ropecheck").string(), "verify", busy, "--env", "MARK_OF_A_TEST"}, {mark});
  REQUIRE(within(std::chrono::seconds(60), [&] { return processes_with(mark).size() >= 2; }));
  CHECK(ended_by_two_signals(program));
  CHECK(within(std::chrono::seconds(5), [&] { return processes_with(mark).empty(); }));
}

}  // namespace
}  // namespace rope
