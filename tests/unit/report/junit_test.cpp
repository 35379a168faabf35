#include "tools/report/junit.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <pugixml.hpp>
#include <sstream>

#include "tests/unit/command/program.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/report/sample_report.hpp"

namespace rope {
namespace {

using Catch::Contains;

// By Python's parser, which accepts only well-formed XML.
std::vector<std::string> answers_to(const std::vector<std::string>& documents) {
  const TemporaryFolder folder;
  std::ofstream names(folder / "names");
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const auto path = folder / (std::to_string(i) + ".xml");
    std::ofstream(path, std::ios::binary) << documents[i];
    names << path.string() << '\n';
  }
  names.close();
  const Result result =
      run_program({"sh", "-c", R"("$0" "$1" < "$2")", python(),
                   (source_folder() / "tests/unit/report/junit_errors.py").string(), (folder / "names").string()});
  if (result.exit_code != 0) throw std::runtime_error(result.err);
  std::istringstream stream(result.out);
  std::vector<std::string> answers;
  for (std::string line; std::getline(stream, line);) answers.push_back(line);
  return answers;
}

std::string junit(std::vector<SubjectReport> reports, std::vector<std::string> not_judged = {}) {
  return junit_report({"0.1.0", std::move(reports), std::move(not_judged)});
}

class Parsed {
 public:
  explicit Parsed(const std::string& text) { REQUIRE(document_.load_string(text.c_str(), pugi::parse_full)); }
  pugi::xml_node suite(const std::string& name) const {
    return document_.child("testsuites").find_child_by_attribute("testsuite", "name", name.c_str());
  }
  // By the requirement, whose sentence stands beside its id.
  pugi::xml_node testcase(const std::string& id) const {
    return named(id + ": What " + id + (id == "POS-09" ? " says SHOULD hold." : " says MUST hold."));
  }
  pugi::xml_node named(const std::string& name) const {
    return document_.child("testsuites").first_child().find_child_by_attribute("testcase", "name", name.c_str());
  }
  static std::string property(pugi::xml_node of, const std::string& name) {
    return of.child("properties").find_child_by_attribute("property", "name", name.c_str()).attribute("value").value();
  }

