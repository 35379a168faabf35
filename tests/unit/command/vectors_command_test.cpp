// ropecheck vectors: calls go out to files and results come back, through a program written only from
// docs/kernel-as-files.md.
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/command/command_checks.hpp"
#include "tests/unit/places.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

const std::string program = (source_folder() / "tests/unit/vectors/answer.py").string();

// What the program can do.
const char* const claims = R"({"dtypes": {"f64": ["f64"], "f32": ["f32"], "f16": ["f16"], "bf16": ["bf16", "f32"]},
  "tables": ["f64", "f32", "f16", "bf16"], "theta": ["f32", "f64"], "positions": ["i32", "i64"],
  "pairings": ["half_split", "interleaved"], "sources": ["tables", "frequencies", "computed"], "half_tables": true,
  "full_tables": true, "scalings": ["none", "linear"], "features": ["partial", "positions", "batch_positions", "key",
  "grouped_heads", "backward", "axes", "attention_factor", "unequal_halves", "offset", "in_place", "rotary_offset"],
  "max_position": 1000000})";

bool numpy_is_there() {
  const bool there = !numpy_python().empty() && run_program({numpy_python(), "-c", "import numpy"}).exit_code == 0;
  if (!there) WARN("left out: numpy is not installed (Debian package python3-numpy)");
  return there;
}

class Exchange {
 public:
  explicit Exchange(const Words& more, bool with_claims = true) {
    write(folder_ / "claims.json", claims);
    Words words{"vectors", "export", path()};
    if (with_claims) words.insert(words.end(), {"--claims", (folder_ / "claims.json").string()});
    words.insert(words.end(), more.begin(), more.end());
    exported = ropecheck(words);
    INFO(exported.err);
    REQUIRE(exported.exit_code == 0);
  }

  std::string path() const { return (folder_ / "calls").string(); }
  fs::path file(const std::string& name) const { return folder_ / name; }
  Json manifest() const { return Json::parse(read(folder_ / "calls" / "manifest.json")); }

  void answer(const std::string& fault = "") const {
    Words words{numpy_python(), program, path()};
    if (!fault.empty()) words.push_back(fault);
    const Result result = run_program(words);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }

  struct Judged {
    Result result;
    Json subject;
    std::map<std::string, std::string> kinds;  // requirement that does not hold, kind of failure
  };
  Judged judged(const Words& more = {}) const {
    Words words{"vectors", "verify", path(), "--json", (folder_ / "report.json").string()};
    words.insert(words.end(), more.begin(), more.end());
    Judged judged{ropecheck(words), {}, {}};
    INFO(judged.result.err);
    REQUIRE(judged.result.exit_code < 2);
    judged.subject = Json::parse(read(folder_ / "report.json"))["subjects"][0];
    for (const Json& r : judged.subject["requirements"]) {
      if (r.contains("failure")) judged.kinds[r["id"]] = r["failure"]["kind"];
    }
    return judged;
  }

  // The schema's verdict on a document, where there is a validator.
  void check_schema(const std::string& schema, const Json& document) const {
    if (jsonschema_python().empty()) return;
    write(folder_ / "document", document.dump() + "\n");
    const Result result = run_program({"sh", "-c", R"("$0" "$1" "$2" < "$3")", jsonschema_python(),
                                       (source_folder() / "tests/unit/report/schema_errors.py").string(),
                                       (source_folder() / schema).string(), (folder_ / "document").string()});
    CHECK(result.out == "valid\n");
  }

  Result exported;

 private:
  TemporaryFolder folder_;
};

TEST_CASE("command: a program written only from the page answers in every way that files can carry") {
  if (!numpy_is_there()) return;
  const Exchange files({"--dtype", "f32,bf16", "--most-kb", "200"});
  CHECK_THAT(files.exported.out, Contains("left out  ROT-08") && Contains("ropecheck vectors verify " + files.path()));
  files.check_schema("tools/vectors/manifest.schema.json", files.manifest());
  files.answer();
  const std::string page = files.file("report.html").string();
  const Exchange::Judged judged = files.judged({"--require", "B1,bitwise", "--html", page});
  CHECK_THAT(read(page), Contains("<!doctype html>") && Contains("default-src &apos;none&apos;") && Contains("ROT-01"));
  CAPTURE(judged.result.out);
  CHECK(judged.result.exit_code == 0);
  CHECK(judged.kinds.empty());
  CHECK_THAT(judged.result.out, Contains(" 0 missing, 0 malformed\n") && Contains("calls: conforms"));
  CHECK(judged.subject["conforms"] == true);
  CHECK(judged.subject["subject"] == "vectors:" + files.path());
  CHECK(judged.subject["cases"].get<int>() > 1000);
  for (const Json& r : judged.subject["requirements"]) {
    const std::string id = r["id"];
    const bool left_out = id.starts_with("MEM") || id.starts_with("ERR") || id == "OFF-02" || id == "ROT-08" ||
                          id == "BWD-01" || id == "DET-03" || id == "SHP-01" || id == "POS-06" || id == "POS-07" ||
                          id == "STA-03";
    CAPTURE(id);
    CHECK(r["verdict"] == (left_out ? "no_case" : "pass"));
  }
}

