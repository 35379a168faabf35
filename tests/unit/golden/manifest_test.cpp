#include "golden/manifest.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "golden/sha256.hpp"
#include "reference/input_error.hpp"
#include "tests/unit/places.hpp"

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// A folder with a manifest of one case, made anew for each test.
class Folder {
 public:
  Folder() : path_(rope::build_folder() / ("manifest_test." + std::to_string(getpid()))) {
    fs::create_directories(path_);
    manifest["schema"] = 1;
    manifest["version"] = "1.0.0";
    manifest["packages"] = Json::array({{{"name", "torch"}, {"version", "2.13.0"}}});
    manifest["host"] = {
        {"machine", "x86_64"}, {"processor", "p"}, {"cpu_capability", "AVX2"},         {"libc", "glibc"},
        {"python", "3.11"},    {"threads", 1},     {"fingerprint", "0123456789abcdef"}};
    Json golden = {{"id", "labml/small"},
                   {"package", "labml-nn"},
                   {"version", "0.5.1"},
                   {"function", "f"},
                   {"description", "d"},
                   {"status", "conforms"},
                   {"requirements", {"GLD"}},
                   {"spec", {{"head_dim", 4}, {"rotary_dim", 4}, {"pairing", "half_split"}, {"base", 10000}}},
                   {"sequence_length", 3},
                   {"position_offset", 0},
                   {"position_divisor", 1.0},
                   {"attention_factor", 1.0},
                   {"tables_include_attention_factor", true},
                   {"layout", "half_split"},
                   {"axes", "seq, batch, heads, head_dim"},
                   {"dtype", "f32"},
                   {"output_dtype", "f32"},
                   {"rounding", "f32"},
                   {"c", 2.0},
                   {"arrays", Json::array()}};
    const auto add = [&](const char* name, const char* role, const char* dtype, rope::NpyType storage,
                         std::vector<std::int64_t> shape) {
      std::size_t bytes = rope::size_of(storage);
      for (auto extent : shape) bytes *= static_cast<std::size_t>(extent);
      const rope::NpyArray array{storage, shape, std::vector<std::byte>(bytes)};
      const std::string file = std::string(name) + ".npy";
      rope::write_npy(path_ / file, array);
      golden["arrays"].push_back({{"name", name},
                                  {"role", role},
                                  {"axes", "words"},
                                  {"dtype", dtype},
                                  {"storage", rope::descr(storage)},
                                  {"shape", shape},
                                  {"file", file},
                                  {"sha256", rope::sha256(rope::format_npy(array))}});
    };
    add("q", "input", "f32", rope::NpyType::f4, {3, 1, 1, 4});
    add("positions", "position", "i64", rope::NpyType::i8, {1, 1, 3});
    add("theta", "frequencies", "f32", rope::NpyType::f4, {2});
    add("cos", "table", "f32", rope::NpyType::f4, {1, 3, 4});
    add("sin", "table", "f32", rope::NpyType::f4, {1, 3, 4});
    add("q_out", "output", "f32", rope::NpyType::f4, {3, 1, 1, 4});
    manifest["cases"] = Json::array({golden});
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }
  Json& golden() { return manifest["cases"][0]; }
  Json& array(std::size_t index) { return golden()["arrays"][index]; }

  rope::Manifest read() const {
    std::ofstream(path_ / "manifest.json") << manifest.dump(1);
    return rope::read_manifest(path_);
  }

  Json manifest;

 private:
  fs::path path_;
};

// Changes the manifest, and checks that the refusal holds the words.
void check_refused(const std::function<void(Folder&)>& change, const std::string& words) {
  Folder folder;
  change(folder);
  CHECK_THROWS_WITH(folder.read(), Catch::Contains("manifest.json") && Catch::Contains(words));
}

}  // namespace

TEST_CASE("manifest: a case is read as written", "[golden]") {
  Folder folder;
  folder.array(0)["seed"] = 17;
  folder.array(5)["printed"] = {{"digits", 4}, {"form", "fixed"}};
  const rope::Manifest manifest = folder.read();
  REQUIRE(manifest.cases.size() == 1);
  const rope::GoldenCase& golden = *manifest.find("labml/small");
  CHECK(manifest.version == "1.0.0");
  CHECK(golden.conforms);
  CHECK(golden.spec.head_dim == 4);
  CHECK(golden.axis_of == std::array{1, 0, 2, 3});
  CHECK(golden.position_offset == 0);
  CHECK(golden.rounding == rope::GoldenRounding::f32);
  CHECK(golden.find("q")->seed == 17);
  CHECK(golden.find("q_out")->print->digits == 4);
  CHECK(golden.find("nothing") == nullptr);
  CHECK(manifest.find("nothing") == nullptr);
  CHECK(rope::load(manifest, golden, "q").shape == std::vector<std::int64_t>{3, 1, 1, 4});
  CHECK_THROWS_WITH(rope::load(manifest, golden, "k"), Catch::Contains("case labml/small has no array k"));
}

