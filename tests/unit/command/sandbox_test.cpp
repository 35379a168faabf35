// Kernels that attack the suite or the machine (tests/unit/worker/hostile.c), judged by the real ropecheck.
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
  return report["subjects"][0]["requirements"][0]["verdict"];
}

TEST_CASE("isolation: a kernel of the same user cannot look into the suite or change it") {
  CHECK(verdict_in(as_user(attack("right"))) == "pass");
  CHECK(verdict_in(as_user(attack("patch_suite"))) == "fail");
  CHECK(verdict_in(as_user(attack("trace_suite"))) == "fail");
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
