#include "tools/vectors/export.hpp"

#include <catch2/catch.hpp>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"
#include "tests/unit/vectors/small_export.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using vectors::Exported;
using vectors::Vectors;

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

Exported exported_to(const fs::path& folder, const vectors::ExportOptions& options) {
  Oracles oracles;
  return vectors::export_vectors(folder, oracles, options);
}

TEST_CASE("export: every array of the manifest is there, once, under the name of its content") {
  const TemporaryFolder folder;
  vectors::ExportOptions options = test::small_options({"ROT-01", "ROT-06", "ROT-07", "POS-01", "DET-01"});
  options.expected = true;
  const Exported exported = exported_to(folder / "new", options);
  const Vectors read = vectors::read_vectors(folder / "new");
  CHECK(read.calls() == exported.calls);
  CHECK(static_cast<std::int64_t>(read.cases.size()) == exported.cases);
  CHECK(exported.cases > 10);
  CHECK(exported.left_out.empty());
  std::set<std::string> files;
  std::int64_t named = 0;
  for (const vectors::CaseRecord& record : read.cases) {
    for (const vectors::CallRecord& call : record.calls) {
      for (const auto* arrays : {&call.inputs, &call.expected}) {
        for (const vectors::Array& array : *arrays) {
          ++named;
          if (!files.insert(array.file).second) continue;
          const NpyArray content = test::read_array(read.folder, array);
          CHECK(content.shape == array.shape);
          CHECK(content.type == storage_of(array.dtype));
          CHECK(sha256(read_file(read.folder / array.file)) == array.sha256);
          CHECK(array.file == "arrays/" + array.sha256.substr(0, 24) + ".npy");
        }
      }
    }
  }
  CHECK(files.size() == entries(folder / "new" / "arrays"));
  CHECK(named > static_cast<std::int64_t>(files.size()));  // equal arrays are stored once
  CHECK(exported.files == static_cast<std::int64_t>(files.size()) + 2);  // the manifest, a README
  CHECK(entries(folder / "new" / "responses") == 0);
  CHECK(entries(folder.path()) == 1);  // no temporary name is left
}

TEST_CASE("export: the same call asked again is a separate call") {
  const TemporaryFolder folder;
  exported_to(folder / "new", test::small_options({"DET-01"}));
  const Vectors read = vectors::read_vectors(folder / "new");
  const auto& calls = read.cases.at(0).calls;
  REQUIRE(calls.size() == 4);
  CHECK(calls[1].digest == calls[0].digest);
  CHECK(calls[1].outputs.at(0).file != calls[0].outputs.at(0).file);
}

TEST_CASE("export: calls that files cannot carry are left out, with the reason") {
  const TemporaryFolder folder;
  const Exported exported =
      exported_to(folder / "new", test::small_options({"ROT-01", "ROT-08", "MEM-02", "ERR-01", "DET-03"}));
  std::map<std::string, std::string> reasons;
  for (const vectors::LeftOut& left : exported.left_out) reasons[left.requirement] = left.reason;
  CHECK(reasons.size() == 3);
  CHECK_THAT(reasons["ROT-08"], Contains("the answer to an earlier one"));
  CHECK_THAT(reasons["MEM-02"], Contains("memory"));
  CHECK_THAT(reasons["ERR-01"], Contains("status"));
  for (const vectors::CaseRecord& record : vectors::read_vectors(folder / "new").cases) {
    CHECK(record.c.requirement == "ROT-01");
    CHECK_FALSE(record.c.in_place);
    CHECK(record.c.layout == Layout::contiguous);
  }
}

TEST_CASE("export: large calls are left out, and their expected values do not count", "[takes_long]") {
  const TemporaryFolder folder;
  vectors::ExportOptions options = test::small_options({"SHP-01", "SHP-04"});
  options.most_bytes = 100000;
  const Exported small = exported_to(folder / "small", options);
  REQUIRE(small.left_out.size() == 1);
  CHECK(small.left_out[0].requirement == "SHP-01");
  CHECK_THAT(small.left_out[0].reason, Contains("more than 100 kB"));
  options.expected = true;
  const Exported expected = exported_to(folder / "expected", options);
  CHECK(expected.cases == small.cases);
  options.most_bytes = 0;
  CHECK(exported_to(folder / "all", options).left_out.empty());
}

TEST_CASE("export: a folder is written whole or not at all") {
  const TemporaryFolder folder;
  const auto message = [&](const fs::path& path, const vectors::ExportOptions& options) {
    try {
      exported_to(path, options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  fs::create_directory(folder / "empty");
  exported_to(folder / "empty", test::small_options({"ROT-02"}));
  CHECK_THAT(message(folder / "empty", test::small_options({"ROT-02"})), Contains("is not empty"));
  CHECK_THAT(message(folder / "nothing", test::small_options({"ANG-07"})), Contains("nothing is left to export"));
  Stop stop;
  stop.request();
  vectors::ExportOptions stopped = test::small_options({"ROT-02"});
  stopped.stop = &stop;
  CHECK(exported_to(folder / "stopped", stopped).interrupted);
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("export: claims lose everything that files cannot show") {
  const Claims claims = vectors::claims_of_files();
  for (const rope_feature feature :
       {ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED, ROPE_FEATURE_ANY_STRIDES, ROPE_FEATURE_ROBUST}) {
    CHECK_FALSE(claims.has(feature));
  }
  CHECK(claims.has(ROPE_FEATURE_BACKWARD));
  CHECK_FALSE(claims.far_tensors);
  CHECK_FALSE(claims.concurrent_calls);
}

}  // namespace
}  // namespace rope