TEST_CASE("command: a wrong program is rejected by the requirements that its mistake breaks") {
  if (!numpy_is_there()) return;
  const Exchange files({"--dtype", "bf16", "--source", "tables", "--most-kb", "800", "--only",
                        "ROT-01,ROT-13,BWD-03,REL-01,ANG-05,POS-01,POS-04,SHP-05,DET-01,STA-01,SPC-01"});
  const struct {
    const char* fault;
    Words fails, holds;
  } table[] = {
      {"", {}, {"ROT-01", "ROT-13", "BWD-03", "REL-01", "ANG-05", "POS-01", "POS-04", "SHP-05", "DET-01", "STA-01"}},
      {"other_pairing", {"ROT-01", "BWD-03", "REL-01", "STA-01"}, {"POS-01", "DET-01"}},
      {"position_too_many", {"ROT-01", "POS-04", "BWD-03"}, {"DET-01"}},
      {"sine_negated", {"ROT-01", "BWD-03"}, {"REL-01", "POS-01", "DET-01"}},
      {"factor_forgotten", {"ANG-05", "ROT-01"}, {"SHP-05", "DET-01", "POS-01"}},
      {"k_as_q_heads", {"SHP-05", "ROT-01"}, {"REL-01", "POS-01", "ANG-05"}},
      {"first_batch_only", {"POS-04", "ROT-01"}, {"DET-01"}},
      {"bits_by_call", {"DET-01"}, {"REL-01"}},
      {"stale_tables", {"STA-01"}, {"DET-01"}},
      {"bf16_cut_off", {"ROT-13"}, {"ROT-01", "DET-01"}},
      {"nothing_rotated", {"ROT-01", "BWD-03"}, {"POS-01", "DET-01"}},
  };
  for (const auto& [fault, fails, holds] : table) {
    CAPTURE(fault);
    files.answer(fault);
    const Exchange::Judged judged = files.judged();
    CHECK(judged.result.exit_code == (fails.empty() ? 0 : 1));
    for (const std::string& id : fails) {
      CAPTURE(id);
      CHECK(judged.kinds.contains(id));
    }
    for (const std::string& id : holds) {
      CAPTURE(id);
      CHECK_FALSE(judged.kinds.contains(id));
    }
  }
}

TEST_CASE("command: responses that are missing, cut short or of another type are named, beside wrong ones") {
  if (!numpy_is_there()) return;
  const Exchange files({"--head-dim", "8", "--dtype", "f32", "--only", "ROT-01,ROT-02,ROT-03,ROT-05", "--expected"});
  files.check_schema("tools/vectors/manifest.schema.json", files.manifest());
  CHECK(files.manifest()["cases"][0]["calls"][0]["expected"].size() == 4);
  files.answer();
  const auto response = [&](const std::string& call) {
    return fs::path(files.path()) / "responses" / (call + ".q_out.npy");
  };
  fs::remove(response("ROT-01.0002.1"));
  fs::resize_file(response("ROT-02.0001.1"), 40);
  fs::copy_file(response("ROT-05.0001.1"), response("ROT-03.0001.1"), fs::copy_options::overwrite_existing);
  const std::string wrong = read(response("ROT-05.0001.2"));
  write(response("ROT-05.0001.2"), wrong.substr(0, wrong.size() - 4) + std::string("\0\0\x80\x3f", 4));
  const Exchange::Judged judged =
      files.judged({"--verbose", "--junit", files.file("r.xml").string(), "--markdown", files.file("r.md").string()});
  CHECK(judged.result.exit_code == 1);
  CHECK(judged.kinds ==
        std::map<std::string, std::string>{{"ROT-01", "missing"}, {"ROT-02", "malformed"}, {"ROT-05", "relation"}});
  files.check_schema("tools/report/report.schema.json", Json::parse(read(files.file("report.json"))));
  const Json& responses = judged.subject["responses"];
  CHECK(responses["missing"] == Json::array({response("ROT-01.0002.1").string()}));
  REQUIRE(responses["malformed"].size() == 1);
  CHECK_THAT(responses["malformed"][0].get<std::string>(), Contains("ROT-02.0001.1.q_out.npy: byte 8"));
  CHECK_THAT(judged.result.out, Contains("1 missing, 1 malformed") && Contains("  missing    ") &&
                                    Contains("response " + response("ROT-01.0002.1").string() + " is missing"));
  CHECK_THAT(read(files.file("r.xml")), Contains("failures=\"1\" errors=\"2\""));
  CHECK_THAT(read(files.file("r.md")), Contains(" is missing"));

  // The replay line of the report shows the failure again.
  const std::string line = line_with(judged.result.out, "ropecheck replay 'ROT-05:");
  REQUIRE_FALSE(line.empty());
  const Result again = run_program({"sh", "-c", line.substr(line.find("ropecheck"))},
                                   {"PATH=" + build_folder().string() + ":/usr/bin:/bin"});
  CHECK(again.exit_code == 1);
  CHECK_THAT(again.out, Contains("FAIL\n"));

  const std::string list = files.file("expected.txt").string();
  CHECK(files.judged({"--write-expected-failures", list}).result.exit_code == 1);
  CHECK_THAT(read(list), Contains("ROT-01 at quick  # ") && Contains("ROT-05 at quick  # "));
  CHECK(files.judged({"--expected-failures", list}).result.exit_code == 0);
  CHECK(files.judged({"--only", "ROT-03"}).result.exit_code == 0);
}

