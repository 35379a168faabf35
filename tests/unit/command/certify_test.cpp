// ropecheck certify and certificate as a person runs them.
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/command/command_checks.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

const std::string one_element = (build_folder() / "one_element.so").string();

// A small plan: f32, one pairing, the first 2^20 positions of two pairs.
Words small(const std::string& subject, const fs::path& folder, const Words& more = {}) {
  Words words{"certify", subject,   "--out", folder.string(), "--head-dim",
              "4",       "--dtype", "f32",   "--sweep",       "positions"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json certificate_in(const fs::path& folder) { return Json::parse(read(folder / "certificate.json")); }

void wait_for(const std::function<bool()>& happens) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!happens()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("it did not happen");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

std::size_t journal_bytes(const fs::path& folder) {
  std::size_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder / "shards", ignored)) {
    if (entry.path().extension() == ".journal") bytes += entry.file_size(ignored);
  }
  return bytes;
}

// "valid", or the first place that breaks the schema; empty if there is no validator.
std::string schema_answer(const TemporaryFolder& folder, const Json& json) {
  if (jsonschema_python().empty()) {
    WARN("left out: Python's jsonschema is not installed (Debian package python3-jsonschema)");
    return "";
  }
  write(folder / "document", json.dump() + "\n");
  const Result answer =
      run_program({"sh", "-c", R"("$0" "$1" "$2" < "$3")", jsonschema_python(),
                   (source_folder() / "tests/unit/report/schema_errors.py").string(),
                   (source_folder() / "tools/certify/certificate.schema.json").string(), folder / "document"});
  return answer.out.substr(0, answer.out.find('\n'));
}

// Changes one bit in the middle of a file.
void flip_bit(const fs::path& path) {
  std::string text = read(path);
  text[text.size() / 2] ^= 1;
  write(path, text);
}

}  // namespace

TEST_CASE("command: a certificate says that every position was checked, and is checked itself") {
  const TemporaryFolder folder;
  const Result result = ropecheck(small("half_split", folder / "out", {"--jobs", "1"}));
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.out, Contains("half_split: conforms on all "));
  const Json json = certificate_in(folder / "out");
  CHECK(json["conforms"] == true);
  if (const std::string answer = schema_answer(folder, json); !answer.empty()) CHECK(answer == "valid");
  for (const Json& sweep : json["sweeps"]) {
    CHECK(sweep["checked"] == sweep["size"]);
    CHECK(sweep["right_up_to"] == sweep["size"].get<std::int64_t>() - 1);
    std::int64_t counted = 0;
    for (const Json& bin : sweep["histogram"]) counted += bin.get<std::int64_t>();
    CHECK(2 * counted == sweep["compared"]);
    CHECK(sweep["histogram"].back() == 0);
  }
  const Result check = ropecheck({"certificate", "check", (folder / "out").string(), "--spot", "3", "--subject",
                                  "half_split", "--seed", "1"});
  CAPTURE(check.out, check.err);
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.out, Contains("3 blocks recomputed, 0 unlike the certificate (seed 1)"));
  // This one is older than the claim ROTARY_OFFSET; tools/certify_builtins makes it anew.
  const std::string old = (source_folder() / "docs/certificates/half_split.json").string();
  const Result later = ropecheck({"certificate", "check", old, "--spot", "1", "--subject", "half_split"});
  CHECK(later.exit_code == 0);
  CHECK_THAT(later.out, Contains("not in the certificate: rotary_offset, which the kernel claims now"));
  const Words other{"certificate", "check", (folder / "out").string(), "--spot", "1", "--subject",
                    one_element + "#right"};
  check_refused(2, other, {"the certificate is not", "one_element.so"});
}

