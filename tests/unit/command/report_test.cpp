// The reports that verify writes, and the list of expected failures.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <regex>

#include "tests/unit/command/command_checks.hpp"

namespace rope {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;
using Json = nlohmann::ordered_json;

TEST_CASE("command: --json - writes the report to stdout and the text beside it") {
  const Result result = ropecheck(verify({"half_split"}, {"--json", "-"}));
  CHECK(result.exit_code == 0);
  CHECK(Json::parse(result.out)["subjects"][0]["conforms"] == true);
  CHECK_THAT(result.err, Contains("half_split: conforms"));
}

TEST_CASE("command: all reports of one run say the same") {
  const TemporaryFolder folder;
  const std::string junit = (folder / "junit.xml").string(), markdown = (folder / "summary.md").string();
  const Result result = ropecheck(
      verify_all({"half_split", mutants + "#PIPE-01"}, {"--json", "-", "--junit", junit, "--markdown", markdown}));
  CHECK(result.exit_code == 1);
  const Json json = Json::parse(result.out);
  pugi::xml_document xml;
  REQUIRE(xml.load_file(junit.c_str()));
  const std::string page = read(markdown);
  int failed = 0, replayed = 0;
  for (const Json& subject : json["subjects"]) {
    const pugi::xml_node suite =
        xml.child("testsuites")
            .find_child_by_attribute("testsuite", "name", subject["subject"].get<std::string>().c_str());
    CHECK(suite.attribute("tests").as_uint() == subject["requirements"].size());
    for (const Json& requirement : subject["requirements"]) {
      const std::string id = requirement["id"];
      const std::string name = id + ": " + requirement["sentence"].get<std::string>();
      const pugi::xml_node testcase = suite.find_child_by_attribute("testcase", "name", name.c_str());
      INFO(id);
      REQUIRE_FALSE(testcase.empty());
      const bool fails = !testcase.child("failure").empty() || !testcase.child("error").empty();
      CHECK(fails == (requirement["verdict"] == "fail"));
      if (!fails) continue;
      ++failed;
      // In Markdown a row for each, and a block for all that show the same.
      CHECK_THAT(page, Contains("| " + id + " | ") && Contains("| **fail** |"));
      replayed += page.find(requirement["failure"]["replay"].get<std::string>()) != page.npos ? 1 : 0;
    }
  }
  CHECK(failed > 1);
  CHECK(replayed > 1);
  CHECK(fs::exists(junit));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);  // nothing temporary
}

TEST_CASE("command: each kind of report can go to stdout, and only one of them") {
  CHECK_THAT(ropecheck(verify({"half_split"}, {"--junit", "-"})).out, Catch::StartsWith("<?xml version=\"1.0\""));
  CHECK_THAT(ropecheck(verify({"half_split"}, {"--markdown", "-"})).out, Catch::StartsWith("# ropecheck "));
  check_refused(2, verify({"half_split"}, {"--json", "-", "--junit", "-"}),
                {"--json and --junit both write to stdout; give each a file of its own"});
  check_refused(2, verify({"half_split"}, {"--markdown", "a.txt", "--junit", "a.txt"}),
                {"--junit and --markdown both write to a.txt"});
}

TEST_CASE("command: report makes the page of a stored report, the same as --html") {
  const TemporaryFolder folder;
  const std::string json = (folder / "a.json").string(), html = (folder / "a.html").string();
  const std::string again = (folder / "b.html").string();
  CHECK(ropecheck(verify({mutants + "#PIPE-01"}, {"--json", json, "--html", html})).exit_code == 1);
  CHECK(ropecheck({"report", json, "--html", again}).exit_code == 0);
  CHECK(read(again) == read(html));
  CHECK(ropecheck({"report", json}).out == read(html));
  CHECK_THAT(read(html), Contains("does not conform") && Contains("aria-label=\"Error by pair and position"));
  check_refused(2, {"report", (folder / "none.json").string()}, {"none.json: cannot be read: No such file"});
  check_refused(2, {"report", html}, {"a.html is not a report of ropecheck"});
  check_refused(2, {"report", json, "--html", "/nowhere/a.html"}, {"/nowhere/a.html: cannot be written"});
  std::string other = read(json);
  other.replace(other.find("\"schema\": 1"), 11, "\"schema\": 9");
  write(folder / "other.json", other);
  check_refused(2, {"report", (folder / "other.json").string()}, {"has schema version 9, this ropecheck reads 1"});
}

TEST_CASE("command: two runs of a seed give the same page but for their times") {
  const auto page = [] {
    std::string text = ropecheck(verify({mutants + "#PIPE-01"}, {"--html", "-"}), {"SOURCE_DATE_EPOCH=1"}).out;
    return std::regex_replace(text, std::regex(R"rx("(kernel_)?seconds":[0-9.e-]+|[0-9.]+ s[,<])rx"), "TIME");
  };
  const std::string first = page();
  CHECK_THAT(first, Contains("1970-01-01T00:00:01Z"));
  CHECK(first == page());
}

