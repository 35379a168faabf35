// Kernels that attack the suite or the machine (tests/unit/worker/hostile.c), judged by the real ropecheck.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

const std::string hostile = (build_folder() / "hostile.so").string();

Words attack(const std::string& kernel, const Words& more = {}) {
  Words command{"verify", hostile + "#" + kernel, "--level", "quick", "--only", "ROT-01", "--no-diagnosis", "--json",
                "-"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

// As a user: the superuser may do everything.
Result as_user(Words words, const Words& variables = {}) {
  words.insert(words.begin(), (build_folder() / "ropecheck").string());
  if (geteuid() == 0) {
    const Words user{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    words.insert(words.begin(), user.begin(), user.end());
  }
  return run_program(std::move(words), variables);
}

std::string verdict_in(const Result& result) {
  INFO(result.err);
  const Json report = Json::parse(result.out, nullptr, false);
  REQUIRE(report.is_object());
  REQUIRE(report["subjects"].size() == 1);
  return report["subjects"][0]["requirements"][0]["verdict"];
}

TEST_CASE("isolation: a kernel of the same user cannot look into the suite or change it") {
  CHECK(verdict_in(as_user(attack("right"))) == "pass");
  CHECK(verdict_in(as_user(attack("patch_suite"))) == "fail");
  CHECK(verdict_in(as_user(attack("trace_suite"))) == "fail");
}

// The attack succeeds without a sandbox, and not within one.
void check_stopped(const std::string& kernel, const Words& passed, const Words& variables) {
  CAPTURE(kernel);
  Words options;
  for (const std::string& name : passed) options.insert(options.end(), {"--env", name});
  Words without = options;
  without.insert(without.end(), {"--sandbox", "off"});
  CHECK(verdict_in(ropecheck(attack(kernel, without), variables)) == "pass");
  const Result within = ropecheck(attack(kernel, options), variables);
  CHECK(verdict_in(within) == "fail");
  CHECK(verdict_in(as_user(attack(kernel, options), variables)) == "fail");
}

TEST_CASE("isolation: a kernel gets only the variables that libraries need") {
  check_stopped("read_token", {}, {"HOSTILE_TOKEN=secret"});
  CHECK(verdict_in(ropecheck(attack("read_token", {"--env", "HOSTILE_TOKEN"}), {"HOSTILE_TOKEN=secret"})) == "pass");
  check_stopped("see_test", {}, {});
  CHECK(verdict_in(ropecheck(attack("usual_calls"))) == "pass");
  CHECK(verdict_in(as_user(attack("usual_calls"))) == "pass");
}

// Processes that have the word among their arguments.
std::size_t processes_of(const std::string& word) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    count += read(entry.path() / "cmdline").find(word) != std::string::npos ? 1 : 0;
  }
  return count;
}

TEST_CASE("isolation: a process that stays behind forges no report") {
  const Words modes{"off", "on"};
  for (const std::string& mode : modes) {
    CAPTURE(mode);
    const TemporaryFolder folder;
    const std::string report = folder / "report.json";
    const Result result = ropecheck({"verify", hostile + "#stay_behind", "--level", "quick", "--only", "ROT-01",
                                     "--no-diagnosis", "--json", report, "--sandbox", mode, "--env", "HOSTILE_REPORT"},
                                    {"HOSTILE_REPORT=" + report});
    CHECK(result.exit_code == 1);
    CHECK(processes_of(report) == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    CHECK_THAT(read(report), !Contains("\"pass\""));
    CHECK_THAT(result.err, Contains(run_program({"sha256sum", report}).out.substr(0, 64)));
  }
}

TEST_CASE("isolation: a kernel cannot signal other processes") {
  const pid_t victim = fork();
  if (victim == 0) {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(1);
    sleep(600);
    _exit(0);
  }
  check_stopped("signal_victim", {"HOSTILE_VICTIM"}, {"HOSTILE_VICTIM=" + std::to_string(victim)});
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
}

TEST_CASE("isolation: a kernel makes no process beside its own, and the run ends") {
  check_stopped("make_sibling", {}, {});
}

TEST_CASE("isolation: a kernel that holds the ends of its pipes ends with ropecheck") {
  const TemporaryFolder folder;
  const std::string mark = "MARK_OF_A_TEST=" + folder.path().string();
  Words command = attack("hold_pipes", {"--env", "MARK_OF_A_TEST"});
  command.insert(command.begin(), (build_folder() / "ropecheck").string());
  Program program(command, {mark});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto wait_until = [&](std::size_t least, std::size_t most) {
    for (;;) {
      const std::size_t count = processes_with(mark).size();
      if ((count >= least && count <= most) || std::chrono::steady_clock::now() > end) return count;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  REQUIRE(wait_until(2, 100) >= 2);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // it is in its first call
  program.signal(SIGKILL);
  program.wait();
  CHECK(wait_until(0, 0) == 0);
}

TEST_CASE("isolation: a kernel cannot read HOME, and writes only to its scratch folder") {
  const TemporaryFolder folder;
  const fs::path home = folder / "home";
  fs::create_directories(home / ".ssh");
  fs::permissions(folder.path(), fs::perms::all);
  write(home / ".ssh/key", "secret");
  const std::string is_home = "HOME=" + home.string();
  const Words secret{"HOSTILE_FILE=@" + (home / ".ssh/key").string(), is_home};
  check_stopped("read_secret", {"HOSTILE_FILE"}, secret);
  CHECK(verdict_in(ropecheck(attack("read_secret", {"--env", "HOSTILE_FILE", "--allow", home.string()}), secret)) ==
        "pass");
  const std::string target = folder / "written";
  check_stopped("write_file", {"HOSTILE_FILE"}, {"HOSTILE_FILE=@" + target, is_home});
  CHECK(verdict_in(ropecheck(attack("write_file", {"--env", "HOSTILE_FILE", "--allow", folder.path().string()}),
                             {"HOSTILE_FILE=@" + target, is_home})) == "pass");
}

TEST_CASE("isolation: a kernel changes no attributes of files but in its scratch folder") {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const auto attacked = [&](const std::string& owner, const Words& more, const auto& run) {
    const std::string file = (folder / owner).string();
    write(file, "its owner's");
    if (owner == "user's" && geteuid() == 0) REQUIRE(chown(file.c_str(), 65534, 65534) == 0);
    Words options{"--env", "HOSTILE_FILE"};
    options.insert(options.end(), more.begin(), more.end());
    return verdict_in(run(attack("change_attributes", options), Words{"HOSTILE_FILE=@" + file}));
  };
  const auto as_root = [](const Words& words, const Words& variables) { return ropecheck(words, variables); };
  for (const char* mode : {"off", "on"}) {
    CAPTURE(mode);
    const std::string expected = mode == std::string("off") ? "pass" : "fail";
    CHECK(attacked("root's", {"--sandbox", mode}, as_root) == expected);
    CHECK(attacked("user's", {"--sandbox", mode}, as_user) == expected);
  }
  CHECK(attacked("root's", {"--allow", folder.path().string()}, as_root) == "pass");
  // Without a namespace of mounts, the filter refuses the calls.
  const auto without_mounts = [](Words words, const Words& variables) {
    words.insert(words.begin(), {"unshare", "-Ur", "sh", "-c",
                                 "echo 0 > /proc/sys/user/max_mnt_namespaces || exit 77; exec \"$@\"", "sh",
                                 (build_folder() / "ropecheck").string()});
    return run_program(words, variables);
  };
  if (const Result tried = without_mounts({"--version"}, {}); tried.exit_code != 0) {
    WARN("left out: no user namespace can be made here");
    return;
  }
  CHECK(attacked("root's", {"--sandbox", "off"}, without_mounts) == "pass");
  CHECK(attacked("root's", {}, without_mounts) == "fail");
}

TEST_CASE("isolation: a library in HOME is found, and its neighbours' secrets are not") {
  const TemporaryFolder home;
  fs::copy(hostile, home / "hostile.so");
  write(home / "notes", "open");
  write(home / ".netrc", "secret");
  const auto verdict_for = [&](const std::string& file) {
    const Words variables{"HOME=" + home.path().string(), "HOSTILE_FILE=@" + (home / file).string()};
    return verdict_in(ropecheck({"verify", (home / "hostile.so").string() + "#read_secret", "--level", "quick",
                                 "--only", "ROT-01", "--no-diagnosis", "--json", "-", "--env", "HOSTILE_FILE"},
                                variables));
  };
  CHECK(verdict_for("notes") == "pass");
  CHECK(verdict_for(".netrc") == "fail");
}

TEST_CASE("isolation: a kernel opens no sockets and makes no call that reaches other processes") {
  check_stopped("forbidden_calls", {}, {});
}

TEST_CASE("isolation: a crash names the call that was refused before it, or what may have been refused") {
  const auto found = [](const std::string& kernel, const Words& more = {}, const Words& variables = {}) {
    const Json report = Json::parse(ropecheck(attack(kernel, more), variables).out);
    const Json& result = report["subjects"][0]["requirements"][0];
    return result["verdict"] == "fail" ? result["failure"]["message"].get<std::string>() : std::string("holds");
  };
  CHECK_THAT(found("need_socket"), Catch::StartsWith("aborted (SIGABRT); the sandbox refused socket() just before: if the "
                                                     "kernel needs it, try --sandbox off"));
  CHECK(found("need_socket", {"--sandbox", "off"}) == "holds");
  const TemporaryFolder folder;
  const std::string file = (folder / "home/secret").string();
  fs::create_directories(folder / "home");
  write(file, "secret");
  const Words variables{"HOME=" + (folder / "home").string(), "HOSTILE_FILE=@" + file};
  CHECK_THAT(found("need_file", {"--env", "HOSTILE_FILE"}, variables),
             Catch::StartsWith("aborted (SIGABRT); the sandbox may have refused " + file + ": try --allow " + file +
                               ", or --sandbox off; it printed last:"));
  CHECK_THAT(found("need_file", {"--env", "HOSTILE_FILE"}, {variables[0], "HOSTILE_FILE=@/nowhere"}),
             !Contains("sandbox"));
}

TEST_CASE("isolation: the report says what the sandbox does; nothing of it is left behind") {
  const TemporaryFolder folder;
  const Words here{"TMPDIR=" + folder.path().string()};
  const Result result = ropecheck(attack("right", {"--verbose"}), here);
  const Json sandbox = Json::parse(result.out)["sandbox"];
  CHECK(sandbox["mode"] == "on");
  CHECK(sandbox["applied"].size() + sandbox["missing"].size() == 5);
  CHECK_THAT(result.err, Contains("sandbox: a subject gets a list of variables\n"));
  CHECK(fs::is_empty(folder.path()));
  CHECK(Json::parse(ropecheck(attack("right", {"--sandbox", "off"}), here).out)["sandbox"]["mode"] == "off");
  fs::create_directory(folder / "ropecheck-scratch.killed");
  ropecheck(attack("right"), here);
  CHECK(fs::is_empty(folder.path()));
  check_refused(2, attack("right", {"--allow", "/nowhere"}), {"--allow /nowhere: no such file or folder"});
  check_refused(2, attack("right", {"--env", "A=B"}), {"--env A=B: expected the name of a variable"});
}

TEST_CASE("isolation: what the sandbox lacks is said, and may be required") {
  const TemporaryFolder folder;
  for (const char* name : {"ropecheck", "ropecheck_host"}) fs::copy(build_folder() / name, folder / name);
  Words command = attack("right");
  command.insert(command.begin(), (folder / "ropecheck").string());
  const Result without = run_program(command);
  CHECK(verdict_in(without) == "pass");
  const Json sandbox = Json::parse(without.out)["sandbox"];
  CHECK(sandbox["applied"] == Json{"environment"});
  CHECK(sandbox["missing"].size() == 4);
  CHECK_THAT(sandbox["missing"][0]["why"].get<std::string>(), Contains("ropecheck_sandbox cannot be started"));
  command.insert(command.end(), {"--sandbox", "require"});
  const Result required = run_program(command);
  CHECK(required.exit_code == 3);
  CHECK_THAT(required.err, Contains("--sandbox require: privileges: ") && Contains("use --sandbox on to go on without"));
}

TEST_CASE("isolation: each process of certify judges its kernel in the sandbox") {
  const TemporaryFolder folder;
  const auto certified = [&](const char* sandbox, const char* jobs) {
    return ropecheck({"certify", hostile + "#forbidden_calls", "--out", folder.path() / (std::string(sandbox) + jobs),
                      "--sweep", "positions", "--positions", "64", "--jobs", jobs, "--sandbox", sandbox})
        .exit_code;
  };
  for (const char* jobs : {"1", "2"}) {
    CHECK(certified("off", jobs) == 0);
    CHECK(certified("on", jobs) == 1);
  }
}

TEST_CASE("isolation: without a namespace, too, nothing is left behind") {
  const TemporaryFolder folder;
  for (const char* name : {"ropecheck", "ropecheck_host"}) fs::copy(build_folder() / name, folder / name);
  const std::string report = folder / "report.json";
  Words command = attack("stay_behind", {"--env", "HOSTILE_REPORT"});
  command.insert(command.begin(), (folder / "ropecheck").string());
  CHECK(verdict_in(run_program(command, {"HOSTILE_REPORT=" + report})) == "fail");
  CHECK(processes_of(report) == 0);
}

TEST_CASE("isolation: the digest of each report is told when it is written") {
  const TemporaryFolder folder;
  const std::string json = folder / "report.json", junit = folder / "report.xml";
  const Result result = ropecheck({"verify", "half_split", "--only", "ROT-01", "--json", json, "--junit", junit});
  CHECK_THAT(result.out, !Contains("sha256"));
  for (const std::string& file : {json, junit}) {
    const Result digest = run_program({"sha256sum", file});
    CHECK_THAT(result.err, Contains(file + ": sha256 " + digest.out.substr(0, 64) + "\n"));
  }
  CHECK_THAT(ropecheck({"verify", "half_split", "--only", "ROT-01", "--json", "-"}).err, !Contains("sha256"));
}

}  // namespace
}  // namespace rope
