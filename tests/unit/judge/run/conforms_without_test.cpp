#include "tools/judge/run/conforms_without.hpp"

#include <catch2/catch.hpp>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"

namespace rope {
namespace {

using test::Fake;
using test::narrow_claims;
using test::right;

struct Judged {
  SubjectReport report;
  std::optional<ConformsWithout> without;
};

Judged judge(Fake& subject, const std::vector<std::string>& only) {
  Oracles oracles;
  SuiteOptions options;
  options.selection.level = Level::quick;
  options.selection.only = only;
  JudgedCases judged;
  options.after_case = [&](const Case& c, bool passed) { judged.note(c, passed); };
  SubjectReport report = run_suite(subject, oracles, all_requirements(), options);
  std::optional<ConformsWithout> without =
      conforms_without(report, judged, subject, oracles, all_requirements(), options);
  return {std::move(report), std::move(without)};
}

Claims with_place_and_backward() {
  Claims claims = narrow_claims();
  claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_BACKWARD);
  return claims;
}

TEST_CASE("conforms without: a kernel that refuses calls in place would conform without this claim") {
  Fake subject(with_place_and_backward(), [](Call& call) {
    return call.in_place ? Reply{ReplyKind::done, ROPE_UNSUPPORTED, "no", 0} : right(call);
  });
  const auto [report, without] = judge(subject, {"ROT", "BWD", "MEM"});
  REQUIRE(report.count(Verdict::fail) > 1);
  REQUIRE(without);
  CHECK(without->claims == std::vector<std::string>{"in place"});
  // All others that had cases were judged again, too, except those about calls in place.
  const auto had_cases = std::ranges::count_if(report.results, [](const RequirementResult& r) { return r.cases > 0; });
  const auto again = static_cast<std::ptrdiff_t>(without->judged_again.size());
  CHECK(again > report.count(Verdict::fail));
  CHECK(again < had_cases);
}

Reply right_at(Call& call, std::int64_t offset) {
  Call moved = call;
  moved.position_offset = offset;
  const Reply reply = right(moved);
  call.q = moved.q;
  call.q_out = moved.q_out;
  return reply;
}

TEST_CASE("conforms without: a limit of positions is found to the last one, whatever the cases asked for") {
  constexpr std::int64_t period = 0x4000;
  Fake subject(narrow_claims(), [](Call& call) {
    const std::int64_t last = call.position_offset + call.q.shape[1] - 1;
    return last < period ? right(call) : right_at(call, call.position_offset % period);
  });
  const auto [report, without] = judge(subject, {"ROT-01", "ANG-01", "ANG-02", "ANG-03"});
  REQUIRE(report.count(Verdict::fail) > 0);
  REQUIRE(without);
  CHECK(without->claims == std::vector<std::string>{"positions beyond 16383"});
  CHECK(without->judged_again.size() == 4);
}

TEST_CASE("conforms without: nothing is said of positions if calls begin to fail at none of them") {
  // Every third call beyond 1000 is right, so some of the cases hold there, too.
  std::int64_t calls = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    const bool is_wrong = call.position_offset > 1000 && ++calls % 3 != 0;
    return is_wrong ? right_at(call, call.position_offset + 1) : right(call);
  });
  const auto [report, without] = judge(subject, {"ROT-01", "ANG-02", "ANG-03"});
  REQUIRE(report.count(Verdict::fail) > 0);
  CHECK_FALSE(without);
}

TEST_CASE("conforms without: nothing is said if a requirement would be left without a case") {
  Claims claims = narrow_claims();
  claims.capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  Fake subject(claims, [](Call& call) {
    return call.q.dtype == DType::bf16 ? Reply{ReplyKind::done, ROPE_UNSUPPORTED, "no", 0} : right(call);
  });
  CHECK(judge(subject, {"ROT-01"}).without);
  const auto [report, without] = judge(subject, {"ROT-01", "ROT-13"});  // ROT-13 is about 16-bit types
  CHECK(report.count(Verdict::fail) == 2);
  CHECK_FALSE(without);
}

TEST_CASE("conforms without: nothing is said of a failure so rare that other claims would pass by chance") {
  // One call in twenty fails, and only in place: that so few others hold tells nothing.
  std::int64_t calls = 0;
  Fake subject(with_place_and_backward(), [&](Call& call) {
    const bool is_wrong = call.in_place && ++calls % 20 == 7;
    return is_wrong ? Reply{ReplyKind::done, ROPE_UNSUPPORTED, "no", 0} : right(call);
  });
  const auto [report, without] = judge(subject, {"ROT-01"});
  REQUIRE(report.count(Verdict::fail) == 1);
  CHECK_FALSE(without);
}

TEST_CASE("conforms without: nothing is said of a kernel that is wrong in a plain call, or right") {
  Fake wrong(with_place_and_backward(), [](Call& call) {
    Call shifted = call;
    shifted.position_offset += 1;
    const Reply reply = right(shifted);
    call.q = shifted.q;
    call.q_out = shifted.q_out;
    return reply;
  });
  const Judged of_wrong = judge(wrong, {"ROT-01"});
  CHECK(of_wrong.report.count(Verdict::fail) == 1);
  CHECK_FALSE(of_wrong.without);
  Fake conforming(with_place_and_backward(), right);
  CHECK_FALSE(judge(conforming, {"ROT-01"}).without);
}

TEST_CASE("conforms without: nothing is said of a kernel that hangs, and it is not asked again") {
  std::int64_t hangs = 0;
  Fake subject(with_place_and_backward(), [&](Call& call) {
    if (!call.in_place) return right(call);
    ++hangs;
    return Reply{ReplyKind::timed_out, ROPE_FAILED, "did not return within 10 s", 0};
  });
  const SubjectReport report = judge(subject, {"ROT", "MEM", "SHP"}).report;
  REQUIRE(report.count(Verdict::fail) > 3);
  JudgedCases judged;
  judged.note(case_from_text("ROT-01:in_place=1,source=computed"), false);
  judged.note(case_from_text("ROT-01:source=computed"), true);
  Oracles oracles;
  SuiteOptions options;
  options.selection = report.selection;
  hangs = 0;
  CHECK_FALSE(conforms_without(report, judged, subject, oracles, all_requirements(), options));
  CHECK(hangs == 0);
}

TEST_CASE("conforms without: nothing is said if what failed fails again") {
  // It refuses what was in place only until it is judged again; then it refuses everything.
  std::int64_t refused = 0, taken_since = 0;
  Fake subject(with_place_and_backward(), [&](Call& call) {
    refused += call.in_place ? 1 : 0;
    taken_since = call.in_place ? 0 : taken_since + 1;
    const bool again = refused > 0 && taken_since > 2000;
    return call.in_place || again ? Reply{ReplyKind::done, ROPE_UNSUPPORTED, "no", 0} : right(call);
  });
  Judged first = judge(subject, {"ROT-01"});
  REQUIRE(first.without);
  taken_since = 3000;
  JudgedCases judged;
  judged.note(case_from_text("ROT-01:in_place=1,source=computed"), false);
  judged.note(case_from_text("ROT-01:source=computed"), true);
  Oracles oracles;
  SuiteOptions options;
  options.selection = first.report.selection;
  CHECK_FALSE(conforms_without(first.report, judged, subject, oracles, all_requirements(), options));
}

}  // namespace
}  // namespace rope