TEST_CASE("command: an export narrows to the program's claims, and says what is left out") {
  const Exchange files({"--head-dim", "8", "--dtype", "f32", "--source", "frequencies", "--features", "none", "--only",
                        "ROT-01,POS-03", "--max-position", "100"},
                       false);
  const Json manifest = files.manifest();
  CHECK(manifest["claims"]["features"].empty());
  CHECK(manifest["claims"]["max_position"] == 100);
  CHECK(manifest["cases"].size() > 5);
  for (const Json& record : manifest["cases"]) {
    for (const Json& call : record["calls"]) {
      CHECK(call["attrs"]["source"] == "frequencies");
      CHECK(call["inputs"].size() == 2);
      CHECK(call["inputs"][1]["name"] == "theta");
    }
  }
}

TEST_CASE("command: an export asks for the types and the pairing that were selected, and explains empty calls") {
  const Exchange files({"--dtype", "f32", "--pairing", "half_split", "--source", "tables,frequencies", "--only",
                        "STA-01,SHP-06", "--most-kb", "100"},
                       false);
  const Json manifest = files.manifest();
  std::set<std::string> seen;
  for (const Json& record : manifest["cases"]) {
    seen.insert(record["case"].get<std::string>().substr(0, 6));
    for (const Json& call : record["calls"]) {
      CHECK(call["attrs"]["pairing"] == "half_split");
      for (const char* arrays : {"inputs", "outputs"}) {
        for (const Json& array : call[arrays]) {
          if (array["name"] == "positions" || array["name"] == "axis") continue;
          CHECK(array["dtype"] == "f32");
        }
      }
    }
  }
  CHECK(seen == std::set<std::string>{"SHP-06", "STA-01"});
  CHECK_THAT(read(fs::path(files.path()) / "README.md"),
             Contains("batch, seq or heads is 0; the first is SHP-06.0001.1") && Contains("may then have one row"));
}

TEST_CASE("command: what cannot be exported or judged is refused, with what to do") {
  const TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  check_refused(2, {"vectors"}, {"vectors: "});
  check_refused(2, {"vectors", "verify", path("nothing")}, {"manifest.json is missing"});
  check_refused(2, {"vectors", "export", path("x"), "--source", "table"},
                {"--source: \"table\" is not known; did you mean tables? use tables"});
  check_refused(2, {"vectors", "export", path("x"), "--tables", "third"},
                {"--tables: \"third\" is not known; use half or full"});
  check_refused(2, {"vectors", "export", path("x"), "--features", "strided"},
                {"--features: strided does not show in a file"});
  check_refused(2, {"vectors", "export", path("x"), "--features", "stride"}, {"--features: \"stride\" is not known"});
  check_refused(2, {"vectors", "export", path("x"), "--only", "MEM"}, {"nothing is left to export"});
  check_refused(2, {"vectors", "export", path("x"), "--level", "fast"}, {"--level: \"fast\" is not known"});
  write(folder / "claims.json", "{\"dtypes\": 1}");
  check_refused(2, {"vectors", "export", path("x"), "--claims", path("claims.json")}, {"--claims: ", "PROTOCOL.md"});
  check_refused(2, {"vectors", "export", folder.path().string()}, {"exists and is not empty; name a new folder"});
  check_refused(2, {"vectors", "export", path("claims.json")}, {"exists and is not empty"});
  CHECK_FALSE(fs::exists(folder / "x"));

  const Words small_export{"--head-dim", "8", "--dtype", "f32", "--only", "ROT-02"};
  Words words{"vectors", "export", path("calls")};
  words.insert(words.end(), small_export.begin(), small_export.end());
  REQUIRE(ropecheck(words).exit_code == 0);
  check_refused(2, {"vectors", "verify", path("calls")}, {"not one of ", "responses is there", "run the program"});
  check_refused(2, {"verify", "vectors:" + path("calls")}, {"is files; they are judged by `ropecheck vectors verify"});
  check_refused(2, {"replay", "ROT-02:head_dim=8", "--subject", "vectors:" + path("calls")},
                {"is not among those that were exported"});
}

}  // namespace
}  // namespace rope
