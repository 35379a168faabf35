#include "tools/vectors/manifest.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "reference/input_error.hpp"
#include "tests/unit/vectors/small_export.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Json = nlohmann::ordered_json;
using vectors::Vectors;

void put(const std::filesystem::path& folder, const std::string& text) {
  std::ofstream(folder / "manifest.json", std::ios::binary) << text;
}

std::string error_of(const std::filesystem::path& folder) {
  try {
    vectors::read_vectors(folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("vectors manifest: it is read as it was written") {
  const TemporaryFolder folder;
  Oracles oracles;
  vectors::ExportOptions options = test::small_options({"ROT-01", "ROT-08"});
  options.selection.seed = UINT64_MAX;
  options.selection.most_tokens = 5000;
  options.selection.layers = "full_attention";
  options.claims.head_dims = {8, 64};
  vectors::export_vectors(folder / "new", oracles, options);
  const Vectors read = vectors::read_vectors(folder / "new");
  CHECK(read.version == "0.0.0");
  CHECK(read.selection.level == Level::quick);
  CHECK(read.selection.seed == UINT64_MAX);
  CHECK(read.selection.only == std::vector<std::string>{"ROT-01", "ROT-08"});
  CHECK(read.selection.spec == options.selection.spec);
  CHECK(read.selection.most_tokens == 5000);
  CHECK(read.selection.layers == "full_attention");
  CHECK(read.claims.head_dims == options.claims.head_dims);
  CHECK(read.claims.capabilities.features == options.claims.capabilities.features);
  CHECK(read.left_out.size() == 1);
  std::ifstream stream(folder / "new" / "manifest.json", std::ios::binary);
  CHECK(vectors::to_json(read) == std::string(std::istreambuf_iterator<char>(stream), {}));
  CHECK_FALSE(read.selection.any_pairing);
  options.selection.any_pairing = true;
  vectors::export_vectors(folder / "any", oracles, options);
  CHECK(vectors::read_vectors(folder / "any").selection.any_pairing);
}

TEST_CASE("vectors manifest: a mismatch with the schema is refused by its place") {
  const TemporaryFolder folder;
  Oracles oracles;
  const auto path = folder / "new";
  vectors::export_vectors(path, oracles, test::small_options({"ROT-01"}));
  const Json right = Json::parse(vectors::to_json(vectors::read_vectors(path)));
  const auto refused = [&](const char* pointer, const Json& value, const std::vector<std::string>& expected) {
    Json wrong = right;
    wrong[Json::json_pointer(pointer)] = value;
    put(path, wrong.dump());
    const std::string error = error_of(path);
    CAPTURE(pointer);
    for (const std::string& words : expected) CHECK_THAT(error, Contains(words));
  };
  refused("/schema", 2, {"manifest.json.schema: version 2; this program reads version 1", "export again"});
  refused("/tool", "other", {"\"other\" is not known; use one of ropecheck"});
  refused("/surplus", 1, {"unknown field \"surplus\""});
  refused("/selection/level", "fast", {"selection.level: \"fast\" is not known"});
  refused("/selection/seed", -1, {"selection.seed: expected a whole number"});
  refused("/claims/dtypes", Json{{"f33", {"f32"}}}, {"claims:", "f33"});
  refused("/left_out", 1, {"left_out: expected a list"});
  refused("/cases", Json::array(), {"cases: expected a list of at least 1"});
  refused("/cases/0/case", "ROT-99:seq=1", {"cases[0]: this build does not know the case", "ROT-99"});
  refused("/cases/0/case", "ROT-01:seq=x", {"cases[0]: this build does not know the case", "\"x\" is not a number"});
  refused("/cases/0/calls/0/id", "../x", {"calls[0].id: \"../x\"; expected only capital letters"});
  refused("/cases/0/calls/0/id", right["/cases/1/calls/0/id"_json_pointer], {"expected responses/"});
  refused("/cases/1", right["/cases/0"_json_pointer], {"cases[1]: two calls have the id"});
  refused("/cases/0/calls/0/outputs/0/file", "../../etc/passwd",
          {"the file \"../../etc/passwd\"; expected responses/"});
  refused("/cases/0/calls/0/outputs/0/name", "v_out", {"\"v_out\"; expected q_out or k_out"});
  refused("/cases/0/calls/0/outputs/0/storage", "<u2", {"storage: \"<u2\"; f32 is stored as \"<f4\""});
  refused("/cases/0/calls/0/inputs/0/sha256", "12", {"sha256: expected 64 lower-case"});
  refused("/cases/0/calls/0/inputs/0/shape", Json::array({-1}), {"shape: expected a whole number"});
  refused("/cases/0/calls/0/digest", "12", {"digest: expected 64 lower-case"});
  put(path, right.dump().substr(0, 1000));
  CHECK_THAT(error_of(path), Contains("manifest.json: byte 1000: not JSON"));
  put(path, right.dump());
  CHECK(error_of(path).empty());
  std::filesystem::remove(path / "manifest.json");
  CHECK_THAT(error_of(path), Contains("manifest.json is missing; expected a folder that `ropecheck vectors export`"));
}

}  // namespace
}  // namespace rope
