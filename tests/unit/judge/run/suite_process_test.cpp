// How the suite treats a kernel's process: its memory of earlier calls, and its end.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/fake_subject.hpp"
#include "tests/unit/judge/run/suite_run.hpp"
#include "tools/judge/call/busy_machine.hpp"
#include "tools/judge/run/explain.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using Catch::Contains;
using test::Fake;
using test::narrow_claims;
using test::options;
using test::right;
using test::run;

// The right result of the same call at another offset.
Reply turned_from(Call& call, std::int64_t offset) {
  Call other = call;
  other.position_offset = offset;
  const Reply reply = right(other);
  call.q_out = other.q_out;
  return reply;
}

// A table of cosines and sines that is kept for each number of tokens, like TAB-01. The first call of a length decides
// for all later ones.
class CacheKeyedByLength {
 public:
  Reply operator()(Call& call) {
    return turned_from(call, first_offset_->try_emplace(call.q.shape[1], call.position_offset).first->second);
  }
  void forget() { first_offset_->clear(); }

 private:
  std::shared_ptr<std::map<std::int64_t, std::int64_t>> first_offset_ =
      std::make_shared<std::map<std::int64_t, std::int64_t>>();
};

RequirementResult judged(Subject& subject, const std::string& requirement, Level level = Level::quick) {
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = level;
  how.selection.only = {requirement};
  return run_suite(subject, oracles, all_requirements(), how).results.at(0);
}

TEST_CASE("memory is given back behind each requirement, not between its calls", "[suite]") {
  Fake subject(narrow_claims(), right);
  std::int64_t before_it = 0;
  SuiteOptions how = options();
  how.selection.only = {"ROT-01", "ANG-01"};
  how.before_case = [&](const Case& c) {
    if (c.requirement == "ROT-01") before_it = std::max(before_it, subject.given_back);
  };
  CHECK(run(subject, how).results.size() == 2);
  CHECK(before_it == 0);
  CHECK(subject.given_back == 2);
}

TEST_CASE("a failure caused by an earlier call is told from one of the call itself", "[suite]") {
  CacheKeyedByLength cache;
  Fake subject(narrow_claims(), cache);
  subject.forget = [&] { cache.forget(); };
  const RequirementResult by_memory = judged(subject, "ROT-01");
  CHECK(by_memory.verdict == Verdict::fail);
  REQUIRE(by_memory.failure);
  CHECK(by_memory.failure->needs_earlier_calls);
  CHECK_THAT(explain(*by_memory.failure), Contains("without the calls before it the case passes"));
  // The case names the call that it needs, so it fails again by itself.
  const Case& minimal = by_memory.failure->minimal;
  CHECK(minimal.before.size() == 1);
  Oracles oracles;
  cache.forget();
  CHECK_FALSE(replay(requirement_called("ROT-01"), minimal, subject, oracles, nullptr).passed());
  Case without = minimal;
  without.before.clear();
  cache.forget();
  CHECK(replay(requirement_called("ROT-01"), without, subject, oracles, nullptr).passed());

  // STA-01 makes the earlier calls itself, so its case fails by itself as well.
  cache.forget();
  const RequirementResult of_itself = judged(subject, "STA-01");
  CHECK(of_itself.verdict == Verdict::fail);
  REQUIRE(of_itself.failure);
  CHECK_FALSE(of_itself.failure->needs_earlier_calls);

  Fake shifted(narrow_claims(), [](Call& call) { return turned_from(call, call.position_offset + 1); });
  int renewed = 0;
  shifted.forget = [&] { ++renewed; };
  const RequirementResult alone = judged(shifted, "ROT-01");
  REQUIRE(alone.failure);
  CHECK(renewed == 1);
  CHECK_FALSE(alone.failure->needs_earlier_calls);
  CHECK_THAT(explain(*alone.failure), !Contains("alone"));
}

TEST_CASE("a failure whose earlier call is not found says that it needs one", "[suite]") {
  // Wrong from the fourth call of a process on: no single call before the case's own does that.
  int calls_of_process = 0;
  Fake subject(narrow_claims(),
               [&](Call& call) { return turned_from(call, call.position_offset + calls_of_process++ / 3); });
  subject.forget = [&] { calls_of_process = 0; };
  const RequirementResult result = judged(subject, "ROT-01");
  REQUIRE(result.failure);
  CHECK(result.failure->needs_earlier_calls);
  CHECK(result.failure->minimal.before.empty());
  CHECK_THAT(explain(*result.failure), Contains("in a new process the case passes"));
}

