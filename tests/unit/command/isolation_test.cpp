// Kernels and workers that misbehave, judged by the real ropecheck. Each gives a finding in words, every requirement is
// still judged, and nothing is left behind.
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

// Named shared memory: ropecheck's has no name there, but a kernel's may.
std::set<std::string> shared_memory() {
  std::set<std::string> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator("/dev/shm", absent)) {
    if (entry.path().filename().string().find("rope") != std::string::npos) found.insert(entry.path());
  }
  return found;
}

struct Judged {
  Result result;
  Json report;
  std::vector<pid_t> left_behind;

  // The messages of the minimal cases of all requirements that failed.
  std::string messages() const {
    std::string text;
    for (const Json& requirement : report["subjects"][0]["requirements"]) {
      if (requirement["verdict"] == "fail") text += requirement.dump() + "\n";
    }
    return text;
  }
};

Judged judge(const std::string& subject, const char* head_dim, const char* deadline = "10", const Words& more = {}) {
  static int count = 0;
  const std::string mark = "MARK_OF_A_TEST=" + std::to_string(getpid()) + "." + std::to_string(++count);
  Words command{"verify",     subject,  "--level",    "quick",  "--dtype", "f32",
                "--head-dim", head_dim, "--deadline", deadline, "--wall-deadline", deadline,
                "--json",     "-",      "--env",      "MARK_OF_A_TEST"};
  command.insert(command.end(), more.begin(), more.end());
  Judged judged;
  judged.result = ropecheck(command, {mark, "PYTHONDONTWRITEBYTECODE=1"});
  judged.left_behind = processes_with(mark);
  judged.report = Json::parse(judged.result.out, nullptr, false);
  return judged;
}

// Every requirement is judged after each crash or hang of another one, and nothing outlives the run.
void check_complete(const Judged& judged, std::size_t requirements = all_requirements().size()) {
  INFO(judged.result.err);
  REQUIRE(judged.report.is_object());
  const Json& subject = judged.report["subjects"][0];
  CHECK(subject["requirements"].size() == requirements);
  CHECK(subject["interrupted"] == false);
  CHECK(judged.left_behind.empty());
  CHECK_THAT(judged.result.err, !Contains("internal error"));
}

// A crash costs a process and a hang two deadlines, in each requirement and again in the diagnosis. So one kernel of
// each kind gets all requirements; the others get those that show their fault.
constexpr std::size_t few_count = 6;
const Words few{"--only", "ROT-01,POS-01,POS-02,MEM-01,SHP-05,DET-01", "--no-diagnosis"};

struct Expected {
  const char* subject;  // LIBRARY#KERNEL
  const char* words;
};

// AddressSanitizer sees a double free before the C library does.
#if defined(__SANITIZE_ADDRESS__)
constexpr const char* double_freed = "attempting double-free";
#else
constexpr const char* double_freed = "aborted (SIGABRT); it printed last:\\nfree(): double free detected";
#endif

const Expected deeds[] = {
    {"misbehaving.so#null_write", "wrote to address 0x0 (a null pointer), in misbehaving.so+0x"},
    {"misbehaving.so#endless", "did not return within 0.05 s; its process was killed"},
    {"misbehaving.so#give_up", "aborted (SIGABRT)"},
    {"misbehaving.so#exit_politely", "ended its process with exit status 0 in the middle of the call"},
    {"misbehaving.so#stack_overflow", "overflowed its stack, in misbehaving.so+0x"},
    {"misbehaving.so#double_free", double_freed},
    {"misbehaving.so#partial",
     "64 elements were never written: feature "},
    {"misbehaving.so#write_to_input", "wrote to the input q at ["},
    {"misbehaving.so#daemon_process", "was killed from outside"},
    {"throwing.so#throws", "let a C++ exception escape from a C function: std::out_of_range: row 40 of 32"},
};

TEST_CASE("isolation: a kernel that harms its process fails, and the run goes on") {
  const Expected& expected = deeds[GENERATE(range(std::size_t{0}, std::size(deeds)))];
  INFO(expected.subject);
  const std::set<std::string> memory = shared_memory();
  const bool whole = &expected == std::begin(deeds);
  Words more{"--first-deadline", "3"};
  if (!whole) more.insert(more.end(), few.begin(), few.end());
  const Judged judged = judge((build_folder() / expected.subject).string(), "64", "0.05", more);
  check_complete(judged, whole ? all_requirements().size() : few_count);
  CHECK(judged.result.exit_code == 1);
  CHECK_THAT(judged.messages(), Contains(expected.words));
  CHECK(shared_memory() == memory);
}

