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
  CHECK(without->judged_again.size() == static_cast<std::size_t>(report.count(Verdict::fail)));
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

TEST_CASE("conforms without: of a kernel that hangs, judged again, one hang a round is enough") {
  bool again = false;
  std::int64_t hangs = 0;
  Fake subject(with_place_and_backward(), [&](Call& call) {
    if (!call.in_place && !again) return right(call);
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
  again = true;
  hangs = 0;
  CHECK_FALSE(conforms_without(report, judged, subject, oracles, all_requirements(), options));
  CHECK(hangs <= 2);  // one in each of two rounds
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
