// Files that never end, or never begin, are refused in a sentence.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// `timeout` ends a run that waits: 124.
Result within_seconds(const Words& words, const Words& variables = {}) {
  Words command{"timeout", "20", (build_folder() / "ropecheck").string()};
  command.insert(command.end(), words.begin(), words.end());
  return run_program(command, variables);
}

void check_refused_at_once(const Words& command, const std::string& words, const Words& variables = {}) {
  CAPTURE(command);
  const Result result = within_seconds(command, variables);
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Catch::StartsWith("ropecheck: ") && Contains(words) && !Contains("internal error"));
}

TEST_CASE("command: a pipe without a writer is refused wherever a file is read") {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe").string(), nobody = "pipe cannot be read: it is a pipe, and nobody writes";
  const std::string of_report = "pipe: cannot be read: it is a pipe, and nobody writes to it; start its writer first";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  write(folder / "report.json", "{}");
  check_refused_at_once({"plan", "--spec", pipe}, "--spec: " + pipe.substr(0, pipe.size() - 4) + nobody);
  check_refused_at_once({"verify", "half_split", "--spec", pipe}, nobody);
  check_refused_at_once({"plan", "--model-config", pipe}, nobody);
  check_refused_at_once({"verify", "half_split", "--expected-failures", pipe}, nobody);
  check_refused_at_once({"report", pipe}, of_report);
  check_refused_at_once({"compare", (folder / "report.json").string(), pipe}, of_report);
  check_refused_at_once({"vectors", "export", (folder / "out").string(), "--claims", pipe}, "not a regular file");
}

TEST_CASE("command: a folder of golden files or vectors with pipes and devices is refused") {
  const TemporaryFolder folder;
  const fs::path pipes = folder / "pipes", devices = folder / "devices";
  fs::create_directory(pipes);
  fs::create_directory(devices);
  REQUIRE(mkfifo((pipes / "manifest.json").c_str(), 0600) == 0);
  fs::create_symlink("/dev/zero", devices / "manifest.json");
  for (const fs::path& one : {pipes, devices}) {
    const std::string refused = (one / "manifest.json").string() + ": not a regular file; expected one";
    check_refused_at_once({"golden", "verify", "half_split"}, refused, {"ROPECHECK_GOLDEN=" + one.string()});
    check_refused_at_once({"vectors", "verify", one.string()}, refused);
  }
}

TEST_CASE("command: files that are too large for any use are refused before they are read") {
  const TemporaryFolder folder;
  const std::string large = (folder / "manifest.json").string();
  write(large, "");
  fs::resize_file(large, std::uintmax_t{1} << 40);  // a hole: it takes no disk
  const std::string said = large + ": it has 1099511627776 bytes; allowed are 67108864";
  check_refused_at_once({"golden", "verify", "half_split"}, said, {"ROPECHECK_GOLDEN=" + folder.path().string()});
  check_refused_at_once({"vectors", "verify", folder.path().string()}, said);
  check_refused_at_once({"vectors", "export", (folder / "out").string(), "--claims", large}, said);
}

TEST_CASE("command: a pipe with a writer is read to its end, however late that comes") {
  const std::string program = (build_folder() / "ropecheck").string();
  const Result result =
      run_program({"bash", "-c", program + " plan --spec <(sleep 0.3; printf '{\"head_dim\": '; sleep 0.3; echo '8}')"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == ropecheck({"plan", "--head-dim", "8"}).out);
}

}  // namespace
}  // namespace rope