Claims claims_of_two_types() {
  Claims claims = narrow_claims();
  claims.capabilities.out_dtypes[ROPE_BF16] = ROPE_BIT(ROPE_BF16);
  return claims;
}

// What a bf16 call of more than 20 positions leaves spoils later f32 calls.
std::function<Reply(Call&)> spoilt_by_bf16(bool& spoilt) {
  return [&spoilt](Call& call) {
    const bool coarse = call.q.dtype == DType::bf16;
    spoilt = spoilt || (coarse && call.position_offset + call.q.shape[1] > 20);
    return turned_from(call, call.position_offset + (spoilt && !coarse ? 1 : 0));
  };
}

TEST_CASE("shrinking keeps the calls before that a case needs, and drops the others", "[suite]") {
  bool spoilt = false;
  Claims claims = claims_of_two_types();
  claims.compiled = true;
  Fake subject(claims, spoilt_by_bf16(spoilt));
  subject.forget = [&] { spoilt = false; };
  const RequirementResult result = judged(subject, "STA-02");
  CHECK(result.verdict == Verdict::fail);
  REQUIRE(result.failure);
  CHECK(result.failure->needs_earlier_calls);
  REQUIRE(result.failure->minimal.before.size() == 1);
  const EarlierCall& left = result.failure->minimal.before[0];
  CHECK(left.dtype == DType::bf16);
  CHECK(left.start + left.seq == 21);
  CHECK(result.failure->minimal.dtype == DType::f32);
}

TEST_CASE("shrinking starts a kernel that starts slowly only a few times", "[suite]") {
  bool spoilt = false;
  int starts = 0;
  Fake subject(claims_of_two_types(), spoilt_by_bf16(spoilt));
  subject.forget = [&] {
    spoilt = false;
    ++starts;
  };
  const RequirementResult result = judged(subject, "STA-02");
  CHECK(result.verdict == Verdict::fail);
  REQUIRE(result.failure);
  CHECK(result.failure->minimal.before.size() == 1);
  CHECK(starts < 30);  // 20 of them in shrinking
}

TEST_CASE("without a new process nothing is said about earlier calls", "[suite]") {
  Fake subject(narrow_claims(), CacheKeyedByLength());
  const RequirementResult result = judged(subject, "ROT-01");
  REQUIRE(result.failure);
  CHECK_FALSE(result.failure->needs_earlier_calls);
}

// Answers correctly until it dies at the second call of a process.
TEST_CASE("a process that dies of an earlier call needs that call to fail", "[suite]") {
  int calls_of_process = 0;
  Fake* self = nullptr;
  Fake subject(narrow_claims(), [&](Call& call) -> Reply {
    if (++calls_of_process == 1) return right(call);
    calls_of_process = 0;
    ++self->died;
    return {ReplyKind::crashed, ROPE_FAILED, "freed twice", 0};
  });
  self = &subject;
  subject.forget = [&] { calls_of_process = 0; };
  const RequirementResult result = judged(subject, "ROT-01");
  REQUIRE(result.failure);
  CHECK(result.failure->finding.kind == FailureKind::crash);
  CHECK(result.failure->needs_earlier_calls);
}

// Writes beyond its memory wherever there are enough heads, in a process that survives it or dies.
struct Overrun {
  RequirementResult result;
  std::int64_t calls;
};

Overrun overrun(bool kills) {
  Fake* self = nullptr;
  Claims claims = narrow_claims();
  claims.compiled = true;
  Fake subject(claims, [&](Call& call) -> Reply {
    if (call.q.shape[2] < 2) return right(call);
    self->died += kills ? 1 : 0;
    return {ReplyKind::misbehaved, ROPE_FAILED, "wrote 1 element past the end of q_out", 0};
  });
  self = &subject;
  RequirementResult result = judged(subject, "ROT-01", Level::full);
  return {std::move(result), subject.calls};
}

TEST_CASE("misbehaviour that kills is given up like a crash, and misbehaviour that does not is tested in full",
          "[suite]") {
  const Overrun dying = overrun(true);
  CHECK(dying.result.verdict == Verdict::fail);
  CHECK(dying.result.failed == 3);
  CHECK(dying.result.failure->finding.kind == FailureKind::misbehaviour);
  constexpr int steps = 20, calls_of_heatmap = 20;  // the heatmap has one head, so the kernel lives on
  CHECK(dying.calls <= dying.result.cases + steps + calls_of_heatmap);

  const Overrun living = overrun(false);
  CHECK(living.result.verdict == Verdict::fail);
  CHECK(living.result.failed > 3);
  CHECK(living.result.cases > dying.result.cases);
  CHECK(living.result.failure->minimal.heads == 2);
}

