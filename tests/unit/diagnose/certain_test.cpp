// When a diagnosis is certain.
#include "tests/unit/diagnose/loops.hpp"
#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/rivals.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// Right, but for the calls that `is_wrong` names: there theta is multiplied.
Loops with_theta(std::function<bool(const Call&)> is_wrong, double by) {
  Loops loops;
  loops.theta = [right = loops.theta, is_wrong = std::move(is_wrong), by](const Call& call, std::int64_t position,
                                                                          int pair) {
    return right(call, position, pair) * (is_wrong(call) ? by : 1);
  };
  return loops;
}

}  // namespace

TEST_CASE("A limit is narrowed down to the value from which on the kernel is right, and is certain then") {
  Fake subject = with_theta([](const Call& call) { return call.q.shape[1] <= 22; }, 0.5).kernel();
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == "theta is halved");
  CHECK(first_of(found).condition == "only number of tokens 22 or less");
  CHECK(found->certain);
}

TEST_CASE("A limit is tried where it must not hold: in failing cases just beyond it") {
  using namespace diagnosis;
  Fake subject = with_theta([](const Call&) { return true; }, 0.5).kernel();
  Evidence evidence(subject);
  std::int64_t most = 0;  // tokens of a failing case
  for (const auto& one : evidence.seen) most = std::max<std::int64_t>(most, one->failed() ? one->c.seq : 0);
  ScoredHypothesis cause;
  cause.hypothesis = &that_says("theta is halved");
  cause.fit = 1;
  const std::int64_t wrong_limit = most + 100;
  cause.condition = {{Quantity::number_of_tokens, Comparison::at_most, wrong_limit}};
  const std::vector<Case> asked = Rivals(evidence.report, evidence.seen, evidence.examiner).deciding({cause}, 0.95);
  CHECK(std::ranges::any_of(asked, [&](const Case& c) { return c.seq == wrong_limit + 1; }));
}

TEST_CASE("A cause whose limit stays open is not certain, however well it fits") {
  Fake subject = with_theta([](const Call& call) { return call.sequence_length < 77'777; }, 0.5).kernel();
  const auto found = diagnosed(subject);
  CHECK(first_of(found).sentence == "theta is halved");
  CHECK(first_of(found).fit > 0.95);
  CHECK_FALSE(found->certain);
}

TEST_CASE("What only a requirement suggests is not certain") {
  // Only calls that are too large to be looked at are wrong.
  Fake subject = with_theta([](const Call& call) { return call.q.count() >= (1 << 16); }, 3.7).kernel();
  const auto found = diagnosed(subject, {"SHP-01"});
  CHECK(first_of(found).sentence == "tokens, batches or heads beyond a limit of the launch are left out");
  CHECK(found->unexplained.empty());
  CHECK_FALSE(found->certain);
}

TEST_CASE("What is said of one head, token or batch only names one place; a number of them or a position does not") {
  using namespace diagnosis;
  CHECK(Literal{Quantity::head, Comparison::equal, 1}.names_one_place());
  CHECK(Literal{Quantity::token, Comparison::equal, 0}.names_one_place());
  CHECK(Literal{Quantity::batch, Comparison::equal, 1}.names_one_place());
  CHECK_FALSE(Literal{Quantity::head, Comparison::at_least, 1}.names_one_place());
  CHECK_FALSE(Literal{Quantity::number_of_heads, Comparison::equal, 2}.names_one_place());
  CHECK_FALSE(Literal{Quantity::position, Comparison::equal, 65536}.names_one_place());
  CHECK_FALSE(Literal{Circumstance::in_k}.names_one_place());
}

TEST_CASE("A limit that no case shows exactly keeps a diagnosis from being certain") {
  using namespace diagnosis;
  ScoredHypothesis cause;
  const auto at_most = [](std::int64_t limit) {
    return Condition{{Quantity::sequence_length, Comparison::at_most, limit}};
  };
  cause.condition = at_most(1024);
  CHECK_FALSE(Rivals::has_open_limit(cause));
  cause.other_conditions = {at_most(1025)};
  CHECK_FALSE(Rivals::has_open_limit(cause));
  cause.other_conditions = {{{Circumstance::in_place}}, at_most(2000)};
  CHECK(Rivals::has_open_limit(cause));
}

TEST_CASE("A size of blocks that no case tells from another keeps a diagnosis from being certain") {
  using namespace diagnosis;
  ScoredHypothesis cause;
  const auto left_over = [](std::int64_t block) {
    return Condition{{Quantity::token, Comparison::left_over, 0, block}};
  };
  cause.condition = left_over(8);
  cause.other_conditions = {{{Quantity::token, Comparison::at_least, 8}}};
  CHECK_FALSE(Rivals::has_open_limit(cause));
  cause.other_conditions = {left_over(16)};
  CHECK(Rivals::has_open_limit(cause));
}

TEST_CASE("A cause whose condition leaves wrong rows out is not certain, however well it fits") {
  const auto said = [](bool has_other_fault) {
    Claims claims = narrow_claims();
    claims.capabilities.features |= ROPE_BIT(ROPE_FEATURE_IN_PLACE);
    Fake subject(claims, [=](Call& call) {
      const bool is_other = has_other_fault && !call.in_place && call.q.shape[3] == 96 && call.q.shape[1] > 3;
      if (call.in_place) ++call.position_offset;
      const Reply reply = right(call);
      if (call.in_place) --call.position_offset;
      if (is_other && reply.status == ROPE_OK) {  // one row of many
        std::byte* last = row_data(*call.q_out, {call.q.shape[0] - 1, call.q.shape[1] - 1, call.q.shape[2] - 1});
        for (int f = 0; f < 96; ++f) {
          std::byte* element = last + f * feature_step(*call.q_out);
          store(DType::f32, element, load(DType::f32, element) + 0.1 * (f % 5));
        }
      }
      return reply;
    });
    return diagnosed(subject, {"ROT-01"});
  };
  for (const bool has_other_fault : {false, true}) {
    const auto found = said(has_other_fault);
    CHECK(first_of(found).sentence == "position p + 1 is used, not p");
    CHECK(first_of(found).condition == "only in place");
    CHECK(first_of(found).fit > 0.9);
    CHECK(found->certain == !has_other_fault);
  }
}

TEST_CASE("A wrong cause that fits the cases seen by chance is not certain") {
  // One of three tokens is turned half as far again, which no hypothesis says.
  Fake subject = with_modified_call([](Call& call) {
    if (!call.positions) return;
    Tensor& p = *call.positions;
    for (std::int64_t s = 0; s < p.shape[2]; s += 3) {
      const std::int64_t at = s * p.strides[2];
      if (!call.cos) store_integer(p, at, integer_at(p, at) * 3 / 2);
    }
  });
  CHECK_FALSE(diagnosed(subject)->certain);
}
