#include "tools/judge/run/suite.hpp"

#include <catch2/catch.hpp>

#include "reference/input_error.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/judge/run/replayed.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tools/judge/case/coverage.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::Fake;
using test::grade_of;
using test::narrow_claims;
using test::options;
using test::right;
using test::run;

TEST_CASE("a right kernel conforms, requirement by requirement", "[suite]") {
  Fake subject(narrow_claims(), right);
  const SubjectReport report = run(subject);
  CHECK(report.conforms());
  CHECK(report.results.size() == all_requirements().size());
  CHECK(report.executed() > 50);
  std::int64_t of_heatmaps = 0;
  for (const Heatmap& map : report.heatmaps) of_heatmaps += map.calls;
  CHECK(report.calls + of_heatmaps == subject.calls);
  CHECK(grade_of(report, DType::f32) == "A1");
  CHECK(report.grades.size() == 1);
  for (const RequirementResult& result : report.results) {
    INFO(result.id);
    if (result.cases > 0) CHECK(result.verdict == Verdict::pass);
    CHECK(result.lacks.empty() == (result.cases > 0));
    CHECK(result.failed == 0);
    CHECK_FALSE(result.failure.has_value());
    if (result.id.starts_with("GLD")) CHECK(result.verdict == Verdict::no_case);  // no golden files were given
    if (result.id == "ROT-01") CHECK(result.verdict == Verdict::pass);
    if (result.id.starts_with("BWD")) CHECK(result.verdict == Verdict::not_claimed);
  }
}

TEST_CASE("a kernel that claims no position but 0 is marked, and so is one that nothing was asked of", "[suite]") {
  Claims claims = narrow_claims();
  SuiteOptions how = options();
  how.selection.only = {"ROT-02"};
  Fake usual(claims, right);
  CHECK_FALSE(run(usual, how).only_position_0);
  claims.capabilities.max_position = 0;
  Fake still(claims, right);
  const SubjectReport report = run(still, how);
  CHECK(report.conforms());
  CHECK(report.only_position_0);
  how.selection.pairing = Pairing::interleaved;
  CHECK(run(still, how).missing_claim == "interleaved is not claimed");
}

TEST_CASE("what a kernel breaks in a wrong call does not count against its right calls", "[suite]") {
  bool is_broken = false;
  Fake subject(narrow_claims(), [&](Call& call) {
    is_broken = is_broken || call.rotary_dim % 2 != 0;
    return is_broken ? Reply{} : right(call);
  });
  subject.forget = [&] { is_broken = false; };
  const std::vector<Requirement> order{requirement_called("ERR-01"), requirement_called("ROT-01")};
  Oracles oracles;
  SuiteOptions how = options();
  how.selection.only.clear();
  const SubjectReport report = run_suite(subject, oracles, order, how);
  CHECK(report.results.at(0).verdict == Verdict::note);
  CHECK(report.results.at(1).verdict == Verdict::pass);
  subject.forget = {};
  CHECK(run_suite(subject, oracles, order, how).results.at(1).verdict == Verdict::fail);
}

TEST_CASE("with a budget, a kernel that starts slowly is not started again for what it broke", "[suite]") {
  int renewals = 0;
  Claims claims = narrow_claims();
  Fake subject(claims, [&](Call& call) { return call.rotary_dim % 2 != 0 ? Reply{} : right(call); });
  subject.forget = [&] { ++renewals; };
  const std::vector<Requirement> order{requirement_called("ERR-01"), requirement_called("ROT-01")};
  Oracles oracles;
  SuiteOptions how = options();
  how.shrinks = false;
  run_suite(subject, oracles, order, how);
  CHECK(renewals == 1);
  how.budget = Budget{std::chrono::seconds(100), 0, {}};
  run_suite(subject, oracles, order, how);
  CHECK(renewals == 1);
}

TEST_CASE("a kernel gets no case that it does not claim", "[suite]") {
  std::int64_t unclaimed = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    const bool claimed = call.q.dtype == DType::f32 && call.q_out && call.q_out->dtype == DType::f32 && !call.k &&
                         call.pairing == Pairing::half_split && call.source == AngleSource::computed &&
                         call.scaling.index() == 0 && !call.positions && call.axes == 1 &&
                         call.direction == Direction::forward && call.attention_factor == 1 &&
                         call.rotary_dim == call.q.shape[3] && call.q.strides[3] == 1 &&
                         (call.q.strides[2] == call.q.shape[3] || call.q.shape[2] == 1) &&
                         call.position_offset + call.q.shape[1] - 1 <= 1 << 20;
    const Reply reply = right(call);
    unclaimed += claimed || reply.status == ROPE_INVALID_ARGUMENT ? 0 : 1;
    return reply;
  });
  run(subject, options(Level::full));
  CHECK(subject.calls > 500);
  CHECK(unclaimed == 0);
}