TEST_CASE("manifest: half a unit of the last printed digit", "[golden]") {
  CHECK(rope::GoldenPrint{4, false}.half_unit(-11.0967) == Approx(0.5e-4));
  CHECK(rope::GoldenPrint{4, true}.half_unit(8.6596e-01) == Approx(0.5e-5));
  CHECK(rope::GoldenPrint{4, true}.half_unit(1.0) == Approx(0.5e-4));
  CHECK(rope::GoldenPrint{4, true}.half_unit(1.1548e-04) == Approx(0.5e-8));
}

TEST_CASE("manifest: files lie in its folder", "[golden]") {
  check_refused([](Folder& f) { f.array(0)["file"] = "../q.npy"; }, "leads out of the manifest's folder");
  check_refused([](Folder& f) { f.array(0)["file"] = "a/../../q.npy"; }, "leads out of the manifest's folder");
  check_refused([](Folder& f) { f.array(0)["file"] = "./q.npy"; }, "leads out of the manifest's folder");
  check_refused([](Folder& f) { f.array(0)["file"] = "/etc/passwd"; }, "leads out of the manifest's folder");
  check_refused([](Folder& f) { f.array(0)["file"] = "nowhere.npy"; }, "nowhere.npy is missing");
  check_refused([](Folder& f) { f.array(0)["file"] = ""; }, "not empty");
  check_refused(
      [](Folder& f) {
        fs::create_symlink("/etc/passwd", f.path() / "link.npy");
        f.array(0)["file"] = "link.npy";
      },
      "outside the manifest's folder");
  check_refused(
      [](Folder& f) {
        fs::create_directory_symlink("/etc", f.path() / "link");
        f.array(0)["file"] = "link/passwd";
      },
      "outside the manifest's folder");
}