// One element too far, at each kind of tensor; tests/unit/worker/out_of_bounds_test.cpp has all of them.
const Expected steps[] = {
    {"out_of_bounds.so#write_past_q_out", "past the end of q_out (element "},
    {"out_of_bounds.so#write_before_k_out", "wrote 1 element before the start of k_out (element -1 of "},
    {"out_of_bounds.so#read_past_k", "read 1 element past the end of k (element "},
    {"out_of_bounds.so#write_past_q", "wrote 1 element past the end of q (element "},
    {"out_of_bounds.so#read_past_cos", "read cos at row "},
    {"out_of_bounds.so#write_before_sin", "wrote sin at row -1, before its first row"},
    {"out_of_bounds.so#read_past_positions", "read 1 element past the end of positions (element "},
    {"out_of_bounds.so#read_past_theta", "read 1 element past the end of theta (element "},
    {"out_of_bounds.so#read_past_axis", "read 1 element past the end of axis (element "},
};

TEST_CASE("isolation: a kernel that goes one element too far fails, by tensor and element") {
  const Expected& expected = GENERATE(from_range(std::begin(steps), std::end(steps)));
  INFO(expected.subject);
  const bool needs_axes = std::string_view(expected.words).find("axis") != std::string_view::npos;
  Words more = few;
  if (needs_axes) more.insert(more.end(), {"--axes", "2:2"});
  const Judged judged = judge((build_folder() / expected.subject).string(), "8", "10", more);
  check_complete(judged, few_count);
  CHECK(judged.result.exit_code == 1);
  CHECK_THAT(judged.messages(), Contains(expected.words));
}

std::vector<std::string> verdicts(const Judged& judged) {
  std::vector<std::string> list;
  for (const Json& requirement : judged.report["subjects"][0]["requirements"]) list.push_back(requirement["verdict"]);
  return list;
}

TEST_CASE("isolation: printing and closing files change no verdict") {
  const auto judged = [](const char* kernel) {
    INFO(kernel);
    const Judged result = judge((build_folder() / "misbehaving.so#").string() + kernel, "64", "10",
                                {"--only", "ROT,POS,MEM,DET-01,DET-02,STA-01"});
    REQUIRE(result.report.is_object());
    CHECK(result.left_behind.empty());
    return verdicts(result);
  };
  const std::vector<std::string> quiet = judged("right");
  CHECK(std::count(quiet.begin(), quiet.end(), "pass") > 10);
  for (const char* kernel : {"noise", "protocol_lines", "close_low"}) CHECK(judged(kernel) == quiet);
}

// Debian's own Python where there is one: a version manager's may be a script that takes a tenth of a second.
std::string python(const std::string& words) {
  const std::string program = fs::exists("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
  return "cmd:" + program + " -B '" + (source_folder() / "tests/unit/worker").string() + "/'" + words;
}

TEST_CASE("isolation: a worker in another language conforms, from a path that needs quotes") {
  // Without SHP-01: 65,537 tokens take an interpreter without numpy seconds. examples/check_workers.py asks everything.
  const Judged judged = judge(python("page_worker.py"), "8", "10", {"--only", "ROT,POS,MEM,BWD,STA-01,GLD"});
  REQUIRE(judged.report.is_object());
  CHECK(judged.left_behind.empty());
  CHECK(judged.result.exit_code == 0);
  CHECK(judged.report["subjects"][0]["subject"] == python("page_worker.py"));
  CHECK_THAT(judged.result.err, Contains("page_worker.py: conforms"));
}

// Each goes wrong only in calls of STA-01, so that other calls show that the run goes on.
const Expected faults[] = {
    {"wrong_id", "spoke something else than the worker protocol: {"},
    {"half_line", "its answer has no newline: {"},
    {"no_answer", "did not return within 0.5 s; its process was killed"},
    {"exception", "raised ValueError: head_dim 64 is not for me"},
    {"unsupported", "the kernel claims this case and answered unsupported"},
    {"dies", "ended its process with exit status 3 in the middle of the call; it printed last:"},
    {"closes", "closed its connection in the middle of the call and lived on"},
};

TEST_CASE("isolation: a worker that breaks the protocol fails, and the run goes on") {
  const Expected& expected = GENERATE(from_range(std::begin(faults), std::end(faults)));
  INFO(expected.subject);
  const Judged judged = judge(python("broken_worker.py ") + expected.subject + " sometimes", "2", "0.5",
                              {"--only", "STA-01,ROT-01,DET-01", "--no-diagnosis"});
  check_complete(judged, 3);
  CHECK(judged.result.exit_code == 1);
  CHECK_THAT(judged.messages(), Contains(expected.words));
  const Json& requirements = judged.report["subjects"][0]["requirements"];
  CHECK(std::any_of(requirements.begin(), requirements.end(), [](const Json& r) { return r["verdict"] == "pass"; }));
}

TEST_CASE("isolation: deadlines are seconds, and a kernel that always hangs costs one case per requirement") {
  const Judged judged =
      judge((build_folder() / "misbehaving.so#endless").string(), "64", "0.02", {"--first-deadline", "3"});
  check_complete(judged);
  for (const Json& requirement : judged.report["subjects"][0]["requirements"]) {
    if (requirement["verdict"] == "fail") CHECK(requirement["cases"] == 1);
  }
  for (const char* bad : {"0", "-1", "nan", "soon", "1e9"}) {
    const Result result = ropecheck({"verify", "half_split", "--deadline", bad});
    CAPTURE(bad);
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains("--deadline"));
  }
}

