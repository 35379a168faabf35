// A cause is confirmed in cases that have little more in common than what it needs.
#include <cmath>
#include <limits>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/rivals.hpp"
#include "tools/diagnose/predicted_outcome.hpp"
#include "tools/judge/case/fields.hpp"

using namespace rope;
using namespace rope::test;

namespace {

constexpr char multiplied[] = "pass-through features are multiplied by the attention factor";

Fake multiplying(const std::function<bool(const Call&)>& is_wrong) {
  return altered([is_wrong](const ResultElement& e) {
    return e.feature >= e.call.rotary_dim && is_wrong(e.call) ? e.call.attention_factor * e.x : e.y;
  });
}

std::size_t fields_in_which_differ(const Case& one, const Case& other) {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields(), [&](const Field& field) { return field.text.print(one) != field.text.print(other); }));
}

}  // namespace

TEST_CASE("A condition that few cases need is found by those that have only the rest in common") {
  Fake subject = multiplying(
      [](const Call& call) { return call.direction == Direction::backward && call.q.dtype == call.q_result().dtype; });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == multiplied);
  CHECK(first_of(found).condition == "only backward, an output of the type of q");
  CHECK(found->certain);
}

TEST_CASE("A cause whose condition has no words is not certain, and the evidence says how often it fails") {
  Fake subject = multiplying([](const Call& call) {
    return call.direction == Direction::backward && (call.q.shape[0] + call.q.shape[1] + call.q.shape[2]) % 11 != 0;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == multiplied);
  CHECK_FALSE(found->certain);
  CHECK_THAT(found->evidence, Catch::Contains(" cases drawn to test it went otherwise"));
}

TEST_CASE("Cases that confirm a cause are unlike those that failed, and it calls each of them wrong") {
  using namespace diagnosis;
  Fake subject = multiplying([](const Call& call) { return call.direction == Direction::backward; });
  Evidence evidence(subject);
  ScoredHypothesis cause;
  cause.hypothesis = &that_says(multiplied);
  cause.condition = {{Circumstance::backward}};
  Rivals rivals(evidence.report, evidence.seen, evidence.examiner);
  const std::vector<Case> cases = rivals.confirming(cause);
  REQUIRE(cases.size() == 48);
  std::size_t unlike = 0;
  for (const Case& c : cases) {
    const auto one = observe(c, evidence.examiner);
    const PredictedOutcome said(*one, cause);
    CHECK(said.says_wrong());
    INFO(to_text(c));
    CHECK(said.is_so());
    CHECK(one->failed());
    std::size_t least = fields().size();
    for (const auto& other : evidence.seen) {
      if (other->failed()) least = std::min(least, fields_in_which_differ(c, other->c));
    }
    unlike += least >= 5 ? 1 : 0;
  }
  CHECK(unlike >= cases.size() / 2);
  cause.condition = {{Circumstance::forward}};
  const std::vector<Case> others = rivals.confirming(cause);
  const auto went_otherwise = [&](const Case& c) {
    return !PredictedOutcome(*observe(c, evidence.examiner), cause).is_so();
  };
  // Where one element of a row differs, it may be a slip.
  CHECK(std::ranges::count_if(others, went_otherwise) >= 40);
}

TEST_CASE("A row that is copied is rounded to the type of the output") {
  Fake subject = altered([](const ResultElement& e) {
    const std::vector<std::int64_t> at = token_position(e.call, e.row.batch, e.row.seq);
    const bool is_at_0 = std::ranges::all_of(at, [](std::int64_t m) { return m == 0; });
    return is_at_0 && e.call.attention_factor != 1 ? e.x : e.y;
  });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence ==
        "tokens at position 0 are left as they are, and not multiplied by the attention factor");
  CHECK(first_of(found).condition.empty());
  CHECK(found->certain);
}

TEST_CASE("A row that is copied may be off by the rounding to its type, and no more") {
  Fake subject = with_modified_call([](Call&) {});
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  c.dtype = DType::f64;
  c.out_dtype = DType::f32;
  c.source = AngleSource::computed;
  c.spec.attention_factor = 0.75;
  const auto seen = diagnosis::observe(c, examiner);
  const diagnosis::Prediction said =
      seen->model->predict(that_says("tokens at position 0 are left as they are, and not multiplied by the attention "
                                     "factor")
                               .change);
  for (std::size_t f = 0; f < 64; ++f) {  // of token 0
    CHECK(said.bound[f] >= std::fabs(static_cast<float>(said.value[f]) - said.value[f]));
    CHECK(said.bound[f] <= 1.2e-7 * std::fabs(said.value[f]));
  }
}

TEST_CASE("A value beyond the range of the output's type is predicted to be infinite, with its sign") {
  using namespace diagnosis;
  Fake subject = with_modified_call([](Call&) {});
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  c.dtype = c.out_dtype = DType::f16;
  const auto seen = observe(c, examiner);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Prediction said = seen->right;
  const auto agrees_with = [&](double predicted, double actual) {
    said.value[0] = predicted;
    seen->actual[0] = actual;
    return agrees(*seen, said, 0);
  };
  CHECK(agrees_with(7e4, infinity));  // the largest f16 is 65504
  CHECK(agrees_with(-7e4, -infinity));
  CHECK_FALSE(agrees_with(7e4, -infinity));
  CHECK_FALSE(agrees_with(6e4, infinity));
  CHECK_FALSE(agrees_with(7e4, 65504));
}

TEST_CASE("What fails where one pair turns is tried under the rules that need several pairs, too") {
  using namespace diagnosis;
  Claims claims = narrow_claims();
  claims.capabilities.scalings |= ROPE_BIT(ROPE_SCALING_DYNAMIC) | ROPE_BIT(ROPE_SCALING_LONGROPE);
  Fake subject(claims, [](Call& call) {
    const std::int64_t given = call.sequence_length;
    call.sequence_length = largest_position(call) + 1;
    const Reply reply = right(call);
    call.sequence_length = given;
    return reply;
  });
  Case failing;
  failing.spec.head_dim = failing.spec.rotary_dim = 2;
  failing.spec.scaling = scaling::LongRope{4, 48, {1.25}, {3.5}};
  failing.spec.attention_factor = 1;
  failing.source = AngleSource::computed;
  failing.sequence_length = 1000;
  failing.seq = 6;
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Observations seen;
  seen.push_back(observe(failing, examiner));
  REQUIRE(seen.back()->failed());
  const std::vector<Case> cases = discriminating_cases({}, claims, seen);
  const auto fails_under_dynamic = [&](const Case& c) {
    return std::holds_alternative<scaling::Dynamic>(c.spec.scaling) && observe(c, examiner)->failed();
  };
  CHECK(std::ranges::any_of(cases, fails_under_dynamic));
}

TEST_CASE("A factor that is ignored below 1 is told from one that is always ignored") {
  Fake subject = with_modified_call([](Call& call) { call.attention_factor = std::max(call.attention_factor, 1.0); });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == "the attention factor is ignored");
  CHECK(first_of(found).condition == "only an attention factor below 1");
}