TEST_CASE("claims whose cases a dying kernel never met are not called asked", "[suite]") {
  Fake* self = nullptr;
  Claims claims = narrow_claims();
  claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_BACKWARD);
  Fake subject(claims, [&](Call&) -> Reply {
    ++self->died;
    return {ReplyKind::crashed, ROPE_FAILED, "SIGSEGV", 0};
  });
  self = &subject;
  Oracles oracles;
  SuiteOptions how;
  how.selection.only = {"ROT-01"};
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  const auto features = std::ranges::find(report.claims, "features", &ClaimsAsked::kind);
  REQUIRE(features != report.claims.end());
  CHECK(std::ranges::count(features->not_asked, "backward") == 1);
}

TEST_CASE("claims list rules, head_dims and refusals, asked or not", "[suite]") {
  Claims claims = narrow_claims();
  claims.head_dims = {64, 66};
  Fake subject(claims, right);
  Oracles oracles;
  SuiteOptions how;
  how.selection.spec.emplace().head_dim = 64;
  how.selection.spec->rotary_dim = 64;
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  const auto of = [&](const char* kind) {
    const auto found = std::ranges::find(report.claims, kind, &ClaimsAsked::kind);
    REQUIRE(found != report.claims.end());
    return *found;
  };
  using Words = std::vector<std::string>;
  CHECK(of("head_dims").asked == Words{"64"});
  CHECK(of("head_dims").not_asked == Words{"66"});
  CHECK(of("scaling rules").asked == Words{"none"});
  CHECK(std::ranges::count(of("scaling rules").not_claimed, "yarn") == 1);
  // Asked of every kernel: whether it decides hangs on the claim.
  CHECK(std::ranges::count(of("features").asked, "wrong calls are refused") == 1);
}

TEST_CASE("a hang is shrunk once in a run: each try costs its deadlines", "[suite]") {
  Fake subject(narrow_claims(), [](Call&) { return Reply{ReplyKind::timed_out, ROPE_FAILED, "did not return", 0}; });
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"ROT"};
  const SubjectReport report = run_suite(subject, oracles, all_requirements(), how);
  int requirements = 0;
  for (const RequirementResult& result : report.results) {
    if (result.cases == 0) continue;
    INFO(result.id);
    CHECK(result.cases == 1);
    CHECK(result.failure->finding.kind == FailureKind::timeout);
    CHECK((to_text(result.failure->minimal) == result.failure->first_seen) == (requirements > 0));
    ++requirements;
  }
  CHECK(requirements > 3);
  CHECK(subject.calls == requirements + 3);
}

TEST_CASE("a crash or a hang that does not happen again is marked, and the verdict stays", "[suite]") {
  const ReplyKind kind = GENERATE(ReplyKind::crashed, ReplyKind::timed_out);
  const bool compiled = GENERATE(true, false);
  int renewed = 0;
  const auto failure_of = [&](int fatal_calls) {
    Claims claims = narrow_claims();
    claims.compiled = compiled;
    int left = fatal_calls, calls = 0;
    Fake subject(claims, [&](Call& call) {
      if (++calls < 20 || left-- <= 0) return right(call);
      return Reply{kind, ROPE_FAILED, "it is gone", 0};
    });
    subject.forget = [&] { ++renewed; };
    const RequirementResult result = judged(subject, "ROT-01");
    CHECK(result.verdict == Verdict::fail);
    REQUIRE(result.failure);
    return *result.failure;
  };
  const Failure once = failure_of(1);
  CHECK(once.held_again == 5);
  CHECK_FALSE(once.needs_earlier_calls);
  CHECK_THAT(explain(once), Contains("it is gone; could not be repeated (0 of 5, each in a new process)"));
  CHECK(renewed >= 5);
  const Failure always = failure_of(1 << 20);
  CHECK(always.held_again == 0);
  CHECK_FALSE(always.needs_earlier_calls);
  CHECK_THAT(explain(always), !Contains("repeated"));
}

