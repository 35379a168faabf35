// Negative controls: outputs of a source that breaks the definition, judged as if a kernel had made them. The judge has
// to reject them for the reason in the manifest. So once the rule `instead` replaces the definition, the same outputs
// have to be right.
#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/golden/committed.hpp"
#include "tests/unit/golden/plain_rotation.hpp"
#include "tools/judge/case/golden_call.hpp"
#include "tools/judge/verdict/judge.hpp"

namespace {

using rope::committed;

std::vector<const rope::GoldenCase*> deviating() {
  std::vector<const rope::GoldenCase*> cases;
  for (const rope::GoldenCase& golden : committed().cases) {
    if (!golden.conforms) cases.push_back(&golden);
  }
  return cases;
}

bool is_of_scores(const rope::GoldenCase& golden) {
  return golden.instead->rule == rope::GoldenRule::k_not_conjugated;  // attention_cases_test.cpp
}

// The conformance suite's verdict on a call with the source's outputs.
rope::Finding verdict(const rope::GoldenCase& golden, rope::AngleSource source) {
  const rope::Case c = *rope::case_of_golden(golden, source);
  rope::GoldenCall answered = rope::build_golden_call(c, committed());
  answered.call.q_out = answered.q.value;
  if (answered.k) answered.call.k_out = answered.k->value;
  rope::Oracles oracles;
  rope::Expectation expected(answered.call, c.spec, oracles);
  return rope::judge_call(answered.call, answered.call.q, answered.call.k, expected);
}

}  // namespace

TEST_CASE("deviating cases: the judge rejects each where angles are computed", "[golden]") {
  int judged = 0;
  for (const rope::GoldenCase* golden : deviating()) {
    if (!golden->beyond_contract.empty() || is_of_scores(*golden)) continue;
    INFO(golden->id << ": " << golden->reason);
    const rope::Finding finding = verdict(*golden, rope::AngleSource::computed);
    CHECK(finding.kind == rope::FailureKind::value);
    CHECK(finding.wrong > 0);
    ++judged;
  }
  CHECK(judged >= 14);
}

TEST_CASE("deviating cases: a source that conforms is not rejected by the same judge", "[golden]") {
  for (const char* id : {"lucidrains/d64-bf16", "lucidrains/d64-f16", "huggingface/llama/dynamic-past-length",
                         "labml/d64", "published/notebook-flow", "published/report-attention"}) {
    INFO(id);
    const rope::GoldenCase& golden = *committed().find(id);
    // The report computes theta by exp, with a larger C than the grades know. From its tables it is right.
    const bool by_exp = std::string_view(id) == "published/report-attention";
    CHECK(verdict(golden, by_exp ? rope::AngleSource::tables : rope::AngleSource::computed).passed());
  }
}

TEST_CASE("deviating cases: with the mistake put into the definition, the same outputs are right", "[golden]") {
  for (const rope::GoldenCase* golden : deviating()) {
    if (is_of_scores(*golden)) continue;
    INFO(golden->id << ": " << golden->reason);
    CHECK(rope::worst_use(committed(), *golden, rope::as_defined(committed(), *golden)) > 1);
    CHECK(rope::worst_use(committed(), *golden, rope::as_the_source_does(committed(), *golden)) <= 1);
  }
}

// Whether a mistake has what it needs in another case: golden/README.md, "The layers of a case", says the same.
bool can_be_put_into(const rope::GoldenCase& golden, const rope::GoldenInstead& mistake) {
  const auto extent = [&](const char* name, std::size_t axis) {
    return golden.find(name)->shape[static_cast<std::size_t>(golden.axis_of[axis])];
  };
  const bool has_k = golden.find("k") != nullptr;
  switch (mistake.rule) {
    case rope::GoldenRule::other_positions: return golden.find("positions_used") != nullptr;
    case rope::GoldenRule::other_spec:
      return mistake.spec->head_dim == golden.spec.head_dim && mistake.spec->rotary_dim == golden.spec.rotary_dim &&
             mistake.spec->pairing == golden.spec.pairing && !mistake.spec->xpos == !golden.spec.xpos;
    case rope::GoldenRule::position_of_head: return extent("q", 2) <= extent("q", 1);
    case rope::GoldenRule::k_turned_with_q: return has_k && extent("k", 2) == extent("q", 2);
    // They change no output of another case: it has no f64 to lose, and its scores are not looked at.
    case rope::GoldenRule::angles_in_f32:
    case rope::GoldenRule::k_not_conjugated: return false;
    default: return true;
  }
}

// A mistake explains only its own case: put into another, it leaves the outputs wrong. Otherwise the test above would
// only show that some rule is wide enough.
TEST_CASE("deviating cases: no mistake explains the outputs of another", "[golden]") {
  std::set<rope::GoldenRule> tried;
  for (const rope::GoldenCase* golden : deviating()) {
    if (is_of_scores(*golden)) continue;  // its outputs are right
    for (const rope::GoldenCase* other : deviating()) {
      const rope::GoldenInstead& mistake = *other->instead;
      if (mistake.rule == golden->instead->rule || !can_be_put_into(*golden, mistake)) continue;
      if (mistake.rule == rope::GoldenRule::cosines_one_feature_early && golden->spec.pairing != other->spec.pairing) {
        continue;
      }
      INFO(golden->id << " with the mistake of " << other->id);
      rope::GoldenCase exchanged = *golden;
      exchanged.instead = mistake;
      CHECK(rope::worst_use(committed(), exchanged, rope::as_the_source_does(committed(), exchanged)) > 1);
      tried.insert(mistake.rule);
    }
  }
  tried.insert(rope::GoldenRule::other_positions);  // no case of another rule has the array positions_used
  tried.insert({rope::GoldenRule::angles_in_f32, rope::GoldenRule::k_not_conjugated});  // see can_be_put_into
  int known = 0;
  while (rope::name(rope::GoldenRule{known}) != "?") ++known;
  CHECK(static_cast<int>(tried.size()) == known);
}

TEST_CASE("deviating cases: every rule that the manifest knows has a case", "[golden]") {
  std::set<rope::GoldenRule> seen;
  for (const rope::GoldenCase* golden : deviating()) seen.insert(golden->instead->rule);
  int known = 0;
  while (rope::name(rope::GoldenRule{known}) != "?") ++known;
  CHECK(static_cast<int>(seen.size()) == known);
}