TEST_CASE("command: compare ends with 1 where something got worse") {
  const TemporaryFolder folder;
  const std::string right = (folder / "right.json").string(), wrong = (folder / "wrong.json").string();
  const std::string page = (folder / "page.html").string();
  ropecheck(verify({"half_split"}, {"--pairing", "half_split", "--json", right}));
  ropecheck(verify({mutants + "#PIPE-01"}, {"--pairing", "half_split", "--json", wrong}));
  const Result worse = ropecheck({"compare", right, wrong, "--html", page});
  CHECK(worse.exit_code == 1);
  CHECK_THAT(worse.out, Contains("  worse   ROT-01           pass → fail\n") && Contains(" got worse, nothing got better\n"));
  CHECK_THAT(read(page), Contains("<th scope=\"row\">ROT-01</th><td>pass</td><td>fail</td>"));
  CHECK(ropecheck({"compare", wrong, right}).exit_code == 0);
  CHECK(ropecheck({"compare", right, right}).exit_code == 0);
  check_refused(2, {"compare", right, (folder / "none").string()}, {"cannot be read"});
}

TEST_CASE("command: identify and golden verify have pages, too") {
  const Result identified = ropecheck({"identify", mutants + "#FREQ-01", "--head-dim", "64", "--base", "500000", "--html", "-"});
  CHECK_THAT(identified.out, Contains("executes another rotation") && Contains("31 of 32 pairs differ"));
  CHECK_THAT(identified.err, Contains("differs"));
  const TemporaryFolder folder;
  const std::string json = (folder / "golden.json").string();
  const Result golden = ropecheck({"golden", "verify", "half_split", "--only", "labml/", "--json", json, "--html", "-"});
  CHECK(golden.exit_code == 0);
  CHECK_THAT(golden.out, Contains("agrees with the golden files") && Contains("stored tables"));
  CHECK(ropecheck({"report", json}).out == golden.out);
  check_refused(2, {"golden", "verify", "half_split", "--html", "/nowhere/a"}, {"/nowhere/a: cannot be written"});
  check_refused(2, {"identify", "half_split", "--html", "/nowhere/a"}, {"/nowhere/a: cannot be written"});
}

TEST_CASE("command: a report that cannot be written is refused at once, and no half file is left") {
  const TemporaryFolder folder;
  for (const char* kind : {"--json", "--junit", "--html", "--markdown"}) {
    check_refused(2, verify({"half_split"}, {kind, "/nowhere/report"}),
                  {"/nowhere/report: cannot be written: No such file or directory", "a folder that exists"});
    check_refused(2, verify({"half_split"}, {kind, folder.path().string()}), {"cannot be written: Is a directory"});
    CHECK(fs::is_empty(folder.path()));
  }
}

TEST_CASE("command: reports work where the path of a subject is not UTF-8") {
  const TemporaryFolder folder;
  const std::string path = (folder / "a\xff<&>\x01.so").string();
  fs::copy_file(mutants, path);
  const std::string junit = (folder / "junit.xml").string();
  const Result result = ropecheck(verify({path + "#none"}, {"--only", "ROT-01", "--json", "-", "--junit", junit}));
  CHECK(result.exit_code == 0);
  CHECK_THAT(Json::parse(result.out)["subjects"][0]["subject"].get<std::string>(), Contains("a\xef\xbf\xbd<&>\x01.so"));
  pugi::xml_document xml;
  CHECK(xml.load_file(junit.c_str()));
}

TEST_CASE("command: an expected failure does not fail the run, an unexpected pass does") {
  const TemporaryFolder folder;
  const std::string list = (folder / "expected.txt").string();
  const std::string wrong = mutants + "#PIPE-01";
  const Json before = Json::parse(ropecheck(verify({wrong}, {"--json", "-"})).out)["subjects"][0];
  std::string all;
  std::size_t failures = 0;
  for (const Json& requirement : before["requirements"]) {
    if (requirement["verdict"] != "fail") continue;
    all += "*PIPE-01 " + requirement["id"].get<std::string>() + "  # known\n";
    ++failures;
  }
  REQUIRE(failures > 1);

  write(list, all);
  const Result known = ropecheck(verify({"half_split", wrong}, {"--expected-failures", list, "--json", "-"}));
  CHECK(known.exit_code == 0);
  const Json subject = Json::parse(known.out)["subjects"][1];
  CHECK(subject["conforms"] == false);
  CHECK(subject["as_expected"] == true);
  std::size_t expected = 0;
  for (const Json& requirement : subject["requirements"]) {
    if (requirement["verdict"] != "expected_failure") continue;
    ++expected;
    CHECK(requirement["reason"] == "known");
    CHECK(requirement.contains("failure"));
  }
  CHECK(expected == failures);
  CHECK_THAT(known.err, Contains("#PIPE-01: does not conform, as expected") && Contains("half_split: conforms"));
  CHECK_THAT(known.err, Contains("  expected failure  ") && Contains("      listed    known\n"));

  // One line less: a failure. One line more: an unexpected pass.
  write(list, all.substr(0, all.rfind("*PIPE-01")));
  CHECK(ropecheck(verify({wrong}, {"--expected-failures", list})).exit_code == 1);
  write(list, all + "half_split ROT-02 # was wrong once\n");
  const Result passes = ropecheck(verify({"half_split", wrong}, {"--expected-failures", list}));
  CHECK(passes.exit_code == 1);
  CHECK_THAT(line_with(passes.out, "ROT-02  "), Contains("UNEXPECTED PASS"));
  CHECK_THAT(passes.out, Contains("half_split: conforms, but 1 expected failure passes: take it off the list"));

  // --fail-fast stops at the first unexpected failure.
  write(list, all);
  CHECK(ropecheck(verify({wrong}, {"--expected-failures", list, "--fail-fast"})).exit_code == 0);
}