TEST_CASE("manifest: fields that are missing, unknown or of the wrong kind", "[golden]") {
  check_refused([](Folder& f) { f.manifest["schema"] = 2; }, "this program reads version 1");
  check_refused([](Folder& f) { f.manifest["version"] = "1.0"; }, "expected major.minor.patch");
  check_refused([](Folder& f) { f.manifest["more"] = 1; }, "unknown field \"more\"");
  check_refused([](Folder& f) { f.manifest["cases"] = Json::array(); }, "at least 1 entries");
  check_refused([](Folder& f) { f.manifest.erase("host"); }, "the field \"host\" is missing");
  check_refused([](Folder& f) { f.golden()["tolerance"] = 1e-6; }, "(labml/small): unknown field \"tolerance\"");
  check_refused([](Folder& f) { f.golden().erase("spec"); }, "the field \"spec\" is missing");
  check_refused([](Folder& f) { f.golden()["spec"]["rotary_dim"] = 3; }, "must be even");
  check_refused([](Folder& f) { f.golden()["spec"]["rotary_dims"] = 4; }, "unknown field \"rotary_dims\"");
  check_refused([](Folder& f) { f.golden()["layout"] = "interleaved"; }, "but the spec says half_split");
  check_refused([](Folder& f) { f.golden()["rounding"] = "f64"; }, "use one of f32, per-op, final-cast, printed");
  check_refused([](Folder& f) { f.golden()["axes"] = "seq, seq, heads, head_dim"; }, "in some order");
  check_refused([](Folder& f) { f.golden()["axes"] = "seq, batch, heads"; }, "in some order");
  check_refused([](Folder& f) { f.golden()["status"] = "deviates"; }, "a reason goes with");
  check_refused([](Folder& f) { f.golden()["reason"] = "none"; }, "a reason goes with");
  check_refused(
      [](Folder& f) {
        f.golden()["status"] = "deviates";
        f.golden()["reason"] = "wrong";
      },
      "instead: it goes with status \"deviates\"");
  const auto deviates = [](const char* rule) {
    return [rule](Folder& f) {
      f.golden()["status"] = "deviates";
      f.golden()["reason"] = "wrong";
      f.golden()["instead"] = {{"rule", rule}};
    };
  };
  check_refused(
      [](Folder& f) {
        f.golden()["instead"] = {{"rule", "k_turned_with_q"}};
      },
      "instead: it goes with status");
  check_refused(deviates("guessed"), "\"guessed\" is not known; use one of positions_rounded");
  check_refused(deviates("theta_rounded"), "the field \"dtype\" is missing");
  check_refused(deviates("tables_rounded"), "the field \"dtype\" is missing");
  check_refused(deviates("other_sequence_length"), "the field \"sequence_length\" is missing");
  check_refused(deviates("other_spec"), "the field \"spec\" is missing");
  check_refused(deviates("other_positions"), "array positions_used is missing");
  check_refused([](Folder& f) { f.golden()["theta_is_given"] = 1; }, "expected true or false");
  check_refused([](Folder& f) { f.golden()["score_scale"] = 0; }, "above 0");
  check_refused([](Folder& f) { f.golden()["masked_score"] = 1; }, "below 0");
  check_refused([](Folder& f) { f.golden()["after"] = "labml/none"; }, "\"labml/none\", which is not a case");
  check_refused([](Folder& f) { f.golden()["host"] = "0123456789abcde0"; }, "is not the fingerprint of a host");
  check_refused([](Folder& f) { f.golden()["host"] = "here"; }, "16 lower-case hexadecimal digits");
  check_refused([](Folder& f) { f.manifest["hosts"] = Json::array({f.manifest["host"]}); }, "stands twice");
  check_refused([](Folder& f) { f.golden()["beyond_contract"] = Json::array({"key-positions"}); },
                "where the array k_positions is there");
  check_refused([](Folder& f) { f.golden()["beyond_contract"] = Json::array(); }, "at least 1 entries");
  check_refused([](Folder& f) { f.golden()["beyond_contract"] = Json::array({"size"}); },
                "use each of fractional-positions");
  check_refused([](Folder& f) { f.golden()["sequence_length"] = -1; }, "whole number from 0");
  check_refused([](Folder& f) { f.golden()["sequence_length"] = 1.5; }, "whole number from 0");
  check_refused([](Folder& f) { f.golden()["sequence_length"] = 0xffffffffffffffffu; }, "whole number from 0");
  check_refused([](Folder& f) { f.golden()["position_divisor"] = 0; }, "above 0");
  check_refused([](Folder& f) { f.array(0)["seed"] = std::int64_t{1} << 48; }, "281474976710655");
  check_refused([](Folder& f) { f.array(0)["dtype"] = "f8"; }, "is not a dtype");
  check_refused([](Folder& f) { f.array(0)["storage"] = "<f2"; }, "f32 is stored as \"<f4\"");
  check_refused([](Folder& f) { f.array(0)["sha256"] = "abc"; }, "64 lower-case hexadecimal digits");
  check_refused([](Folder& f) { f.manifest["host"]["fingerprint"] = "abc"; }, "16 lower-case hexadecimal digits");
  check_refused([](Folder& f) { f.golden()["id"] = "Labml small"; }, "holds a character other than");
  check_refused([](Folder& f) { f.golden()["dtype"] = "i32"; }, "expected f64, f32, f16 or bf16");
  check_refused([](Folder& f) { f.golden()["requirements"] = {""}; }, "not empty");
  check_refused([](Folder& f) { f.array(0)["name"] = "q1"; }, "holds a character other than");
  check_refused([](Folder& f) { f.array(0)["file"] = "a\\b.npy"; }, "holds a character other than");
  check_refused([](Folder& f) { f.array(0)["sha"] = "abc"; }, "unknown field \"sha\"");
  check_refused([](Folder& f) { f.array(5)["printed"] = {{"digits", 4}, {"form", "e"}}; }, "fixed, scientific");
}

