#include "tools/diagnose/weigh.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <string>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/rivals.hpp"
#include "tools/judge/call/tensor_walk.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// Calls from position 0, 1, .. on, of a kernel that is a position ahead in one of them, and noise in the others.
std::vector<diagnosis::ScoredHypothesis> weighed(int cases, int explained) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(50, 100);
  Fake subject(all_claims(), [&](Call& call) {
    const bool is_explained = call.position_offset == explained;
    if (is_explained) ++call.position_offset;
    const Reply reply = right(call);
    if (is_explained) return reply;
    Tensor& out = call.q_out.value();
    for_each_row(out, [&](const RowIndex&, std::byte* row) {
      for (std::int64_t j = 0; j < out.shape[3]; ++j) store(out.dtype, row + j * feature_step(out), noise(random));
    });
    return reply;
  });
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  diagnosis::Observations seen;
  for (int i = 0; i < cases; ++i) {
    Case c;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    c.source = AngleSource::computed;
    c.start = i;
    seen.push_back(diagnosis::observe(c, examiner));
    REQUIRE(seen.back()->failed());
  }
  return diagnosis::HypothesisRanking().weigh(seen, diagnosis::SearchEffort::thorough);
}

}  // namespace

// Of 28 cases the first look takes 0, 2, 4 and so on.
TEST_CASE("A cause is weighed although it shows in no case that is looked at first") {
  const auto found = weighed(28, 7);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().explained > 0);
  CHECK(weighed(28, -1).empty());
}

TEST_CASE("A cause that would be certain is also tried where only its condition calls the kernel right") {
  Fake subject = with_modified_call([](Call& call) { ++call.position_offset; });
  Oracles oracles;
  SuiteOptions options;
  options.selection.only = {"ROT-01"};
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
  REQUIRE(report.results.front().failure);
  Examiner examiner(subject, oracles, nullptr);
  diagnosis::Observations seen;
  seen.push_back(diagnosis::observe(report.results.front().failure->minimal, examiner));
  diagnosis::ScoredHypothesis best;
  best.hypothesis = &that_says("position p + 1 is used, not p");
  best.fit = 1;
  const auto outside = [&](double certain) {
    diagnosis::Rivals rivals(report, seen, examiner);
    const std::vector<Case> cases = rivals.deciding({best}, certain);
    return std::ranges::count_if(cases, [](const Case& c) { return c.in_place; });
  };
  best.condition = {{diagnosis::Circumstance::out_of_place}};
  CHECK(outside(0.9) == 8);
  CHECK(outside(1.1) == 0);
  // Each part of a condition is tested by itself.
  const auto backward_in_place = [&] {
    diagnosis::Rivals rivals(report, seen, examiner);
    const std::vector<Case> cases = rivals.deciding({best}, 0.9);
    return std::ranges::count_if(cases, [](const Case& c) { return c.in_place && c.direction == Direction::backward; });
  };
  best.condition.push_back({diagnosis::Circumstance::backward});
  CHECK(backward_in_place() >= 8);
}

TEST_CASE("A condition that would be certain is told from another one that fits as well") {
  Fake subject = with_modified_call([](Call& call) { ++call.position_offset; });
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  diagnosis::Observations seen;
  Case failing;
  failing.requirement = "ROT-01";
  failing.spec.head_dim = failing.spec.rotary_dim = 8;
  failing.source = AngleSource::computed;
  seen.push_back(diagnosis::observe(failing, examiner));
  SubjectReport report;
  diagnosis::ScoredHypothesis best;
  best.hypothesis = &that_says("position p + 1 is used, not p");
  best.fit = 1;
  best.condition = {{diagnosis::Circumstance::out_of_place}};
  const auto told = [&] {
    diagnosis::Rivals rivals(report, seen, examiner);
    const std::vector<Case> cases = rivals.deciding({best}, 0.9);
    return std::ranges::count_if(cases, [](const Case& c) { return !c.in_place && c.heads > 2; });
  };
  const auto before = told();
  best.other_conditions = {best.condition};
  best.other_conditions[0].push_back({diagnosis::Quantity::number_of_heads, diagnosis::Comparison::at_most, 2});
  CHECK(told() > before);
}

TEST_CASE("Each hypothesis has a sentence of its own") {
  std::set<std::string> sentences;
  for (const auto* all : {&diagnosis::all_hypotheses(), &diagnosis::one_sided_hypotheses()}) {
    for (const diagnosis::Hypothesis& h : *all) {
      INFO(h.sentence);
      CHECK(sentences.insert(h.sentence).second);
    }
  }
}
