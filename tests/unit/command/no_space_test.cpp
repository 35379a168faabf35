// Files that cannot be written: a sentence and exit code 2, and the old file is as it was. What a kill left goes.
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::string program_file = (build_folder() / "ropecheck").string();
const std::string verify_some = program_file + " verify half_split --level quick --only ROT,POS --quiet";

Result in_shell(const std::string& script) { return run_program({"sh", "-c", script}); }

std::size_t entries_of(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_CASE("command: beyond the limit of a file's size the old report is as it was") {
  const TemporaryFolder folder;
  const std::string json = (folder / "report.json").string();
  write(json, "old");
  const Result result = in_shell("ulimit -f 16; exec " + verify_some + " --json " + json + " --markdown " +
                              (folder / "summary.md").string());
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.out, Contains("half_split: conforms"));
  CHECK_THAT(result.err, Contains("ropecheck: " + json + ": cannot be written: File too large"));
  CHECK(read(json) == "old");
  CHECK(entries_of(folder.path()) == 2);  // the other report is small enough, and is written

  const std::string calls = (folder / "calls").string();
  const Result exported = in_shell("ulimit -f 16; exec " + program_file + " vectors export " + calls + " --only ROT-01");
  CHECK(exported.exit_code == 2);
  CHECK_THAT(exported.err, Contains("cannot be written: File too large") && !Contains("internal error"));
  CHECK(entries_of(folder.path()) == 2);

  const Result worker = in_shell("ulimit -f 16; exec " + program_file + " verify " + mutants + "#none --level quick");
  CHECK(worker.exit_code == 3);
  CHECK_THAT(worker.err, Contains("growing shared memory: File too large") && !Contains("internal error"));
}

TEST_CASE("command: a full device and a full disk are told") {
  const Result device = in_shell("exec " + verify_some + " --json /dev/full");
  CHECK(device.exit_code == 2);
  CHECK_THAT(device.err, Contains("ropecheck: /dev/full: cannot be written: No space left on device"));

  const TemporaryFolder folder;
  const std::string disk = folder.path().string(), json = disk + "/report.json";
  const std::string mount = "mount -t tmpfs -o size=16k none " + disk + " || exit 77; printf old > " + json + "; ";
  const auto on_disk = [&](const std::string& then) {
    return run_program({"unshare", "-rm", "sh", "-c", mount + then + "; code=$?; cat " + json + "; ls " + disk +
                                                          " | wc -l; exit $code"});
  };
  const Result full = on_disk(verify_some + " --json " + json);
  if (full.exit_code == 77 || full.err.starts_with("unshare")) {
    WARN("left out: no disk can be mounted here");
    return;
  }
  CHECK(full.exit_code == 2);
  CHECK_THAT(full.err, Contains("ropecheck: " + json + ": cannot be written: No space left on device"));
  CHECK_THAT(full.out, Catch::EndsWith("old1\n"));

  const Result exported = on_disk(program_file + " vectors export " + disk + "/calls --only ROT-01");
  CHECK(exported.exit_code == 2);
  CHECK_THAT(exported.err, Contains("cannot be written: No space left on device") && !Contains("internal error"));
  CHECK_THAT(exported.out, Catch::EndsWith("old1\n"));

  const Result read_only = on_disk("mount -o remount,ro " + disk + "; " + verify_some + " --json " + json);
  CHECK(read_only.exit_code == 2);
  CHECK_THAT(read_only.err, Contains("ropecheck: " + json + ": cannot be written: Read-only file system"));
  CHECK(read_only.out == "old1\n");  // nobody waited for a run
}

TEST_CASE("command: what a kill left of an export goes with the next command there") {
  const TemporaryFolder folder;
  const std::string calls = (folder / "calls").string();
  const Words exporting{program_file, "vectors", "export", calls, "--only", "ROT-01"};
  const Words reporting{"sh", "-c", "exec " + verify_some + " --json " + (folder / "report.json").string()};
  const Words listing{"sh", "-c", "cd " + folder.path().string() + "; exec " + program_file + " list requirements"};
  std::size_t written = 0;
  for (const Words& next : {listing, reporting, exporting}) {
    Program killed(exporting);
    const std::string temporary = calls + ".ropecheck-" + std::to_string(killed.pid()) + ".tmp";
    while (!fs::exists(temporary + "/arrays")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    run_program(listing);
    REQUIRE(fs::exists(temporary));  // in use
    killed.signal(SIGKILL);
    killed.wait();
    REQUIRE(fs::exists(temporary));
    CHECK(run_program(next).exit_code == 0);
    CHECK(entries_of(folder.path()) == written++);
  }
  CHECK(fs::exists(folder / "calls/manifest.json"));
}

}  // namespace
}  // namespace rope
