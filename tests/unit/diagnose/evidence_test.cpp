#include "tools/diagnose/evidence.hpp"

#include <catch2/catch.hpp>

#include "tests/unit/diagnose/subjects.hpp"
#include "tools/diagnose/literal.hpp"
#include "tools/diagnose/trigger.hpp"

using namespace rope;
using namespace rope::test;

namespace {

// Stopped if the byte after a tensor may not be read. If it may be read, the kernel rotates by the next position.
class ReadsOneMore : public Fake {
 public:
  explicit ReadsOneMore(std::optional<OutsideAccess> access)
      : Fake(all_claims(), [=](Call&) {
          return Reply{ReplyKind::crashed, ROPE_FAILED, "stopped", 0, access};
        }) {}
  Reply apply_at_start(Call& call) override {
    call.position_offset += 1;
    return right(call);
  }
};

}  // namespace

TEST_CASE("A call stopped at a read past the end is run for its values, any other is not") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.source = AngleSource::computed;
  const auto beyond = [&](std::optional<OutsideAccess> access) {
    ReadsOneMore subject(access);
    Oracles oracles;
    Examiner examiner(subject, oracles, nullptr);
    const auto seen = diagnosis::observe(c, examiner);
    REQUIRE_FALSE(seen->answered());
    const auto again = diagnosis::observe_beyond(*seen, examiner);
    return again && again->answered() && again->failed();
  };
  CHECK(beyond(OutsideAccess{"positions", false, 3}));
  CHECK_FALSE(beyond(OutsideAccess{"q_out", true, 64}));
  CHECK_FALSE(beyond(OutsideAccess{"q", false, -1}));
  CHECK_FALSE(beyond(std::nullopt));
}

TEST_CASE("The circumstance that separates rows is found, not a quantity that does so by chance") {
  Fake subject = misled([](Call&) {});
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  std::vector<std::unique_ptr<diagnosis::Observation>> seen;
  std::vector<diagnosis::SeenRow> with, without;
  for (int i = 0; i < 8; ++i) {
    Case c;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    c.seq = 1 + i % 3;
    c.in_place = i % 2 == 0;
    seen.push_back(diagnosis::observe(c, examiner));
    CHECK_FALSE(seen.back()->failed());
    (c.in_place ? with : without).push_back({seen.back().get(), 0, 1});
  }
  const auto condition = diagnosis::separate(with, without);
  REQUIRE(condition.size() == 1);
  CHECK(condition[0].is(diagnosis::Circumstance::in_place));
  CHECK(diagnosis::separate(with, {}).empty());
}

TEST_CASE("The trigger is the smallest set, and the smallest position is found by halving") {
  Fake subject = misled([](Call& call) {
    if (call.in_place && call.position_offset >= 300 && call.source != AngleSource::tables) ++call.position_offset;
  });
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  c.requirement = "ROT-01";
  c.spec.head_dim = c.spec.rotary_dim = 64;
  c.batch = 2;
  c.heads = 3;
  c.source = AngleSource::computed;
  c.in_place = true;
  c.layout = Layout::strided;
  c.start = 5000;
  const diagnosis::Trigger trigger = diagnosis::isolate(c, examiner);
  CHECK(trigger.c.start == 300);
  CHECK(trigger.c.batch == 1);
  CHECK(trigger.c.layout == Layout::contiguous);
  CHECK(trigger.needed == std::vector<std::string>{"in place", "computed angles", "position 300"});
}