TEST_CASE("command: a wrong list of expected failures is refused by file and line") {
  const TemporaryFolder folder;
  const std::string list = (folder / "expected.txt").string();
  write(list, "# what is known\nROT-99\n");
  check_refused(2, verify({"half_split"}, {"--expected-failures", list}),
                {list + ":2: requirement \"ROT-99\" is not known; did you mean ROT-09? known are ROT-01"});
  write(list, "ROT-01\ncomplex* ROT-02\n");
  check_refused(2, verify({"half_split"}, {"--expected-failures", list}),
                {list + ":2: no subject that is judged matches \"complex*\"; they are half_split"});
  check_refused(2, verify({"half_split"}, {"--expected-failures", "/nowhere/list"}),
                {"--expected-failures: /nowhere/list cannot be read: No such file or directory"});
}

TEST_CASE("command: --write-expected-failures writes the list with which the same run is as expected") {
  const TemporaryFolder folder;
  const std::string list = (folder / "expected.txt").string(), wrong = mutants + "#PIPE-01";
  const Words subjects{"half_split", wrong};
  const Result first = ropecheck(verify(subjects, {"--write-expected-failures", list}));
  CHECK(first.exit_code == 1);  // the verdict is the same with it
  CHECK_THAT(first.out, Contains(list + ": written; new failures: ") && Contains(", lines taken off: 0\n"));
  const std::string written = read(list);
  CHECK_THAT(written, Contains(wrong + " ROT-01 at quick  # ") && !Contains("half_split"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);  // nothing temporary

  CHECK(ropecheck(verify(subjects, {"--expected-failures", list})).exit_code == 0);
  // At another level a failure is expected too, and a pass would be right.
  const Words at_full{"verify",     wrong, "--level", "full", "--only",         "ROT-01",
                      "--head-dim", "8",   "--dtype", "f32",  "--no-diagnosis", "--expected-failures",
                      list};
  CHECK(ropecheck(at_full).exit_code == 0);
  write(list, "half_split ROT-01 at full\n" + written);
  CHECK(ropecheck(verify(subjects, {"--expected-failures", list})).exit_code == 0);

  // The update: one that passes is taken off, what was known stays.
  write(list, "# mine\nhalf_split ROT-02 # was wrong once\n" + written);
  const Result update =
      ropecheck(verify(subjects, {"--expected-failures", list, "--write-expected-failures", list, "--json", "-"}));
  CHECK(update.exit_code == 1);
  CHECK_THAT(update.err, Contains(list + ": written; new failures: 0, lines taken off: 1\n"));
  CHECK(read(list) == "# mine\n" + written);
}

TEST_CASE("command: --write-expected-failures refuses before the run what would lose something") {
  const TemporaryFolder folder;
  const std::string list = (folder / "expected.txt").string(), other = (folder / "other.txt").string();
  const auto with = [](const Words& more) { return verify({"half_split"}, more); };
  write(list, "# mine\n");
  write(other, "# another\n");
  check_refused(2, with({"--write-expected-failures", list}),
                {list + " exists; to bring it up to date, add --expected-failures with the same file"});
  check_refused(2, with({"--write-expected-failures", list, "--expected-failures", other}), {list + " exists"});
  check_refused(2, with({"--write-expected-failures", "/nowhere/list"}), {"/nowhere/list: cannot be written"});
  check_refused(2, with({"--write-expected-failures", (folder / "new").string(), "--fail-fast"}),
                {"--write-expected-failures needs the whole run; leave --fail-fast out"});
  CHECK(read(list) == "# mine\n");
  CHECK_FALSE(fs::exists(folder / "new"));
}

TEST_CASE("command: the page of requirements is written whole, and only with requirements") {
  const TemporaryFolder folder;
  const std::string page = (folder / "page.md").string();
  const Result to_stdout = ropecheck({"list", "requirements", "--markdown", "-"});
  CHECK_THAT(to_stdout.out, Catch::StartsWith("# Requirements\n") && Contains("\n### ROT-01\n"));
  CHECK(ropecheck({"list", "requirements", "--markdown", page}).exit_code == 0);
  CHECK(read(page) == to_stdout.out);
  check_refused(2, {"list", "impls", "--markdown", page}, {"list: --markdown goes with requirements, not with impls"});
  check_refused(2, {"list", "requirements", "--markdown", "/nowhere/page.md"}, {"/nowhere/page.md: cannot be written"});
}

}  // namespace
}  // namespace rope
