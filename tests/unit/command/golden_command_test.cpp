// ropecheck golden, and its answer to damaged golden files.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "golden/npy.hpp"
#include "golden/sha256.hpp"
#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

// A folder with one case of our own golden files, for each test to damage.
class GoldenFolder {
 public:
  GoldenFolder() : manifest(Json::parse(read(source_folder() / "golden" / "manifest.json"))) {
    manifest["cases"] = Json::array({manifest["cases"][0]});
    for (const Json& array : manifest["cases"][0]["arrays"]) {
      const fs::path copy = folder_ / array["file"];
      fs::create_directories(copy.parent_path());
      fs::copy_file(source_folder() / "golden" / array["file"], copy);
    }
    write_manifest();
  }

  Json& array() { return manifest["cases"][0]["arrays"][0]; }
  std::string file() { return (folder_ / array()["file"]).string(); }
  std::string id() const { return manifest["cases"][0]["id"]; }
  std::string manifest_file() const { return (folder_ / "manifest.json").string(); }
  void write_manifest() const { write(manifest_file(), manifest.dump(1)); }
  Words variables() const { return {"ROPECHECK_GOLDEN=" + folder_.path().string()}; }

  // The manifest is made anew, so that it describes the damaged content.
  void damage(const std::string& content) {
    write(file(), content);
    array()["sha256"] = sha256(std::as_bytes(std::span(content)));
    write_manifest();
  }
  void check(const Words& expected) const { check_refused(2, {"golden", "check-files"}, expected, variables()); }

  Json manifest;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("command: an undamaged golden folder is accepted wherever it lies") {
  GoldenFolder golden;
  const Result result = ropecheck({"golden", "check-files"}, golden.variables());
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("1 case, ") && Contains("all as the manifest says"));
}

TEST_CASE("command: a damaged golden array is refused by file, array, case and byte") {
  GoldenFolder golden;
  const std::string whole = read(golden.file());
  write(golden.file(), whole.substr(0, whole.size() - 1) + '\x7f');
  golden.check({golden.file() + ": array " + golden.array()["name"].get<std::string>() + " of case " + golden.id(),
                "sha256 is ", "the manifest says ", "restore the file"});
  golden.damage(whole.substr(0, whole.size() - 3));
  golden.check({golden.file() + ": byte " + std::to_string(whole.size() - 3), "it is truncated, make it again"});
  golden.damage(whole + "more");
  golden.check({golden.file() + ": byte " + std::to_string(whole.size()), "4 bytes follow", "one array a file"});
  golden.damage("not an array");
  golden.check({golden.file() + ": byte 0: expected the six bytes \\x93NUMPY", "numpy.save"});
  golden.damage(std::string(whole).replace(whole.find("False"), 5, "Maybe"));
  golden.check({golden.file() + ": byte " + std::to_string(whole.find("False"))});
  fs::remove(golden.file());
  golden.check({golden.id() + ").arrays[0].file: file " + golden.file() + " is missing", "restore it"});
}

TEST_CASE("command: verify does not judge by damaged golden files") {
  GoldenFolder golden;
  write(golden.file(), "not an array");
  check_refused(2, {"verify", "half_split"}, {golden.file(), "sha256 is "}, golden.variables());
}

TEST_CASE("command: a wrong manifest is refused by field, and names no file outside its folder") {
  GoldenFolder golden;
  golden.array()["file"] = "../secret.npy";
  golden.write_manifest();
  golden.check({golden.manifest_file() + ": cases[0]", ".file: \"../secret.npy\" leads out of the manifest's folder"});
  golden.array()["file"] = "/etc/passwd";
  golden.write_manifest();
  golden.check({".file: \"/etc/passwd\"", "leads out of the manifest's folder"});
  write(golden.manifest_file(), "{\"schema\": 1, oops}");
  golden.check({golden.manifest_file() + ": byte 14: not JSON"});
  fs::remove(golden.manifest_file());
  golden.check({golden.manifest_file() + ": no such file"});
  check_refused(2, {"verify", "half_split"}, {golden.manifest_file() + ": no such file"}, golden.variables());
}

}  // namespace
}  // namespace rope
