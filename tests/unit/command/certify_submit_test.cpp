// ropecheck certify submit: what it gives to sbatch, and what it answers. tests/unit/engines/slurm_test.py runs it with
// a real Slurm.
#include <catch2/catch.hpp>

#include "tests/unit/command/command_checks.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

// A folder with a small plan, and a program sbatch that keeps what it was given.
class Submission {
 public:
  Submission() {
    const Result made = ropecheck({"certify", "plan", "half_split", plan(), "--head-dim", "4", "--dtype", "f32",
                                   "--sweep", "positions", "--positions", "200000"});
    CAPTURE(made.err);
    REQUIRE(made.exit_code == 0);
    fs::create_directory(folder_ / "bin");
    sbatch_does("n=7; while read -r line; do n=$((n + 1)); done < " + calls().string() + "; echo $n");
  }

  std::string plan() const { return folder_ / "plan"; }
  fs::path file(const std::string& name) const { return fs::path(plan()) / name; }

  void sbatch_does(const std::string& script) {
    const fs::path program = folder_ / "bin" / "sbatch";
    write(program, "#!/bin/sh\necho \"$@\" >> " + calls().string() + "\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
  }
  void remove_sbatch() { fs::remove(folder_ / "bin" / "sbatch"); }

  Words command(const Words& more = {}) const {
    Words words{"certify", "submit", "half_split", plan(), "--engine", "slurm"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // The system's own sbatch must not be found.
  Words variables() const { return {"PATH=" + (folder_ / "bin").string()}; }

  Result submit(const Words& more = {}) const { return ropecheck(command(more), variables()); }
  void refuses(int exit_code, const Words& expected, const Words& more = {}) const {
    check_refused(exit_code, command(more), expected, variables());
  }
  std::string asked() const { return read(calls()); }
  void forget() const { fs::remove(calls()); }

  void run_shard(const std::string& shard) const {
    REQUIRE(ropecheck({"certify", "run", "half_split", plan(), "--shard", shard}).exit_code == 0);
  }

 private:
  fs::path calls() const { return folder_ / "calls"; }

  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("command: certify submit gives Slurm an array of all shards, and a merge that waits for it") {
  const Submission slurm;
  const Result result = slurm.submit({"--array-size", "5", "--partition", "long", "--sbatch-option", "time=01:00:00",
                                      "--sbatch-option", "--comment=it's 1", "--deadline", "3"});
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("half_split: 5 of 5 shards missing\n  job 8: the shards 1-5\n  job 9: the merge, "
                                  "when they have ended\n  they print to " +
                                  slurm.plan() + "/slurm/*.log\n"));
  CHECK(slurm.asked() == "--parsable " + slurm.plan() + "/slurm/shards.sh\n--parsable --dependency=afterany:8 " +
                             slurm.plan() + "/slurm/merge.sh\n");
  const std::string shards = read(slurm.file("slurm/shards.sh")), merge = read(slurm.file("slurm/merge.sh"));
  CHECK_THAT(shards, Contains("\n#SBATCH --array=1-5\n") && Contains("certify run half_split " + slurm.plan() +
                                                                     " --deadline 3 --sandbox on --shard "
                                                                     "\"$SLURM_ARRAY_TASK_ID/5\"\n"));
  CHECK_THAT(merge, Contains("certify merge " + slurm.plan() + "\n") && !Contains("--array"));
  for (const std::string& script : {shards, merge}) {
    CHECK_THAT(script, Catch::StartsWith("#!/bin/sh\n#SBATCH ") && Contains("\n#SBATCH --partition=long\n") &&
                           Contains("\n#SBATCH --time=01:00:00\n") && Contains("\n#SBATCH '--comment=it'\\''s 1'\n") &&
                           Contains("\n#SBATCH --chdir=" + fs::current_path().string() + "\n"));
    CHECK_THAT(script, !Contains("SLURM_ARRAY_TASK_COUNT"));
  }
}

TEST_CASE("command: certify submit submits only shards that are missing") {
  const Submission slurm;
  slurm.run_shard("2/8");
  slurm.run_shard("6/8");
  slurm.run_shard("7/8");
  // A begun shard is missing, too.
  fs::copy_file(slurm.file("shards/2-of-8.json"), slurm.file("shards/3-of-8.journal"));
  const Result some = slurm.submit({"--array-size", "8"});
  CAPTURE(some.out, some.err);
  CHECK_THAT(some.out, Contains("5 of 8 shards missing") && Contains("the shards 1,3-5,8\n"));
  CHECK_THAT(read(slurm.file("slurm/shards.sh")), Contains("--array=1,3-5,8\n") && Contains("TASK_ID/8\""));
  // Blocks count, not file names: 2/8 and 6/8 are 2/4.
  CHECK_THAT(slurm.submit({"--array-size", "4"}).out,
             Contains("3 of 4 shards missing") && Contains("the shards 1,3-4\n"));
  fs::remove(slurm.file("shards/3-of-8.journal"));
  slurm.run_shard("1/1");
  slurm.forget();
  // The plan has 12 blocks.
  const Result merge = slurm.submit();
  CHECK_THAT(merge.out, Contains("0 of 12 shards missing\n  job 8: the merge\n"));
  CHECK(slurm.asked() == "--parsable " + slurm.plan() + "/slurm/merge.sh\n");
  REQUIRE(ropecheck({"certify", "merge", slurm.plan()}).exit_code == 0);
  slurm.forget();
  const Result nothing = slurm.submit();
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.out == "half_split: no shard is missing; " + slurm.plan() + "/certificate.json\n");
  CHECK(slurm.asked().empty());
  write(slurm.file("certificate.json"), "torn");
  CHECK_THAT(slurm.submit().out, Contains("the merge\n"));
}

TEST_CASE("command: certify submit --dry-run prints scripts and commands, and submits nothing") {
  const Submission slurm;
  const Result dry = slurm.submit({"--dry-run", "--array-size", "3"});
  CAPTURE(dry.out, dry.err);
  CHECK(dry.exit_code == 0);
  CHECK_THAT(dry.out, Contains(slurm.plan() + "/slurm/shards.sh:\n#!/bin/sh\n") && Contains("#SBATCH --array=1-3\n") &&
                          Contains(slurm.plan() + "/slurm/merge.sh:\n#!/bin/sh\n"));
  CHECK_THAT(dry.out, Catch::EndsWith("\nsbatch --parsable " + slurm.plan() +
                                      "/slurm/shards.sh\nsbatch --parsable "
                                      "--dependency=afterany:NUMBER " +
                                      slurm.plan() + "/slurm/merge.sh\n"));
  CHECK(slurm.asked().empty());
  CHECK_FALSE(fs::exists(slurm.file("slurm")));
  slurm.run_shard("1/1");
  CHECK_THAT(slurm.submit({"--dry-run"}).out, !Contains("shards.sh") && Contains("sbatch --parsable " + slurm.plan()));
}

TEST_CASE("command: certify submit says what sbatch says") {
  Submission slurm;
  slurm.sbatch_does(
      "echo 'sbatch: error: invalid partition specified: x' >&2; echo 'sbatch: error: failed' >&2; exit 1");
  slurm.refuses(3, {"sbatch did not take " + slurm.plan() +
                    "/slurm/shards.sh, exit code 1: sbatch: error: invalid "
                    "partition specified: x; sbatch: error: failed\n"});
  slurm.sbatch_does("exit 0");
  slurm.refuses(3, {"exit code 0: it printed nothing"});
  slurm.sbatch_does("kill -9 $$");
  slurm.refuses(3, {"exit code 137"});
  slurm.sbatch_does("case $2 in *shards.sh) echo '12;cluster';; *) echo 'no more jobs' >&2; exit 1;; esac");
  slurm.refuses(3, {"slurm/merge.sh, exit code 1: no more jobs; array job 12 was submitted: when it has ended, run the "
                    "same command again"});
  slurm.remove_sbatch();
  slurm.refuses(3, {"sbatch cannot be started: No such file or directory; is Slurm installed on this machine?"});
}

TEST_CASE("command: certify submit's mistakes are answered") {
  const Submission slurm;
  slurm.refuses(2, {"--sbatch-option array=1-3: ropecheck sets --array itself; --array-size says"},
                {"--sbatch-option", "array=1-3"});
  slurm.refuses(2, {"ropecheck sets --dependency itself"}, {"--sbatch-option", "--dependency=singleton"});
  for (const char* option : {"-p x", "=1", "--", "time=1\n#SBATCH --array=1"}) {
    slurm.refuses(2, {"expected a long option of sbatch, NAME or NAME=VALUE"},
                  {std::string("--sbatch-option=") + option});
  }
  slurm.refuses(2, {"--array-size"}, {"--array-size", "0"});
  check_refused(2, {"certify", "submit", "half_split", slurm.plan()}, {"--engine"});
  check_refused(2, {"certify", "submit", "half_split", slurm.plan(), "--engine", "pbs"}, {"pbs", "slurm"});
  check_refused(2, {"certify", "submit", "half_split", "/nowhere", "--engine", "slurm"}, {"plan.json: is missing"});
  check_refused(3, {"certify", "submit", "no_such.so", slurm.plan(), "--engine", "slurm"}, {"no_such.so"});
  write(slurm.file("slurm"), "a file where the folder would be");
  slurm.refuses(2, {"slurm/shards.sh: cannot be written: Not a directory"});
  fs::remove(slurm.file("slurm"));
  slurm.run_shard("1/1");
  check_refused(2, {"certify", "submit", "interleaved", slurm.plan(), "--engine", "slurm"}, {"plan.json"});
  std::string shard = read(slurm.file("shards/1-of-1.json"));
  shard[shard.size() / 2] ^= 1;
  write(slurm.file("shards/1-of-1.json"), shard);
  slurm.refuses(2, {"1-of-1.json"});
  CHECK(slurm.asked().empty());
}

TEST_CASE("command: certify submit refuses the shards of another kernel") {
  const TemporaryFolder folder;
  const std::string plan = folder / "plan", one = (build_folder() / "one_element.so").string();
  REQUIRE(ropecheck({"certify", "plan", one + "#right", plan, "--head-dim", "4", "--dtype", "f32", "--sweep",
                     "positions", "--positions", "1000"})
              .exit_code == 0);
  REQUIRE(ropecheck({"certify", "run", one + "#right", plan}).exit_code == 0);
  check_refused(2, {"certify", "submit", one + "#position", plan, "--engine", "slurm"},
                {"is of another run: its subject is", "#right"});
}

}  // namespace rope
