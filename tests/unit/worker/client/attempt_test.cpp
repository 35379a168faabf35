// What follows from a hang, without a process.
#include "tools/worker/client/attempt.hpp"

#include <catch2/catch.hpp>
#include <optional>

namespace rope::worker {
namespace {

using std::chrono::milliseconds;

constexpr TimeLimits usual_limits{milliseconds(10'000), milliseconds(20'000), milliseconds(30'000)};
constexpr TimeLimits shorter_limits{milliseconds(1000), milliseconds(20'000), milliseconds(30'000)};

Attempt hang(bool computed) {
  return {
      {ReplyKind::timed_out, ROPE_FAILED, "did not return; its process was killed", 0}, usual_limits, computed, true};
}
Attempt answer(std::int32_t status = ROPE_OK) { return {{ReplyKind::done, status, "", 0}, usual_limits}; }

struct Settled {
  Reply reply;
  std::optional<TimeLimits> second;  // of the second attempt, if there was one
};

Settled settle(const Attempt& first, EarlierHangs& earlier, const Attempt& second) {
  Settled result;
  result.reply = settled(first, shorter_limits, earlier, [&](const TimeLimits& limits) {
    result.second = limits;
    return second;
  });
  return result;
}

TEST_CASE("attempt: an answer, and a crash, are made once", "[attempt]") {
  AdaptiveDeadline patience;
  EarlierHangs earlier{patience};
  for (const Attempt& first :
       {answer(), answer(ROPE_UNSUPPORTED), Attempt{{ReplyKind::crashed, ROPE_FAILED, "x", 0}}}) {
    const Settled once = settle(first, earlier, answer());
    CHECK(once.reply.kind == first.reply.kind);
    CHECK_FALSE(once.second);
    CHECK_FALSE(once.reply.succeeded_on_retry);
  }
  CHECK_FALSE(patience.is_lost());
}

TEST_CASE("attempt: a hang counts if it is one again, and then no call gets as long", "[attempt]") {
  AdaptiveDeadline patience;
  EarlierHangs earlier{patience};
  const Settled twice = settle(hang(false), earlier, hang(false));
  CHECK(twice.reply.kind == ReplyKind::timed_out);
  CHECK(twice.reply.detail == "did not return; its process was killed, twice in a row");
  CHECK(twice.second->computing == usual_limits.computing);
  CHECK(patience.is_lost());
  CHECK(earlier.recovered == 0);
}

TEST_CASE("attempt: a hang that the second process does not repeat is a remark on its answer", "[attempt]") {
  AdaptiveDeadline patience;
  EarlierHangs earlier{patience};
  const Settled recovered = settle(hang(true), earlier, answer());
  CHECK(recovered.reply.detail == "did not return within 10 s; tried again in a new process, it did");
  CHECK(recovered.reply.succeeded_on_retry);
  CHECK(recovered.second->computing == shorter_limits.computing);  // what computed all along compiles no longer
  CHECK(settle(hang(false), earlier, answer()).reply.detail ==
        "did not return within 20 s; tried again in a new process, it did");
  const Settled refused = settle(hang(true), earlier, answer(ROPE_UNSUPPORTED));
  CHECK(refused.reply.detail.empty());
  CHECK(refused.reply.succeeded_on_retry);
  CHECK(earlier.recovered == 3);
  CHECK_FALSE(patience.is_lost());
}

TEST_CASE("attempt: after three recovered hangs the next one counts at once", "[attempt]") {
  AdaptiveDeadline patience;
  EarlierHangs earlier{patience, 2};
  CHECK(settle(hang(false), earlier, answer()).second);
  const Settled fourth = settle(hang(false), earlier, answer());
  CHECK_FALSE(fourth.second);
  CHECK(fourth.reply.kind == ReplyKind::timed_out);
  CHECK(patience.is_lost());
}

TEST_CASE("attempt: where a call hung for certain, one that computed all along is not tried again", "[attempt]") {
  AdaptiveDeadline patience;
  EarlierHangs earlier{patience};
  patience.lose();
  CHECK_FALSE(settle(hang(true), earlier, answer()).second);
  CHECK(settle(hang(false), earlier, answer()).second);  // it slept: the machine may have been to blame
}

}  // namespace
}  // namespace rope::worker