TEST_CASE("a kernel that is wrong in one way fails with a minimal case that still fails", "[suite]") {
  // With two batches or more, everything turns one position too far.
  const auto wrong = [](Call& call) {
    Call shifted = call;
    shifted.position_offset += call.q.shape[0] > 1 ? 1 : 0;
    const Reply reply = right(shifted);
    call.q_out = shifted.q_out;
    return reply;
  };
  Fake subject(narrow_claims(), wrong);
  const SubjectReport report = run(subject);
  CHECK_FALSE(report.conforms());
  const auto rotation = std::find_if(report.results.begin(), report.results.end(),
                                     [](const RequirementResult& r) { return r.id == "ROT-01"; });
  REQUIRE(rotation != report.results.end());
  CHECK(rotation->verdict == Verdict::fail);
  CHECK(rotation->failed > 0);
  CHECK(rotation->failed < rotation->cases);  // cases with one batch pass
  REQUIRE(rotation->failure.has_value());
  const Case& minimal = rotation->failure->minimal;
  CHECK(minimal.batch == 2);
  CHECK(minimal.seq == 1);
  CHECK(minimal.heads == 1);
  CHECK(minimal.spec.head_dim == 2);
  CHECK(minimal.start == 0);
  CHECK(rotation->failure->finding.kind == FailureKind::value);

  Oracles oracles;
  CHECK_FALSE(replayed(minimal, subject, oracles, nullptr).passed());
  CHECK_FALSE(replayed(case_from_text(to_text(minimal)), subject, oracles, nullptr).passed());
  CHECK_FALSE(replayed(case_from_text(rotation->failure->first_seen), subject, oracles, nullptr).passed());
  int simpler_ones = 0;
  for (const Case& c : simpler(minimal)) {
    if (!uncovered(c, subject.claims()).empty()) continue;
    ++simpler_ones;
    INFO(to_text(c));
    CHECK(replayed(c, subject, oracles, nullptr).passed());  // else it would not be minimal
  }
  CHECK(simpler_ones > 0);
}

TEST_CASE("every requirement that fails has a case that fails by itself", "[suite]") {
  Fake subject(narrow_claims(), [](Call& call) {
    const Reply reply = right(call);
    for (std::int64_t i = 0; i < call.q_out->count(); i += 5) {
      std::byte* element = call.q_out->data() + i * 4;
      store(DType::f32, element, load(DType::f32, element) + 0.5);
    }
    return reply;
  });
  const SubjectReport report = run(subject);
  Oracles oracles;
  int failed = 0;
  for (const RequirementResult& result : report.results) {
    CHECK((result.verdict == Verdict::fail || result.verdict == Verdict::note) == result.failure.has_value());
    if (!result.failure) continue;
    INFO(result.id << ' ' << to_text(result.failure->minimal));
    ++failed;
    CHECK_FALSE(replayed(result.failure->minimal, subject, oracles, nullptr).passed());
  }
  CHECK(failed >= 5);
  CHECK(grade_of(report, DType::f32).empty());
}

TEST_CASE("a subject without claims is not claimed everywhere, and does not conform", "[suite]") {
  Fake subject(test::no_claims(), right);
  const SubjectReport report = run(subject);
  CHECK(report.executed() == 0);
  CHECK(subject.calls == 0);
  CHECK_FALSE(report.conforms());
  CHECK(report.results.size() == all_requirements().size());
  for (const RequirementResult& result : report.results) {
    const bool is_golden = result.id.starts_with("GLD");  // there are no golden files
    CHECK(result.verdict == (is_golden ? Verdict::no_case : Verdict::not_claimed));
  }
}

TEST_CASE("a selection without cases is not a pass", "[suite]") {
  Fake subject(narrow_claims(), right);
  SuiteOptions how = options();
  how.selection.dtypes = {DType::bf16};
  const SubjectReport report = run(subject, how);
  CHECK(report.executed() == 0);
  CHECK_FALSE(report.conforms());
}