TEST_CASE("isolation: a worker's wrong values are found and replayed") {
  const Judged judged = judge(python("broken_worker.py wrong_values"), "2", "10", few);
  check_complete(judged, few_count);
  CHECK(judged.result.exit_code == 1);
  const std::string& text = judged.result.err;
  const std::size_t replay = text.find("ropecheck replay ");
  REQUIRE(replay != std::string::npos);
  const Words path{"PATH=" + build_folder().string() + ":" + std::getenv("PATH")};
  const std::string line = text.substr(replay, text.find('\n', replay) - replay);
  const Result again = run_program({"sh", "-c", line}, path);
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("1e+09 (0x4e6e6b28)") && Contains("FAIL\n"));
}

TEST_CASE("isolation: a program that does not speak the protocol is an error of the start") {
  const auto refused = [](int code, const std::string& subject, const char* words) {
    CAPTURE(subject);
    const Result result = ropecheck({"verify", subject, "--first-deadline", "20", "--wall-deadline", "20"});
    CHECK(result.exit_code == code);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, Catch::StartsWith("ropecheck: ") && Contains(words) && !Contains("internal error"));
  };
  refused(3, "cmd:/nowhere/worker --fast", "cmd:/nowhere/worker --fast: the worker program /nowhere/worker cannot be");
  refused(3, "cmd:true", "cmd:true: the subject ended its process with exit status 0 while it was loaded");
  refused(3, python("broken_worker.py no_json"), "the worker's first line is not a JSON object: Hello, I am a kernel");
  refused(3, python("broken_worker.py refuses"), "torch is missing: pip install torch");
  refused(3, python("broken_worker.py raises"), "IndexError: list index out of range");
  refused(2, "cmd:", "subject \"cmd:\" names no program; expected cmd:PROGRAM ARGUMENTS");
  refused(2, "cmd:python3 'worker.py", "the quote ' at character 9 is not closed");
}

TEST_CASE("isolation: files that the caller has open do not reach a subject") {
  const TemporaryFolder folder;
  std::ofstream(folder / "subject") << "#!/bin/sh\n"
                                       "for f in 7 8; do eval \"(: >&$f)\" 2>&- && echo file $f is open; done\n"
                                       "exit 1\n";
  std::filesystem::permissions(folder / "subject", std::filesystem::perms::owner_all);
  const std::string command = "cd \"$1\"; exec 7>>a 8>>b; exec \"$0\" verify cmd:./subject";
  for (const char* sandbox : {"on", "off"}) {
    const Result result = run_program({"sh", "-c", command + " --sandbox " + sandbox,
                                       (build_folder() / "ropecheck").string(), folder.path().string()});
    CHECK(result.exit_code == 3);
    CHECK_THAT(result.err, Contains("exit status 1") && !Contains("is open"));
  }
}

}  // namespace
}  // namespace rope