TEST_CASE("a machine that gives a call no time ends the run, and decides nothing", "[suite]") {
  int calls = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    if (++calls > 20) throw BusyMachine("the machine is too busy");
    return right(call);
  });
  SuiteOptions how = options();
  how.selection.only = {"ROT-01"};
  const SubjectReport report = run(subject, how);
  CHECK(report.interrupted);
  CHECK(report.ended_by == "the machine is too busy");
  CHECK(report.count(Verdict::fail) == 0);
  CHECK_FALSE(report.conforms());

  // A failure that was seen before stays one.
  calls = 0;
  Fake wrong(narrow_claims(), [&](Call& call) {
    if (++calls > 20) throw BusyMachine("the machine is too busy");
    return turned_from(call, call.position_offset + (calls == 20 ? 1 : 0));
  });
  CHECK(run(wrong, how).count(Verdict::fail) == 1);
}

TEST_CASE("a crash after an earlier call is told from one of chance", "[suite]") {
  int calls_of_process = 0;
  Fake subject(narrow_claims(), [&](Call& call) {
    return calls_of_process++ == 0 ? right(call) : Reply{ReplyKind::crashed, ROPE_FAILED, "it is gone", 0};
  });
  subject.forget = [&] { calls_of_process = 0; };
  const RequirementResult result = judged(subject, "ROT-01");
  REQUIRE(result.failure);
  CHECK(result.failure->needs_earlier_calls);
  CHECK(result.failure->held_again == 0);
  CHECK(result.failure->minimal.before.size() == 1);
  CHECK_THAT(explain(*result.failure), Contains("without the calls before it the case passes"));
}

TEST_CASE("a kernel that dies is given up after three deaths a requirement, or one if a process is dear", "[suite]") {
  for (const bool compiled : {true, false}) {
    Claims claims = narrow_claims();
    claims.compiled = compiled;
    Fake subject(claims, [](Call&) { return Reply{ReplyKind::crashed, 0, "it is gone", 0}; });
    const SubjectReport report = run(subject);
    std::int64_t judged = 0;
    for (const RequirementResult& result : report.results) {
      CHECK(result.cases <= (compiled ? 3 : 1));
      if (result.cases == 0) continue;
      ++judged;
      CHECK(result.verdict == (result.is_must ? Verdict::fail : Verdict::note));
      CHECK(result.failure->finding.kind == FailureKind::crash);
    }
    // Each call is a process: if that takes seconds, only the first failure of a run is shrunk.
    CHECK(judged >= 20);
    CHECK(subject.calls < (compiled ? 30 * judged : judged + 40));
  }
}

TEST_CASE("a call that hung in one process and not in the next fails STA-03 from the second one on", "[suite]") {
  for (const std::int64_t hangs : {0, 1, 2, 5}) {
    std::int64_t calls = 0;
    Fake subject(narrow_claims(), [&](Call& call) {
      Reply reply = right(call);
      // All of them before STA-03 asks.
      reply.succeeded_on_retry = ++calls <= 7 * hangs && calls % 7 == 0;
      return reply;
    });
    SuiteOptions how = options();
    how.selection.only = {"ROT-01", "ROT-02", "STA-03"};
    const SubjectReport report = run(subject, how);
    INFO(hangs);
    CHECK(report.recovered_hangs == hangs);
    REQUIRE(report.results.size() == 3);
    const RequirementResult& returns = report.results.back();
    CHECK(report.results[0].verdict == Verdict::pass);
    CHECK(returns.verdict == (hangs < 2 ? Verdict::pass : Verdict::fail));
    CHECK(report.conforms() == (hangs < 2));
    if (hangs < 2) continue;
    REQUIRE(returns.failure);
    CHECK(returns.failure->finding.kind == FailureKind::timeout);
    CHECK_THAT(
        returns.failure->finding.message,
        Contains(std::to_string(hangs) + " of " + std::to_string(report.calls) + " calls did not return in time"));
    how.expected_failures["STA-03"] = {"known"};
    calls = 0;
    CHECK(run(subject, how).results.back().verdict == Verdict::expected_failure);
  }
}

TEST_CASE("STA-03 asks often enough for a hang in every 50th call", "[suite]") {
  std::int64_t calls = 0;
  Claims claims = narrow_claims();
  claims.compiled = true;
  Fake subject(claims, [&](Call& call) {
    Reply reply = right(call);
    reply.succeeded_on_retry = ++calls % 50 == 0;
    return reply;
  });
  SuiteOptions how = options();
  how.selection.only = {"STA-03"};
  CHECK(run(subject, how).results.back().verdict == Verdict::fail);
}

}  // namespace
}  // namespace rope
