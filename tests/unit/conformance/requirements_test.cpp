#include "tests/conformance/requirements.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <string>

#include "impls/builtin.hpp"
#include "reference/input_error.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tests/unit/places.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/kernel_subject.hpp"

namespace rope {
namespace {

TEST_CASE("every requirement has its own id, a sentence, and its limits", "[requirements]") {
  const std::regex id("[A-Z]{3}-[0-9]{2}");
  std::set<std::string_view> seen;
  for (const Requirement& requirement : all_requirements()) {
    INFO(requirement.id);
    CHECK(std::regex_match(std::string(requirement.id), id));
    CHECK(seen.insert(requirement.id).second);
    const std::string sentence(requirement.sentence);
    CHECK((sentence.find(" MUST ") != sentence.npos) == (requirement.demanded_by == 0));
    CHECK((sentence.find(" SHOULD ") != sentence.npos) == (requirement.demanded_by != 0));
    CHECK(requirement.sentence.ends_with('.'));
    CHECK_FALSE(requirement.answers.empty());
    CHECK_FALSE(requirement.limits.empty());
    CHECK(requirement.cases != nullptr);
    CHECK(requirement.check != nullptr);
  }
  CHECK(seen.size() >= 30);
}

// By this, requirements are shared out among processes. DET-03 and STA-03 make calls that are not counted.
TEST_CASE("a requirement says how many calls a case of it makes, to a factor of 2", "[requirements]") {
  KernelSubject subject(half_split_kernel());
  for (const Requirement& requirement : all_requirements()) {
    Oracles oracles;
    const SubjectReport report = run_suite(subject, oracles, {&requirement, 1}, test::options());
    const std::int64_t cases = report.executed();
    if (cases == 0 || requirement.handling.by_chance || requirement.in_run != nullptr) continue;
    INFO(requirement.id << ": " << report.calls << " calls in " << cases << " cases");
    const double calls = static_cast<double>(report.calls) / static_cast<double>(cases);
    CHECK(calls < 2 * requirement.handling.calls);
    CHECK(calls > 0.5 * requirement.handling.calls);
  }
}

bool has_plan(const Case& c) {
  try {
    compile(c.spec, 1);
    return true;
  } catch (const InputError&) {  // ntk of two features: shrinking leaves such a case out, too
    return false;
  }
}

// Shrinking and replay make them, and a diagnosis takes evidence from them.
TEST_CASE("a right kernel passes every simpler case, down to the simplest", "[requirements]") {
  KernelSubject subject(half_split_kernel());
  std::mt19937_64 draw(20261128);
  for (const Requirement& requirement : all_requirements()) {
    if (requirement.demanded_by != 0 || requirement.in_run != nullptr || requirement.handling.by_chance) continue;
    Oracles oracles;
    Examiner examiner(subject, oracles, nullptr);
    Selection selection;
    selection.level = Level::quick;
    CaseList list(requirement.id, subject.claims(), selection, nullptr);
    requirement.cases(list);
    const std::vector<Case> all = list.take();
    for (int walk = 0; walk < 6 && !all.empty(); ++walk) {
      Case c = all[draw() % all.size()];
      for (int step = 0; step < 40; ++step) {
        std::vector<Case> next = simpler(c);
        std::erase_if(next, [&](const Case& s) { return !has_plan(s) || !uncovered(s, subject.claims()).empty(); });
        if (next.empty()) break;
        c = next[draw() % next.size()];
        if (c.seq * c.batch * c.heads > 5000) continue;  // large ones take long and show no more
        CAPTURE(to_text(c));
        CHECK(requirement.check(c, examiner).passed());
      }
    }
  }
}

TEST_CASE("a requirement is found by its id, and an unknown one is refused with the known ones", "[requirements]") {
  for (const Requirement& requirement : all_requirements()) {
    CHECK(requirement_called(requirement.id).sentence == requirement.sentence);
  }
  CHECK_THROWS_WITH(
      requirement_called("ROT-99"),
      Catch::Contains("requirement \"ROT-99\" is not known; did you mean ROT-09? known are ROT-01, ROT-02"));
  CHECK_THROWS_AS(requirement_called(""), InputError);
}

TEST_CASE("a run with a budget asks first what no other requirement finds", "[requirements]") {
  std::set<std::string_view> first;
  for (const RequirementPriority& telling : most_telling_first()) {
    CHECK(requirement_called(telling.id).id == telling.id);
    CHECK(first.insert(telling.id).second);
  }
  std::ifstream page(source_folder() / "tests/kernels/KILL_MATRIX.md");
  const std::regex row(R"(\| ([A-Z]{3}-[0-9]{2}) \| \d+ \| ([1-9]\d*) \|.*)");  // rejects, and only it
  int rows = 0;
  std::smatch found;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, found, row)) continue;
    ++rows;
    INFO(found[1] << " is the only one that rejects " << found[2] << ": name it in most_telling_first()");
    CHECK(first.contains(found[1].str()));
  }
  CHECK(rows > 20);
}

TEST_CASE("every requirement belongs to a family that has a title", "[family]") {
  for (const Requirement& requirement : all_requirements()) {
    INFO(requirement.id << ": add its family to tests/conformance/requirements.cpp");
    REQUIRE(family_of(requirement.id) != nullptr);
    CHECK(family_of(requirement.id)->id == requirement.id.substr(0, 3));
  }
  CHECK(family_of("XYZ-01") == nullptr);
  CHECK(family_of("ROTA-01") == nullptr);
  CHECK(family_of("") == nullptr);
}

TEST_CASE("families have their own id, title and sentence", "[family]") {
  std::set<std::string_view> words;
  for (const Family& family : families()) {
    CHECK(family.id.size() == 3);
    for (const std::string_view word : {family.id, family.title, family.about}) CHECK(words.insert(word).second);
    CHECK(family.about.ends_with('.'));
  }
  CHECK(family_id("ROT-01") == "ROT");
}

}  // namespace
}  // namespace rope
