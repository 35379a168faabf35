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

// Rows of a right kernel, for which a cause holds or does not.
struct Rows {
  std::vector<diagnosis::SeenRow> with, without;

  void add(bool is_with, const std::function<void(Case&)>& change) {
    Case c;
    c.spec.head_dim = c.spec.rotary_dim = 8;
    change(c);
    seen_.push_back(diagnosis::observe(c, examiner_));
    CHECK_FALSE(seen_.back()->failed());
    (is_with ? with : without).push_back({seen_.back().get(), 0, 1});
  }

 private:
  Fake subject_ = with_modified_call([](Call&) {});
  Oracles oracles_;
  Examiner examiner_{subject_, oracles_, nullptr};
  diagnosis::Observations seen_;
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
  Rows rows;
  for (int i = 0; i < 8; ++i) {
    rows.add(i % 2 == 0, [&](Case& c) {
      c.seq = 1 + i % 3;
      c.in_place = i % 2 == 0;
    });
  }
  const auto condition = diagnosis::separate(rows.with, rows.without);
  REQUIRE(condition.size() == 1);
  CHECK(condition[0].is(diagnosis::Circumstance::in_place));
  CHECK(diagnosis::separate(rows.with, {}).empty());
}

// Several tokens leave out most rows, so this is chosen first. In place and backward leave out all of them.
TEST_CASE("A literal that leaves out nothing more than the others is not part of a condition") {
  Rows rows;
  const auto add = [&](bool with, int seq, bool in_place, Direction direction) {
    rows.add(with, [&](Case& c) {
      c.seq = seq;
      c.in_place = in_place;
      c.direction = direction;
    });
  };
  add(true, 3, true, Direction::backward);
  add(true, 5, true, Direction::backward);
  for (int i = 0; i < 2; ++i) add(false, 1, true, Direction::forward);
  for (int i = 0; i < 2; ++i) add(false, 1, false, Direction::backward);
  add(false, 3, false, Direction::backward);
  CHECK(words_of(diagnosis::separate(rows.with, rows.without)) == "only several tokens, in place");
  add(false, 3, true, Direction::forward);
  CHECK(words_of(diagnosis::separate(rows.with, rows.without)) == "only in place, backward");
}

TEST_CASE("Conditions that the rows cannot tell from the one that is named are known") {
  Rows rows;
  const auto add = [&](bool with, int seq, bool in_place) {
    rows.add(with, [&](Case& c) {
      c.seq = seq;
      c.in_place = in_place;
    });
  };
  const auto others = [&](const diagnosis::Condition& condition) {
    std::vector<std::string> words;
    for (const auto& other : diagnosis::others_as_good(condition, rows.with, rows.without)) {
      words.push_back(words_of(other));
    }
    return words;
  };
  const diagnosis::Condition in_place = {{diagnosis::Circumstance::in_place}};
  add(true, 3, true);
  add(true, 4, true);
  add(false, 9, false);
  const std::vector<std::string> first = others(in_place);
  CHECK(std::ranges::count(first, "only number of tokens 4 or less") == 1);
  CHECK(std::ranges::count(first, "only several tokens") == 0);  // holds for the row without, too
  const diagnosis::Condition few = {{diagnosis::Quantity::number_of_tokens, diagnosis::Comparison::at_most, 4}};
  CHECK(std::ranges::count(others(few), "only number of tokens 8 or less") == 1);
  add(false, 4, false);
  const std::vector<std::string> then = others(in_place);
  CHECK(std::ranges::count(then, "only number of tokens 4 or less") == 0);
}

TEST_CASE("A limit stays in a condition only if a row without lies next to it") {
  using namespace diagnosis;
  Rows rows;
  const auto add = [&](bool with, int seq) { rows.add(with, [&](Case& c) { c.seq = seq; }); };
  const Condition few{{Circumstance::forward}, {Quantity::number_of_tokens, Comparison::at_most, 4}};
  add(true, 4);
  add(false, 9);
  CHECK(words_of(without_open_limits(few, rows.without)) == "only forward");
  add(false, 6);
  CHECK(words_of(without_open_limits(few, rows.without)) == "only forward, number of tokens 4 or less");
  CHECK(without_open_limits({few[0]}, rows.without).size() == 1);
}

TEST_CASE("The trigger is the smallest set, and the smallest position is found by halving") {
  Fake subject = with_modified_call([](Call& call) {
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