TEST_CASE("an unsupported answer to a claimed case is a failure", "[suite]") {
  Fake subject(narrow_claims(), [](Call&) { return Reply{ReplyKind::done, ROPE_UNSUPPORTED, "not today", 0}; });
  const SubjectReport report = run(subject);
  CHECK_FALSE(report.conforms());
  for (const RequirementResult& result : report.results) {
    if (result.cases == 0 || result.id.starts_with("ERR")) continue;  // these require a refusal
    INFO(result.id);
    CHECK(result.verdict == (result.is_must ? Verdict::fail : Verdict::note));
    CHECK(result.failed == result.cases);
    REQUIRE(result.failure.has_value());
    CHECK(result.failure->finding.kind == FailureKind::status);
    CHECK_THAT(result.failure->finding.message, Contains("claims this case and answered unsupported: not today"));
  }
}

TEST_CASE("claimed calls that are not supported are one mistake, which names the claim", "[suite]") {
  Claims claims = narrow_claims();
  claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE) | ROPE_BIT(ROPE_FEATURE_KEY);
  const auto out_of_place = [](Call& call) {
    return call.in_place ? Reply{ReplyKind::done, ROPE_UNSUPPORTED, "", 0} : right(call);
  };
  Fake subject(claims, out_of_place);
  const SubjectReport report = run(subject);
  REQUIRE(report.unsupported.has_value());
  CHECK(report.unsupported->claims == std::vector<std::string>{"in place"});
  CHECK(report.unsupported->cases > 10);
  CHECK_FALSE(report.unsupported->are_all);
  CHECK(case_from_text(report.unsupported->example).in_place);
  CHECK_FALSE(report.conforms());
  CHECK(report.fails_only_by_lack_of_support());
  std::vector<std::string> not_held;
  for (const RequirementResult& result : report.results) {
    if (result.failed > 0 && !result.id.starts_with("ERR")) not_held.push_back(result.id);
  }
  CHECK(report.unsupported->requirements == not_held);

  // A wrong result is another mistake, and stands for the requirements that it fails.
  Fake also_wrong(claims, [&](Call& call) {
    const Reply reply = out_of_place(call);
    if (reply.status == ROPE_OK && call.k && call.k->count() > 0) *call.k_out->data() ^= std::byte{0x40};
    return reply;
  });
  const SubjectReport of_both = run(also_wrong);
  REQUIRE(of_both.unsupported.has_value());
  CHECK(of_both.unsupported->claims == std::vector<std::string>{"in place"});
  CHECK_FALSE(of_both.fails_only_by_lack_of_support());
  for (const RequirementResult& result : of_both.results) {
    if (result.verdict != Verdict::fail) continue;
    const std::vector<std::string>& ids = of_both.unsupported->requirements;
    const bool by_support = std::ranges::find(ids, result.id) != ids.end();
    INFO(result.id);
    CHECK((result.failure->finding.status == ROPE_UNSUPPORTED) == by_support);
  }
  Fake never(claims, [](Call&) { return Reply{ReplyKind::done, ROPE_UNSUPPORTED, "", 0}; });
  const SubjectReport of_none = run(never);
  REQUIRE(of_none.unsupported.has_value());
  CHECK(of_none.unsupported->are_all);
  CHECK(of_none.unsupported->claims.empty());
}

TEST_CASE("a table that ends early is found where positions come only from the number of tokens", "[suite]") {
  Claims claims = narrow_claims();
  claims.capabilities.features = 0;
  for (const std::int64_t rows : {512, 4096, 65536}) {
    Fake subject(claims, [&](Call& call) {
      const std::int64_t tokens = call.q.shape[1];
      Call clamped = call;
      clamped.positions = Tensor::contiguous(DType::i64, {1, 1, tokens});
      clamped.positions->strides[1] = 0;
      for (std::int64_t s = 0; s < tokens; ++s) {
        const std::int64_t position = std::min(s, rows - 1);
        std::memcpy(clamped.positions->data() + s * 8, &position, sizeof position);
      }
      const Reply reply = right(clamped);
      call.q_out = clamped.q_out;
      return reply;
    });
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only = {"ANG-02", "SHP-01"};
    const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
    INFO(rows);
    CHECK(report.results[0].verdict == Verdict::fail);
    CHECK(report.results[1].verdict == Verdict::fail);
  }
}