TEST_CASE("command: the certificate has the same bytes for every number of shards") {
  const TemporaryFolder folder;
  REQUIRE(ropecheck(small("half_split", folder / "one", {"--jobs", "1"})).exit_code == 0);
  REQUIRE(ropecheck(small("half_split", folder / "two", {"--jobs", "2"})).exit_code == 0);
  REQUIRE(ropecheck({"certify", "plan", "half_split", (folder / "five").string(), "--head-dim", "4", "--dtype", "f32",
                     "--sweep", "positions"})
              .exit_code == 0);
  for (const char* shard : {"4/5", "1/5", "5/5", "3/5"}) {
    REQUIRE(ropecheck({"certify", "run", "half_split", (folder / "five").string(), "--shard", shard}).exit_code == 0);
  }
  const Result missing = ropecheck({"certify", "merge", (folder / "five").string()});
  CHECK(missing.exit_code == 4);
  CHECK_THAT(missing.err, Contains("blocks are missing; the first is block 1: positions of f32"));
  REQUIRE(ropecheck({"certify", "run", "half_split", (folder / "five").string(), "--shard", "2/5"}).exit_code == 0);
  REQUIRE(ropecheck({"certify", "merge", (folder / "five").string()}).exit_code == 0);
  const std::string expected = read(folder / "one" / "certificate.json");
  CHECK(read(folder / "two" / "certificate.json") == expected);
  CHECK(read(folder / "five" / "certificate.json") == expected);
}

