#include "tests/diagnosis/evidence.hpp"

#include <catch2/catch.hpp>

#include "tests/diagnosis/circumstance.hpp"
#include "tests/diagnosis/trigger.hpp"
#include "tests/unit/diagnosis/subjects.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("The access that a crash tells of is read from its sentence") {
  const auto access = [](const char* message) {
    Finding finding;
    finding.message = message;
    return diagnosis::access_of(finding);
  };
  const auto past = access("read 3 elements past the end of q (element 10 of 8), in k.so+0x10 (SIGSEGV)");
  REQUIRE(past);
  CHECK(past->tensor == "q");
  CHECK_FALSE(past->write);
  CHECK(past->element == 10);
  const auto row = access("read cos at row 9, beyond its 5 rows (SIGSEGV)");
  REQUIRE(row);
  CHECK(row->by_row);
  CHECK(row->element == 9);
  CHECK(access("wrote 1 element before the start of k_out (element -1 of 4)")->write);
  CHECK_FALSE(access("aborted"));
}

namespace {

// Stopped where the byte after a tensor may not be read; where it may be, it rotates by the position after.
class ReadsOneMore : public Fake {
 public:
  explicit ReadsOneMore(const char* stopped)
      : Fake(all_claims(), [=](Call&) {
          return Reply{ReplyKind::crashed, ROPE_FAILED, stopped, 0};
        }) {}
  Reply apply_at_start(Call& call) override {
    call.position_offset += 1;
    return right(call);
  }
};

}  // namespace

TEST_CASE("A call that was stopped at a read past the end is looked at for its values, any other is not") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 8;
  c.source = AngleSource::computed;
  const auto beyond = [&](const char* stopped) {
    ReadsOneMore subject(stopped);
    Oracles oracles;
    Examiner examiner(subject, oracles, nullptr);
    const auto seen = diagnosis::observe(c, examiner);
    REQUIRE_FALSE(seen->answered());
    const auto again = diagnosis::observe_beyond(*seen, examiner);
    return again && again->answered() && again->failed();
  };
  CHECK(beyond("read 1 element past the end of positions (element 3 of 3)"));
  CHECK_FALSE(beyond("wrote 1 element past the end of q_out (element 64 of 64)"));
  CHECK_FALSE(beyond("read 1 element before the start of q (element -1 of 64)"));
  CHECK_FALSE(beyond("aborted"));
}

TEST_CASE("What parts rows is found: the circumstance, not a quantity that does it by chance") {
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
  CHECK(condition[0].words == "in place");
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
  CHECK(trigger.needed == std::vector<std::string>{"in place", "angles from computed", "position 300"});
}