TEST_CASE("manifest: cases that contradict themselves", "[golden]") {
  check_refused([](Folder& f) { f.manifest["cases"].push_back(f.golden()); }, "the id \"labml/small\" stands twice");
  check_refused([](Folder& f) { f.golden()["arrays"].push_back(f.array(0)); }, "two arrays are called q");
  check_refused([](Folder& f) { f.golden()["arrays"].erase(3); }, "array cos is missing");
  check_refused([](Folder& f) { f.golden()["beyond_contract"] = Json::array({"magnitude"}); },
                "where the spec has xpos");
  check_refused([](Folder& f) { f.golden()["spec"]["xpos"] = Json::object(); }, "where the spec has xpos");
  check_refused([](Folder& f) { f.golden()["beyond_contract"] = Json::array({"fractional-positions"}); },
                "array positions: dtype i64");
  const auto add_scores = [](const char* axes) {
    return [axes](Folder& f) {
      Json scores = f.array(0);
      scores["name"] = "scores";
      scores["role"] = "score";
      scores["axes"] = axes;
      f.golden()["arrays"].push_back(scores);
    };
  };
  check_refused(add_scores("words"), "array scores: axis \"words\"");
  check_refused(add_scores("query, key, batch, heads"),
                "array scores: shape (3, 1, 1, 4); its axes \"query, key, batch, heads\" make it (3, 3, 1, 1)");
  check_refused([](Folder& f) { f.golden().erase("c"); }, "\"c\" and \"output_dtype\" are needed");
  check_refused([](Folder& f) { f.array(0)["shape"] = {3, 1, 4}; }, "array q: shape (3, 1, 4); expected four axes");
  check_refused([](Folder& f) { f.array(0)["shape"] = {3, 1, 1, 8}; }, "four axes with head_dim 4");
  check_refused([](Folder& f) { f.array(0)["shape"] = {3, 1, 1, -4}; }, "whole number from 0");
  check_refused([](Folder& f) { f.array(1)["shape"] = {3}; }, "(axes, batch or 1, seq)");
  check_refused([](Folder& f) { f.array(2)["shape"] = {4}; }, "one frequency a pair");
  check_refused([](Folder& f) { f.array(3)["shape"] = {1, 3, 3}; }, "(batch or 1, seq, rotary_dim or half of it)");
  check_refused([](Folder& f) { f.array(5)["shape"] = {3, 1, 2, 4}; }, "array q_out");
}

TEST_CASE("manifest: missing, not JSON", "[golden]") {
  Folder folder;
  CHECK_THROWS_WITH(rope::read_manifest(folder.path()), Catch::Contains("manifest.json: no such file"));
  std::ofstream(folder.path() / "manifest.json") << "{\"schema\": 1,";
  CHECK_THROWS_WITH(rope::read_manifest(folder.path()), Catch::Contains("manifest.json: byte 13: not JSON"));
  std::ofstream(folder.path() / "manifest.json") << "{\"schema\": 1e999}";
  CHECK_THROWS_WITH(rope::read_manifest(folder.path()), Catch::Contains("manifest.json: not JSON that can be read"));
  std::ofstream(folder.path() / "manifest.json") << "[]";
  CHECK_THROWS_WITH(rope::read_manifest(folder.path()), Catch::Contains("expected an object, found array"));
}

TEST_CASE("manifest: an array that is not what the manifest says", "[golden]") {
  Folder folder;
  folder.array(0)["sha256"] = std::string(64, '0');
  folder.array(3)["shape"] = {1, 3, 2};
  folder.array(4)["dtype"] = "i32";
  folder.array(4)["storage"] = "<i4";
  const rope::Manifest manifest = folder.read();
  const rope::GoldenCase& golden = manifest.cases[0];
  CHECK_THROWS_WITH(rope::load(manifest, golden, "q"), Catch::Contains("array q of case labml/small: sha256 is") &&
                                                           Catch::Contains("ropecheck golden regenerate"));
  CHECK_THROWS_WITH(rope::load(manifest, golden, "cos"),
                    Catch::Contains("shape is (1, 3, 4), the manifest says (1, 3, 2)"));
  CHECK_THROWS_WITH(rope::load(manifest, golden, "sin"), Catch::Contains("stored as <f4, the manifest says <i4"));
  fs::remove(folder.path() / "q.npy");
  CHECK_THROWS_WITH(rope::load(manifest, golden, "q"), Catch::Contains("no such file"));
}

TEST_CASE("manifest: arrays that were all loaded are not read again", "[golden]") {
  Folder folder;
  rope::Manifest manifest = folder.read();
  const rope::NpyArray q = rope::load(manifest, manifest.cases[0], "q");
  CHECK(rope::load_all(manifest) == 6);
  fs::remove(folder.path() / "q.npy");
  const rope::NpyArray again = rope::load(manifest, manifest.cases[0], "q");
  CHECK(again.bytes == q.bytes);
  CHECK(again.shape == q.shape);
  manifest.cases[0].arrays[0].values = nullptr;
  CHECK_THROWS_WITH(rope::load_all(manifest), Catch::Contains("no such file"));
}