TEST_CASE("command: a killed run loses nothing that it had done, and the certificate has the same bytes") {
  const TemporaryFolder folder;
  REQUIRE(ropecheck(small("half_split", folder / "whole", {"--jobs", "1"})).exit_code == 0);
  Words words = small("half_split", folder / "killed", {"--jobs", "1"});
  words.insert(words.begin(), (build_folder() / "ropecheck").string());
  std::size_t before = 0;
  {
    Program run(words);
    wait_for([&] { return journal_bytes(folder / "killed") > 4000; });
    run.signal(SIGKILL);
    run.wait();
    before = journal_bytes(folder / "killed");
  }
  REQUIRE(before > 4000);
  REQUIRE_FALSE(fs::exists(folder / "killed" / "certificate.json"));
  // The end of the journal, torn by a power cut.
  fs::resize_file(folder / "killed" / "shards" / "1-of-1.journal", before - 7);
  const Result again = ropecheck(small("half_split", folder / "killed", {"--jobs", "2"}));
  CAPTURE(again.out, again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(read(folder / "killed" / "certificate.json") == read(folder / "whole" / "certificate.json"));
  // Neither did the second run repeat the first.
  std::int64_t computed = 0, blocks = 0;
  std::istringstream lines(read(folder / "killed" / "times.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    computed += Json::parse(line)["computed"].get<std::int64_t>();
    blocks += Json::parse(line)["blocks"].get<std::int64_t>();
  }
  CHECK(computed < blocks);
}

TEST_CASE("command: a kernel that is wrong at one position is rejected by certify, and the position is named") {
  const TemporaryFolder folder;
  const Result result = ropecheck(small(one_element + "#position", folder / "out", {"--jobs", "2"}));
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, Contains("does not conform: 3 of 48 blocks failed"));
  CHECK_THAT(result.out, Contains("position 524287"));
  const Json json = certificate_in(folder / "out");
  CHECK(json["conforms"] == false);
  bool is_named = false;
  for (const Json& sweep : json["sweeps"]) {
    for (const Json& failure : sweep["failures"]) {
      CHECK(failure["position"] == 524287);
      CHECK(failure["element"]["feature"] == 1);
      CHECK(sweep["right_up_to"] == 524286);
      is_named = true;
      // The minimal case fails by itself.
      CHECK(ropecheck({"replay", failure["case"], "--subject", one_element + "#position"}).exit_code == 1);
    }
  }
  CHECK(is_named);
  if (const std::string answer = schema_answer(folder, json); !answer.empty()) CHECK(answer == "valid");
  CHECK(ropecheck({"certificate", "check", (folder / "out").string()}).exit_code == 1);
}

TEST_CASE("command: one value, one product, one head_dim and one pair of calls that are wrong are named") {
  const TemporaryFolder folder;
  const struct {
    const char* kernel;
    Words words;
    const char* shard;  // it has the block with the element, and few others
    const char* named;
  } rows[] = {
      {"payload", {"--sweep", "values", "--dtype", "bf16"}, "12/48", "start=32677,"},     // 0x7FA5
      {"product", {"--sweep", "roundings", "--dtype", "bf16"}, "32/288", "seed=16343"},  // 0x3FD7
      {"entry", {"--sweep", "roundings", "--dtype", "bf16"}, "261/288", "seed=16343"},
      {"head_dim", {"--sweep", "shapes", "--dtype", "f32"}, "11/403", "head_dim=346,"},
      {"pair", {"--sweep", "states", "--head-dim", "16"}, "49/300", "before=f32:7:5"},
  };
  for (const auto& [kernel, words, shard, named] : rows) {
    const std::string subject = one_element + "#" + kernel, out = folder / kernel;
    Words plan{"certify", "plan", subject, out};
    plan.insert(plan.end(), words.begin(), words.end());
    REQUIRE(ropecheck(plan).exit_code == 0);
    const Result run = ropecheck({"certify", "run", subject, out, "--shard", shard});
    CAPTURE(subject, run.out, run.err);
    REQUIRE(run.exit_code == 0);
    std::string file = shard;
    file.replace(file.find('/'), 1, "-of-");
    const Json blocks = Json::parse(read(folder / kernel / "shards" / (file + ".json")))["blocks"];
    const auto failed = std::find_if(blocks.begin(), blocks.end(), [](const Json& b) { return b.contains("failure"); });
    REQUIRE(failed != blocks.end());
    const std::string minimal = (*failed)["failure"]["case"];
    CHECK_THAT(minimal, Contains(named));
    CHECK(ropecheck({"replay", minimal, "--subject", subject}).exit_code == 1);
    CHECK(ropecheck({"replay", minimal, "--subject", one_element + "#right"}).exit_code == 0);
  }
}

TEST_CASE("command: a kernel that is wrong at one alignment is rejected by certify, and the alignment is named") {
  const TemporaryFolder folder;
  const struct {
    const char* kernel;
    const char* named;
  } rows[] = {{"address", "address=20,output_address=36"}, {"aligned", "address=16,output_address=16"}};
  for (const auto& [kernel, named] : rows) {
    const std::string subject = one_element + "#" + kernel, out = folder / kernel;
    const Result run = ropecheck({"certify", subject, "--out", out, "--dtype", "f32", "--sweep", "alignments"});
    CAPTURE(run.out, run.err);
    CHECK(run.exit_code == 1);
    const Json json = certificate_in(out);
    REQUIRE(json["sweeps"].size() == 3);
    for (const Json& sweep : json["sweeps"]) {
      CHECK(sweep["sweep"].get<std::string>().starts_with("alignments by address of f32"));
      CHECK(sweep["size"] == 16 * 16 * 3 + 16);
      CHECK(sweep["checked"] == sweep["size"]);
      REQUIRE_FALSE(sweep["failures"].empty());
      const std::string minimal = sweep["failures"][0]["case"];
      CHECK_THAT(minimal, Contains(named));
      CHECK(ropecheck({"replay", minimal, "--subject", subject}).exit_code == 1);
      CHECK(ropecheck({"replay", minimal, "--subject", one_element + "#right"}).exit_code == 0);
    }
  }
}

TEST_CASE("command: a crash costs its block, is recorded with its position, and the sweep goes on") {
  const TemporaryFolder folder;
  const Result run = ropecheck(small(one_element + "#crash", folder / "out", {"--jobs", "1"}));
  CAPTURE(run.out, run.err);
  CHECK(run.exit_code == 1);
  const Json json = certificate_in(folder / "out");
  for (const Json& sweep : json["sweeps"]) {
    if (sweep["failed_blocks"] == 0) continue;
    CHECK(sweep["failed_blocks"] == 1);
    CHECK(sweep["failures"][0]["kind"] == "crash");
    CHECK(sweep["failures"][0]["position"] == 524287);
    CHECK(sweep["checked"] < sweep["size"]);
    CHECK(sweep["checked"] > sweep["size"].get<std::int64_t>() - 70000);
  }
}

TEST_CASE("command: certificates and shards that were changed or are another kernel's are refused") {
  const TemporaryFolder folder;
  const fs::path out = folder / "out";
  REQUIRE(ropecheck(small(one_element + "#right", out, {"--jobs", "2", "--positions", "200000"})).exit_code == 0);
  check_refused(2, small(one_element + "#right", out, {"--positions", "1000"}), {"plan.json: is of another plan"});
  check_refused(2, {"certify", "run", "half_split", out.string()}, {"is of another run", "its subject is"});
  flip_bit(out / "certificate.json");
  check_refused(2, {"certificate", "check", out.string()}, {"certificate.json"});
  flip_bit(out / "certificate.json");
  CHECK(ropecheck({"certificate", "check", out.string()}).exit_code == 0);
  flip_bit(out / "shards" / "1-of-2.json");
  check_refused(2, {"certify", "merge", out.string()}, {"1-of-2.json"});
  fs::remove(out / "shards" / "1-of-2.json");
  CHECK(ropecheck({"certify", "merge", out.string()}).exit_code == 4);
}

TEST_CASE("command: a certificate's signature is checked against a list of keys") {
  const TemporaryFolder folder;
  if (run_program({"sh", "-c", "command -v ssh-keygen"}).exit_code != 0) {
    WARN("left out: ssh-keygen is not installed (Debian package openssh-client)");
    return;
  }
  const auto make_key = [&](const std::string& who) {
    const fs::path key = folder / who;
    REQUIRE(run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", who, "-f", key}).exit_code == 0);
    std::string line = read(key.string() + ".pub");
    return who + "@example.com " + line;
  };
  const std::string mary = make_key("mary"), john = make_key("john"), eve = make_key("eve");
  const fs::path keys = folder / "keys";
  write(keys, mary + john);
  const fs::path out = folder / "out", other = folder / "other";
  REQUIRE(ropecheck(small("half_split", out, {"--jobs", "1", "--positions", "1000"})).exit_code == 0);
  REQUIRE(ropecheck(small("half_split", other, {"--jobs", "1", "--positions", "1001"})).exit_code == 0);
  const auto sign = [&](const std::string& who, const std::string& purpose = "ropecheck") {
    fs::remove(out / "certificate.json.sig");
    REQUIRE(run_program({"ssh-keygen", "-q", "-Y", "sign", "-n", purpose, "-f", folder / who, out / "certificate.json"})
                .exit_code == 0);
  };
  const auto check = [&](const fs::path& of, const Words& more = {}) {
    Words words{"certificate", "check", of, "--allowed-signers", keys};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto signed_by_mary = Contains("signed by mary@example.com, ED25519 key SHA256:");
  check_refused(2, check(out), {"certificate.json is not signed: there is no", "ssh-keygen -Y sign -n ropecheck"});
  sign("mary");
  CHECK(ropecheck(check(out)).exit_code == 0);
  CHECK_THAT(ropecheck(check(out)).out, signed_by_mary);
  CHECK_THAT(ropecheck(check(out, {"--identity", "mary@example.com"})).out, signed_by_mary);
  check_refused(2, check(out, {"--identity", "john@example.com"}), {"its key is mary@example.com's", "expected john"});
  // A good certificate, but not the one that was signed.
  fs::copy_file(out / "certificate.json.sig", other / "certificate.json.sig");
  check_refused(2, check(other), {"certificate.json is not what was signed"});
  sign("eve");
  check_refused(2, check(out), {"certificate.json.sig: its key is not in"});
  check_refused(2, check(out, {"--identity", "mary@example.com"}), {"its key is not in"});
  sign("mary", "file");
  check_refused(2, check(out), {"was not made with -n ropecheck"});
  write(out / "certificate.json.sig", "no signature\n");
  check_refused(2, check(out), {"or the file is damaged"});
  check_refused(2, {"certificate", "check", out, "--identity", "mary"}, {"add --allowed-signers FILE"});
  check_refused(2, {"certificate", "check", out, "--allowed-signers", "/nowhere"}, {"/nowhere cannot be read"});
}

TEST_CASE("command: only sweeps with the given words are planned") {
  const TemporaryFolder folder;
  const auto planned = [&](const Words& more) {
    Words words{"certify", "half_split", "--dry-run", "--dtype", "f16", "--dtype", "bf16"};
    words.insert(words.end(), more.begin(), more.end());
    return ropecheck(words).out;
  };
  const std::string all = planned({"--sweep", "positions"});
  CHECK_THAT(all, Contains("positions of f16, computed, half_split, head_dim 128, yarn"));
  CHECK_THAT(all, Contains("positions of bf16, frequencies"));
  // "f16" begins no word of a sweep of bf16.
  const std::string f16 = planned({"--only", "f16, computed"});
  CHECK_THAT(f16, Contains("positions of f16, computed") && Contains("shapes by seq of f16, computed") &&
                      !Contains("bf16") && !Contains("tables"));
  const std::string one = planned({"--only", "yarn", "--sweep", "positions"});
  CHECK_THAT(one, Contains("half_split: 2 sweeps"));
  REQUIRE(ropecheck({"certify", "plan", "half_split", folder / "out", "--only", "positions of f32, tables"}).exit_code == 0);
  for (const Json& sweep : Json::parse(read(folder / "out" / "plan.json"))["sweeps"]) {
    CHECK(sweep["kind"] == "positions");
    CHECK_THAT(sweep["case"].get<std::string>(), !Contains("source=") && !Contains("dtype=bf16"));
  }
  check_refused(2, {"certify", "half_split", "--dry-run", "--only", "posistions"},
                {"--only: no sweep has the words \"posistions\"", "--dry-run"});
}

TEST_CASE("command: a plan and a certificate count only what is claimed") {
  const TemporaryFolder folder;
  const Words words{"certify", (build_folder() / "examples/broken_kernel.so").string(), "--only", "head_dim and rotary_dim"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), words.begin(), words.end());
    return ropecheck(more);
  };
  CHECK_THAT(with({"--dry-run"}).out, Contains("  256  shapes by head_dim and rotary_dim") && Contains("1 sweep, 256 elements"));
  CHECK_THAT(with({"--out", folder / "out"}).out,
             Contains("256 of 32896 checked, 32640 not claimed") && Contains("conforms on all 256 elements of 1 sweep"));
  CHECK_THAT(ropecheck({"certificate", "check", folder / "out"}).out, Contains("conforms, 256 elements of 1 sweep"));
}

TEST_CASE("command: a certificate has a page with its sweeps, errors and failures, the same for every number of jobs") {
  const TemporaryFolder folder;
  const std::string subject = one_element + "#position";
  REQUIRE(ropecheck(small(subject, folder / "one", {"--jobs", "1"})).exit_code == 1);
  REQUIRE(ropecheck(small(subject, folder / "two", {"--jobs", "2"})).exit_code == 1);
  const std::string page = read(folder / "one" / "certificate.html");
  CHECK(page == read(folder / "two" / "certificate.html"));
  CHECK(page.size() < 200'000);
  CHECK_THAT(page, Contains("does not conform: 3 blocks failed") && Contains("<th scope=\"col\">right up to position") &&
                       Contains("524286") && Contains("ropecheck replay &apos;ROT-01:") && Contains("beyond the bound"));
  CHECK_THAT(page, Contains("content=\"default-src &apos;none&apos;; style-src &apos;sha256-"));
  for (const char* outside : {"http:", "https:", "url(", "@import", " src=", "<link", "<img", " style=", " onclick="}) {
    CHECK_THAT(page, !Contains(outside));
  }
  const std::size_t from = page.find(">", page.find("id=\"ropecheck-report\"")) + 1;
  CHECK(Json::parse(page.substr(from, page.find("</script>", from) - from)) == certificate_in(folder / "one"));
}

TEST_CASE("command: certify's mistakes are answered") {
  check_refused(2, {"certify"}, {"no subject was given"});
  check_refused(2, {"certify", "half_split"}, {"--out is missing"});
  check_refused(2, {"certify", "half_split", "--sweep", "everything"}, {"everything", "positions"});
  check_refused(2, {"certify", "run", "half_split", "/nowhere", "--shard", "3/2"}, {"--shard: \"3/2\" is not a shard"});
  check_refused(2, {"certify", "run", "half_split", "/nowhere"}, {"plan.json: is missing"});
  check_refused(2, {"certificate", "check", "/nowhere"}, {"/nowhere cannot be read"});
  const Result dry = ropecheck({"certify", "half_split", "--dry-run", "--dtype", "bf16"});
  CHECK(dry.exit_code == 0);
  CHECK_THAT(dry.out, Contains("1048576  positions of bf16, computed") && Contains("for one process"));
}

}  // namespace rope