 private:
  pugi::xml_document document_;
};

SubjectReport named(const std::string& name, SubjectReport report = sample_report()) {
  report.subject = name;
  for (RequirementResult& result : report.results) {
    if (result.failure && !result.failure->finding.message.empty()) result.failure->finding.message += name;
  }
  return report;
}

TEST_CASE("junit: calls that get the answer unsupported are a property", "[junit]") {
  SubjectReport report = sample_report();
  report.unsupported = UnsupportedCalls{.claims = {"backward"}, .cases = 5};
  CHECK_THAT(junit({report}), Contains(R"(<property name="unsupported" value="5 cases get the answer unsupported.)"));
}

TEST_CASE("junit: every report is valid JUnit, whatever was found", "[junit]") {
  SubjectReport interrupted = named("interrupted");
  interrupted.interrupted = true;
  interrupted.results.resize(2);
  SubjectReport nothing;
  nothing.subject = "nothing";
  SubjectReport with_spec = named("with spec", right_report());
  with_spec.selection.spec = RopeSpec{};
  for (const std::string& answer : answers_to(
           {junit({}), junit({sample_report()}), junit({expected_report(), with_spec, interrupted, nothing}),
            junit({interrupted}, {"half_split", "complex"}), junit({}, {"half_split"}), junit({budget_report()})})) {
    CHECK(answer == "valid");
  }
}

TEST_CASE("junit: no subject's name can break it", "[junit]") {
  const std::vector<std::string> names{"a<b>&\"'c",
                                       "]]><!-- -->",
                                       std::string("zero\0byte", 9),
                                       "bell\a tab\t escape\x1b",
                                       "line\nline\r",
                                       "not UTF-8: \xff\xfe\xc0\xaf\xed\xa0\x80",
                                       "cut short: \xe2\x82",
                                       "no characters: \xef\xbf\xbe\xef\xbf\xbf",
                                       "größer als \xf0\x9f\x98\x80",
                                       ""};
  std::vector<std::string> documents;
  for (const std::string& name : names) documents.push_back(junit({named(name)}, {name + "2"}));
  const std::vector<std::string> answers = answers_to(documents);
  REQUIRE(answers.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    INFO(i << ' ' << documents[i].substr(0, 400));
    CHECK(answers[i] == "valid");
  }
  CHECK_FALSE(Parsed(documents[0]).suite(names[0]).empty());
  CHECK_FALSE(Parsed(documents[8]).suite(names[8]).empty());
  CHECK_FALSE(Parsed(documents[6]).suite("cut short: \xef\xbf\xbd").empty());
}

TEST_CASE("junit: these tests' own check rejects invalid JUnit", "[junit]") {
  const std::string right = junit({sample_report()});
  const auto changed = [&](const std::string& from, const std::string& to) {
    const std::size_t at = right.find(from);
    REQUIRE(at != std::string::npos);
    return std::string(right).replace(at, from.size(), to);
  };
  const std::vector<std::string> answers =
      answers_to({changed("tests=\"9\"", "tests=\"8\""), changed("failures=\"3\"", "failures=\"4\""),
                  changed("name=\"ROT-02: What ROT-02", "name=\"ROT-01: What ROT-01"), changed("</testsuites>", ""),
                  changed("<skipped", "<left_out"), changed("message=", "text="),
                  changed("time=\"0.250\"", "time=\"soon\""), changed("4 bytes", "4\x01 bytes")});
  CHECK(answers.size() == 8);
  for (const std::string& answer : answers) CHECK_THAT(answer, Catch::StartsWith("invalid: "));
}

TEST_CASE("junit: a violation is a failure, and a process that ends badly is an error", "[junit]") {
  const Parsed xml(junit({sample_report()}));
  const pugi::xml_node suite = xml.suite("my lib.so#kernel");
  CHECK(suite.attribute("tests").as_int() == 9);
  CHECK(suite.attribute("failures").as_int() == 3);
  CHECK(suite.attribute("errors").as_int() == 1);
  CHECK(suite.attribute("skipped").as_int() == 1);
  CHECK(std::string(suite.attribute("time").value()) == "1.250");
  CHECK(Parsed::property(suite, "verdict") == "does not conform");
  CHECK(Parsed::property(suite, "grade f32") == "grade A1, 0.97 of its bound used");
  CHECK_THAT(Parsed::property(suite, "horizon f32"), Contains("up to position 8192, not to 16384"));
  CHECK(Parsed::property(suite, "permitted variant") == "f32 output for bf16 input");
  CHECK(Parsed::property(suite, "seed") == "7");

  const pugi::xml_node wrong = xml.testcase("ROT-01");
  CHECK(std::string(wrong.attribute("classname").value()) == "my lib.so#kernel");
  CHECK(std::string(wrong.attribute("time").value()) == "0.250");
  CHECK(std::string(wrong.child("failure").attribute("type").value()) == "value");
  CHECK_THAT(wrong.child("failure").attribute("message").value(), Contains("2 of 8 elements are wrong"));
  CHECK_THAT(wrong.child("failure").text().get(),
             Contains("What ROT-01 says MUST hold.") && Contains("where     q[batch 1, token 2, head 0], pair 1") &&
                 Contains("replay    ropecheck replay 'ROT-01:head_dim=4,batch=2,seq=3,in_place=1' --subject 'my"));
  CHECK(Parsed::property(wrong, "error") == "0.387");
  CHECK(Parsed::property(wrong, "bound") == "1.19e-07");
  CHECK(Parsed::property(wrong, "worst_use") == "3.24e+06");
  CHECK(Parsed::property(wrong, "cases") == "411");
  CHECK(Parsed::property(wrong, "requirement") == "ROT-01");

  const pugi::xml_node crashed = xml.testcase("STA-01");
  CHECK(crashed.child("failure").empty());
  CHECK(std::string(crashed.child("error").attribute("type").value()) == "crash");
  CHECK_THAT(crashed.child("error").attribute("message").value(), Contains("read 4 bytes after the end"));
  SubjectReport raising = sample_report();
  for (RequirementResult& result : raising.results) {
    if (result.id == "STA-01") result.failure->finding.kind = FailureKind::exception;
  }
  const Parsed raised(junit({raising}));
  CHECK(std::string(raised.testcase("STA-01").child("error").attribute("type").value()) == "exception");
  CHECK(std::string(xml.testcase("BWD-01").child("skipped").attribute("message").value()) == "not claimed: backward");
  CHECK(xml.testcase("ROT-02").child("failure").empty());
}

TEST_CASE("junit: a note passes, and says that it is one", "[junit]") {
  const Parsed xml(junit({sample_report()}));
  const pugi::xml_node note = xml.testcase("POS-09");
  for (const char* result : {"failure", "error", "skipped"}) CHECK(note.child(result).empty());
  CHECK(Parsed::property(note, "force") == "SHOULD");
  CHECK_THAT(Parsed::property(note, "note"), Contains("differ between two runs"));
  CHECK_THAT(note.child("system-out").text().get(), Catch::StartsWith("note: What POS-09 says SHOULD hold."));
}

TEST_CASE("junit: an expected failure is skipped with its reason, and an unexpected pass fails", "[junit]") {
  const Parsed xml(junit({expected_report()}));
  const pugi::xml_node suite = xml.suite("my lib.so#kernel");
  CHECK(suite.attribute("failures").as_int() == 1);
  CHECK(suite.attribute("errors").as_int() == 0);
  CHECK(suite.attribute("skipped").as_int() == 5);
  CHECK(std::string(xml.testcase("STA-01").child("skipped").attribute("message").value()) ==
        "expected failure: known | since May");
  CHECK_THAT(xml.testcase("STA-01").child("system-out").text().get(), Contains("replay    ropecheck replay"));
  CHECK_THAT(xml.testcase("ROT-02").child("failure").attribute("message").value(),
             Contains("expected to fail: fixed?"));
}

TEST_CASE("junit: what a budget left no time for is skipped, and the run is not green", "[junit]") {
  const Parsed xml(junit({budget_report()}));
  const std::string said = "budget of 20 s used: 1 of 4 requirements were not asked (ROT-10), 1 only in part";
  CHECK(xml.testcase("ROT-10").child("skipped").attribute("message").value() == said);
  CHECK(Parsed::property(xml.testcase("ROT-02"), "left_out") == "48");
  CHECK(xml.suite("my lib.so#kernel").attribute("skipped").as_int() == 2);
  CHECK(xml.suite("my lib.so#kernel").attribute("errors").as_int() == 1);
  CHECK_THAT(xml.named("run").child("error").attribute("message").value(), Contains("not all was asked"));
}

TEST_CASE("junit: a run without a verdict is not green", "[junit]") {
  SubjectReport report = right_report();
  report.interrupted = true;
  const Parsed interrupted(junit({report}, {"half_split"}));
  CHECK(std::string(interrupted.named("run").child("error").attribute("message").value()) == "interrupted: no verdict");
  CHECK(interrupted.suite("my lib.so#kernel").attribute("errors").as_int() == 1);
  CHECK(interrupted.suite("half_split").attribute("errors").as_int() == 1);
  report = right_report();
  report.results = {judged("ROT-01", Verdict::not_claimed, 0, 0)};
  const Parsed empty(junit({report}));
  CHECK_THAT(empty.named("run").child("error").attribute("message").value(), Contains("no case was executed"));
}

}  // namespace
}  // namespace rope
