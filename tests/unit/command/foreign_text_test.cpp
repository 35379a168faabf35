// Words of others, wherever a command shows them: no control character of them reaches the terminal.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

const std::string forged = "\x1b[2Jforged\x1b]0;title\a";
const std::string shown = R"(\x1b[2Jforged\x1b]0;title\x07)";

void check_escaped(const Words& command, const Words& variables = {}) {
  CAPTURE(command);
  const Result result = ropecheck(command, variables);
  const std::string all = result.out + result.err;
  CHECK_THAT(all, Contains(shown));
  CHECK(std::ranges::none_of(all, [](unsigned char c) { return (c < ' ' && c != '\n' && c != '\t') || c == 0x7f; }));
}

std::string changed(const fs::path& file, const std::function<void(nlohmann::ordered_json&)>& change) {
  auto json = nlohmann::ordered_json::parse(read(file));
  change(json);
  return json.dump();
}

TEST_CASE("command: words of files that others wrote are escaped on the terminal") {
  const TemporaryFolder folder;
  const std::string config = (folder / "config.json").string(), list = (folder / "expected.txt").string();
  write(config, nlohmann::json{{"head_dim", 8}, {"rope_scaling", {{"rope_type", forged}}}}.dump());
  check_escaped({"verify", "half_split", "--model-config", config});
  check_escaped({"plan", "--model-config", config});

  write(list, "half_split ROT-01 at quick  # " + forged + "\n");
  check_escaped({"verify", "half_split", "--only", "ROT-01", "--level", "quick", "--expected-failures", list});
  write(list, forged + "\n");
  check_escaped({"verify", "half_split", "--only", "ROT-01", "--level", "quick", "--expected-failures", list});
  check_escaped({"verify", forged});
  check_escaped({"verify", "--" + forged});
}

TEST_CASE("command: ids and names of manifests are escaped on the terminal") {
  const TemporaryFolder folder;
  const std::string calls = (folder / "calls").string(), golden = (folder / "golden").string();
  const Words few{"--only", "ROT-01", "--dtype", "f32", "--head-dim", "8"};
  Words exporting{"vectors", "export", calls};
  exporting.insert(exporting.end(), few.begin(), few.end());
  REQUIRE(ropecheck(exporting).exit_code == 0);
  write(calls + "/manifest.json",
        changed(calls + "/manifest.json", [](auto& json) { json["cases"][0]["case"] = forged; }));
  check_escaped({"vectors", "verify", calls});
  fs::create_directory(golden);
  write(golden + "/manifest.json", changed(source_folder() / "golden/manifest.json", [](auto& json) {
          json["cases"][0]["id"] = forged;
        }));
  check_escaped({"golden", "verify"}, {"ROPECHECK_GOLDEN=" + golden});
}

TEST_CASE("command: words of stored reports are escaped on the terminal") {
  const TemporaryFolder folder;
  const std::string one = (folder / "one.json").string(), other = (folder / "other.json").string();
  REQUIRE(ropecheck({"verify", "half_split", "--only", "ROT-01", "--level", "quick", "--json", one}).exit_code == 0);
  for (const char* member : {"started", "version"}) {
    write(other, changed(one, [&](auto& json) { json[member] = forged; }));
    check_escaped({"compare", one, other});
  }
  write(other, changed(one, [&](auto& json) { json["subjects"][0]["subject"] = forged; }));
  check_escaped({"compare", one, other});
}

}  // namespace
}  // namespace rope
