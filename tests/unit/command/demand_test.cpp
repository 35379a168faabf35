// What a person can demand, select or cut short: --require, --only, --fail-fast.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Json = nlohmann::ordered_json;

Json subject_of(const Words& more) {
  const Result result = ropecheck(verify({"half_split"}, more));
  CAPTURE(result.err);
  return Json::parse(result.out).at("subjects").at(0);
}

TEST_CASE("command: --require takes a grade and the words that list prints, and refuses others") {
  const Words known{"\"bitwsie\" is not known; did you mean bitwise? use a grade from A1 to C3, bitwise, batch-invariant, robust"};
  check_refused(2, verify({"half_split"}, {"--require", "bitwsie"}), known);
  check_refused(2, {"replay", "ROT-01:head_dim=2", "--subject", "half_split", "--require", "bitwsie"}, known);
  check_refused(2, verify({"half_split"}, {"--require", "A4"}), {"--require: \"A4\" is not known"});
  check_refused(2, verify({"half_split"}, {"--require", "A1,B2"}), {"--require: A1 and B2 are two grades; give one"});
  check_refused(2, verify({"half_split"}, {"--require", "A1", "--require", "B2"}), {"A1 and B2 are two grades"});
  check_refused(2, verify({"half_split"}, {"--require", ""}), {"--require"});
  const Json subject = subject_of({"--require", "robust,A1,bitwise", "--require", "A1", "--json", "-"});
  CHECK(subject["require"] == Json{"A1", "bitwise", "robust"});
  CHECK(subject_of({"--json", "-"})["require"] == Json::array());
}

TEST_CASE("command: --only takes known requirements and families") {
  check_refused(
      2, verify({"half_split"}, {"--only", "ROT-1"}),
      {"--only: \"ROT-1\" is neither a requirement (`ropecheck list requirements`) nor one of the families", "ROT",
       "; did you mean ROT-01?"});
  check_refused(2, verify({"half_split"}, {"--only", "ROT,XYZ"}), {"--only: \"XYZ\""});
  const Json subject = subject_of({"--only", "rel,Rot-02", "--json", "-"});  // in any case
  CHECK(subject["only"] == Json{"REL", "ROT-02"});
  std::vector<std::string> ids;
  for (const Json& requirement : subject["requirements"]) ids.push_back(requirement["id"]);
  CHECK(ids.front() == "ROT-02");
  REQUIRE(ids.size() >= 3);
  for (std::size_t i = 1; i < ids.size(); ++i) CHECK_THAT(ids[i], Catch::StartsWith("REL-"));
}

TEST_CASE("command: --fail-fast ends the run at the first requirement that fails") {
  const std::string broken = mutants + "#PIPE-01";
  const Result all = ropecheck(verify({broken}, {"--verbose"}));
  const Result fast = ropecheck(verify({broken}, {"--fail-fast", "--verbose"}));
  const auto failures = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = text.find("  FAIL "); at != text.npos; at = text.find("  FAIL ", at + 1)) ++count;
    return count;
  };
  CHECK(all.exit_code == 1);
  CHECK(fast.exit_code == 1);
  CHECK(failures(all.out) > 1);
  CHECK(failures(fast.out) == 1);
  CHECK_THAT(fast.out, Contains("1 failed"));
  CHECK(ropecheck(verify({"half_split"}, {"--fail-fast"})).exit_code == 0);
}

TEST_CASE("command: a kernel of grade A2 conforms, but not if A1 is demanded") {
  const std::string rounds_twice = (build_folder() / "legal_o3.so").string() + "#rotate_half";
  const Words bf16{"--dtype", "bf16", "--head-dim", "64", "--level", "quick", "--only", "ROT-01,ROT-13,ANG-02"};
  const auto judged = [&](const std::string& subject, const Words& more) {
    Words words{"verify", subject};
    words.insert(words.end(), bf16.begin(), bf16.end());
    words.insert(words.end(), more.begin(), more.end());
    return ropecheck(words);
  };
  CHECK(judged(rounds_twice, {}).exit_code == 0);
  CHECK(judged("half_split", {"--require", "A1"}).exit_code == 0);
  const Result result = judged(rounds_twice, {"--require", "A1"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(line_with(result.out, "ROT-01  "), Contains("FAIL"));

  const std::string replay = line_with(result.out, "ropecheck replay ");
  REQUIRE_THAT(replay, Catch::EndsWith(" --require A1"));
  const std::string line = replay.substr(replay.find("ropecheck"));
  const Words path{"PATH=" + build_folder().string() + ":/usr/bin:/bin"};
  const Result again = run_program({"sh", "-c", line}, path);
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));
  const std::string without = line.substr(0, line.find(" --require"));
  CHECK(run_program({"sh", "-c", without}, path).exit_code == 0);
}

}  // namespace
}  // namespace rope
