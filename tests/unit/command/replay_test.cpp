// ropecheck replay, and the line that verify prints for it.
#include <catch2/catch.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

TEST_CASE("command: an invalid case is refused by field") {
  const auto replay = [](const std::string& id, const Words& expected) {
    check_refused(2, {"replay", id, "--subject", "half_split"}, expected);
  };
  replay("ROT-01", {"case \"ROT-01\": expected REQUIREMENT:field=value"});
  replay("ROT-99:head_dim=2", {"requirement \"ROT-99\" is not known; did you mean ROT-09? known are ROT-01, ROT-02"});
  replay("ROT-01:heads_dim=2",
         {"\"heads_dim=2\" is not field=value of a known field", "the fields are head_dim, rotary_dim"});
  replay("ROT-01:head_dim=two", {"head_dim: \"two\" is not a number"});
  replay("ROT-01:head_dim=3", {"rotary_dim is 3; it must be even"});
  replay("ROT-01:head_dim=2,dtype=f33", {"dtype: \"f33\" is not one of f64, f32"});
  replay("ROT-01:seq=9999999", {"seq=9999999 is out of range; it must be 0 to"});
  replay("ROT-01:pairing=interleaved", {"does not apply to half_split: interleaved is not claimed"});
  replay("GLD-01:golden=nothing", {"golden case \"nothing\" is not in the manifest", "ropecheck list goldens"});
}

TEST_CASE("command: a wrong kernel is rejected, and its replay line shows the failure again") {
  const Result result =
      ropecheck({"verify", mutants + "#PAIR-01", "--level", "quick", "--only", "ROT-01", "--no-diagnosis"});
  CHECK(result.exit_code == 1);
  CHECK(result.err.empty());
  CHECK_THAT(line_with(result.out, "ROT-01  "), Contains("FAIL"));
  CHECK_THAT(result.out, Contains("#PAIR-01: does not conform"));
  const std::string found = line_with(result.out, "found  ");
  const std::string replay = line_with(result.out, "ropecheck replay ");
  REQUIRE_THAT(replay, Contains("replay    ropecheck replay 'ROT-01:"));

  // The line as it is printed, run by a shell that finds ropecheck.
  const std::string line = replay.substr(replay.find("ropecheck"));
  const Result again = run_program({"sh", "-c", line}, {"PATH=" + build_folder().string() + ":/usr/bin:/bin"});
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));
  CHECK_THAT(again.out, Contains(found.substr(found.find("found") + 10)));
  const Result right = run_program({"sh", "-c", std::string(line).replace(line.find("PAIR-01"), 7, "none")},
                                   {"PATH=" + build_folder().string() + ":/usr/bin:/bin"});
  CHECK(right.exit_code == 0);
}

TEST_CASE("command: the replay line works where the path needs quotes") {
  const TemporaryFolder folder;
  const std::string path = (folder / "it's a kernel.so").string();
  fs::copy_file(mutants, path);
  const Result result = ropecheck(verify({path + "#PIPE-01"}));
  CHECK(result.exit_code == 1);
  const std::string replay = line_with(result.out, "ropecheck replay ");
  REQUIRE_FALSE(replay.empty());
  const Result again = run_program({"sh", "-c", replay.substr(replay.find("ropecheck"))},
                                   {"PATH=" + build_folder().string() + ":/usr/bin:/bin"});
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));
}

TEST_CASE("command: replay prints a runnable program that computes the worst element again") {
  const std::string broken = (build_folder() / "examples/broken_kernel.so").string();
  const Result replayed =
      ropecheck({"replay", "ROT-01:head_dim=2,seq=1,heads=1,start=1,in_place=1,input=unit", "--subject", broken});
  REQUIRE(replayed.exit_code == 1);
  const std::size_t at = replayed.out.find("\n# ROT-01:");
  REQUIRE(at != std::string::npos);
  if (run_program({numpy_python(), "-c", "import numpy"}).exit_code != 0) {
    WARN("left out: Python's numpy is not installed (Debian package python3-numpy)");
    return;
  }
  const TemporaryFolder folder;
  write(folder / "again.py", replayed.out.substr(at));
  const Result again = run_program({numpy_python(), (folder / "again.py").string()});
  CHECK(again.err.empty());
  CHECK_THAT(again.out, Contains("expected   0.84147095") && Contains("actual     0.45464867"));
}

TEST_CASE("command: replay says why it prints no program") {
  const Result relation = ropecheck({"replay", "REL-01:source=computed,head_dim=8", "--subject", "half_split"});
  CHECK(relation.exit_code == 0);
  CHECK_THAT(relation.out,
             Catch::EndsWith("# No numpy program: the check compares results of the kernel with each other, "
                             "so no single element can be computed.\n"));
}

TEST_CASE("command: replay tells the number of a mean, of a kernel that passes too") {
  const auto found = [](const std::string& subject) {
    const Result result = ropecheck({"replay", "ROT-13:seq=256,heads=1,dtype=bf16,out_dtype=bf16", "--subject", subject});
    CHECK_THAT(result.out, !Contains("0x"));
    return line_with(result.out, "  found  ");
  };
  CHECK_THAT(found(mutants + "#PREC-TRUNCATION"),
             Contains("the mean error of ") && Contains(" results is -0.49") &&
                 Catch::EndsWith(" ulp; a right kernel's is within 0.25: results are cut off"));
  CHECK_THAT(found(mutants + "#PREC-ROUND-AWAY"), Catch::EndsWith(": results are rounded away from zero"));
  CHECK_THAT(found("half_split"), Contains("holds: the mean error of ") && Catch::EndsWith("is within 0.25"));
}

TEST_CASE("command: replay tells two results of the kernel from a result and an exact value") {
  const auto replayed = [](const std::string& id, const std::string& kernel) {
    const Result result = ropecheck({"replay", id, "--subject", mutants + "#" + kernel});
    CHECK(result.exit_code == 1);
    return result.out;
  };
  const std::string related = replayed("REL-01:source=computed,head_dim=8,seq=3,start=5", "SIGN-REFLECTION");
  CHECK_THAT(line_with(related, "  found  "), Contains("scores are beyond the bound; the worst: the score when both positions have moved by "));
  CHECK_FALSE(line_with(related, "  asked for ").empty());
  CHECK_FALSE(line_with(related, "  apart  ").empty());
  CHECK(line_with(related, "  error  ").empty());
  CHECK(line_with(related, "  expected ").empty());

  const std::string judged = replayed("ROT-01:source=computed,head_dim=8,seq=3,start=5", "SIGN-01");
  CHECK_THAT(line_with(judged, "  found  "), Contains("is exact"));
  CHECK_FALSE(line_with(judged, "  expected ").empty());
  CHECK_FALSE(line_with(judged, "  error  ").empty());
  CHECK(line_with(judged, "  apart  ").empty());

  const std::string repeated = replayed("DET-01:source=computed,head_dim=64,seq=4", "NAN-03");
  CHECK_FALSE(line_with(repeated, "  at first ").empty());
  CHECK_FALSE(line_with(repeated, "  then  ").empty());
  CHECK_THAT(line_with(repeated, "  found  "), Contains("differ between two runs of the same call"));
  CHECK(line_with(repeated, "  error  ").empty());
}

}  // namespace
}  // namespace rope