TEST_CASE("a failure is kept if its subject cannot be started again while it is made smaller", "[suite]") {
  Fake subject(narrow_claims(), [](Call& call) {
    for (std::byte& byte : call.q_out->bytes) byte = std::byte{};
    return Reply{};
  });
  subject.forget = [] { throw std::runtime_error("no more processes"); };
  SuiteOptions how = options();
  how.selection.only = {"ROT-01"};
  const SubjectReport report = run(subject, how);
  CHECK(report.ended_by == "no more processes");
  REQUIRE(report.results.at(0).failed > 0);
  CHECK(report.results.at(0).failure.has_value());
}

TEST_CASE("a run that is stopped does not conform", "[suite]") {
  Stop stop;
  std::int64_t calls = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    if (++calls == 10) stop.request();
    return right(call);
  });
  SuiteOptions how = options();
  how.stop = &stop;
  const SubjectReport report = run(subject, how);
  CHECK(report.interrupted);
  CHECK(report.executed() > 0);
  CHECK(report.results.size() < all_requirements().size());
  CHECK_FALSE(report.conforms());
}

TEST_CASE("the same seed runs the same cases", "[suite]") {
  const auto transcript = [](std::uint64_t seed) {
    Fake subject(narrow_claims(), right);
    SuiteOptions how = options();
    how.selection.seed = seed;
    std::string text;
    for (const RequirementResult& result : run(subject, how).results) {
      text += result.id + std::to_string(result.cases) + result.worst_case;
    }
    return text;
  };
  CHECK(transcript(1) == transcript(1));
  CHECK(transcript(1) != transcript(2));
}

TEST_CASE("only the selected requirements and families are judged", "[suite]") {
  Fake subject(narrow_claims(), right);
  SuiteOptions how = options();
  how.selection.only = {"REL", "ROT-02"};
  const SubjectReport report = run(subject, how);
  std::vector<std::string> ids;
  for (const RequirementResult& result : report.results) ids.push_back(result.id);
  CHECK(ids == std::vector<std::string>{"ROT-02", "REL-01", "REL-02"});
  CHECK(report.conforms());
  CHECK(report.horizons.size() == 1);
  how.selection.only = {"ROT-02"};
  CHECK(run(subject, how).horizons.empty());
  how.selection.only = {"RO", "ROT-0", "ROT-", ""};  // prefixes select nothing
  CHECK(run(subject, how).results.empty());
}

TEST_CASE("failing fast stops at the first case that fails, which is not shrunk", "[suite]") {
  Fake subject(narrow_claims(), [](Call& call) {
    Call shifted = call;
    shifted.position_offset += call.q.shape[0] > 1 ? 1 : 0;
    const Reply reply = right(shifted);
    call.q_out = shifted.q_out;
    return reply;
  });
  const SubjectReport all = run(subject);
  REQUIRE(all.count(Verdict::fail) > 1);
  const std::int64_t calls = subject.calls;
  SuiteOptions how = options();
  how.fail_fast = true;
  const SubjectReport report = run(subject, how);
  CHECK_FALSE(report.conforms());
  CHECK_FALSE(report.interrupted);
  CHECK(report.count(Verdict::fail) == 1);
  REQUIRE(report.results.back().verdict == Verdict::fail);
  CHECK(report.results.back().failed == 1);
  CHECK(to_text(report.results.back().failure->minimal) == report.results.back().failure->first_seen);
  CHECK(subject.calls - calls < calls / 4);
}

TEST_CASE("progress counts every case, and reaches the end", "[suite]") {
  Fake subject(narrow_claims(), right);
  SuiteOptions how = options();
  std::int64_t seen = 0, last = 0, all = 0;
  how.progress = [&](const Progress& at) {
    CHECK(at.cases == last + 1);
    CHECK(at.index < at.count);
    last = at.cases;
    all = at.all_cases;
    ++seen;
  };
  const SubjectReport report = run(subject, how);
  CHECK(seen == report.executed());
  CHECK(last == all);
}

TEST_CASE("a case that the claims do not cover cannot be replayed", "[suite]") {
  Fake subject(narrow_claims(), right);
  Oracles oracles;
  const Case c = case_from_text("ROT-01:dtype=bf16,out_dtype=bf16,source=computed");
  CHECK_THROWS_WITH(replayed(c, subject, oracles, nullptr), Contains("bf16 input is not claimed"));
  const Case unknown = case_from_text("XYZ-01:source=computed");
  CHECK_THROWS_WITH(replayed(unknown, subject, oracles, nullptr), Contains("requirement \"XYZ-01\" is not known"));
}

}  // namespace
}  // namespace rope
