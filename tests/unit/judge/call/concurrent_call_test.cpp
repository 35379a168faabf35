// Two calls at once: results that shared scratch memory spoils, and the message if either call goes wrong.
#include "tools/judge/call/concurrent_call.hpp"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "impls/builtin.hpp"
#include "tests/conformance/requirements.hpp"
#include "tests/unit/judge/run/replayed.hpp"
#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/judge/case/coverage.hpp"
#include "tools/judge/run/kernel_subject.hpp"
#include "tools/judge/run/suite.hpp"

namespace rope {
namespace {

using Catch::StartsWith;

WorkerOptions impatient() {
  WorkerOptions options;
  options.first_call_deadline = options.deadline = options.wall_deadline = std::chrono::milliseconds(2000);
  return options;
}

Call companion_at(std::int64_t offset) {
  Call call = small_call();
  call.position_offset = offset;
  for (std::int64_t i = 0; i < call.cos->count(); ++i) {
    element(*call.cos, i) = 0.25F;
    element(*call.sin, i) = -0.75F;
  }
  return call;
}

bool same(const Call& a, const Call& b) {
  return a.q.bytes == b.q.bytes && a.q_out->bytes == b.q_out->bytes && a.cos->bytes == b.cos->bytes;
}

TEST_CASE("concurrent call: a kernel with shared scratch memory is right in a solo call and wrong beside another") {
  const auto subject = open_library(misbehaving, "shared_scratch", impatient());
  Call alone = small_call();
  CHECK(subject->apply(alone).status == ROPE_OK);
  CHECK(is_right(alone));

  bool lost = false;
  for (int i = 0; i < 20 && !lost; ++i) {  // it is a race
    Call judged = small_call();
    Call companion = companion_at(3);
    const Call before = companion;
    const std::optional<Reply> reply = subject->apply_concurrently(judged, companion);
    REQUIRE(reply);
    CHECK(reply->kind == ReplyKind::done);
    CHECK(reply->status == ROPE_OK);
    CHECK(reply->detail.empty());
    CHECK(reply->nanoseconds > 0);
    CHECK(same(companion, before));
    lost = !is_right(judged);
  }
  CHECK(lost);

  Call after = small_call();
  CHECK(subject->apply(after).status == ROPE_OK);
  CHECK(is_right(after));
}

TEST_CASE("concurrent call: a right kernel is right every time, also with a changing companion") {
  const auto subject = open_library(misbehaving, "right", impatient());
  for (const std::int64_t offset : {0, 0, 7, 9}) {
    Call judged = small_call();
    Call companion = companion_at(offset);
    const std::optional<Reply> reply = subject->apply_concurrently(judged, companion);
    REQUIRE(reply);
    CHECK(reply->status == ROPE_OK);
    CHECK(is_right(judged));
    Call alone = small_call();
    CHECK(subject->apply(alone).status == ROPE_OK);
    CHECK(is_right(alone));
  }
}

TEST_CASE("concurrent call: an error in either call is reported, with the call") {
  struct Expected {
    std::int64_t offset;
    ReplyKind kind;
    std::string sentence;
    const char* of_companion;
  };
  const std::string other = " of the concurrent call";
  const Expected all[] = {
      {1, ReplyKind::misbehaved, "wrote 1 element past the end of q_out", " (element 1024 of 1024)"},
      {2, ReplyKind::crashed, "overflowed its stack, in misbehaving.so+0x", ""},
      {3, ReplyKind::timed_out, "did not return within 2 s; its process was killed", ""},
      {5, ReplyKind::misbehaved, "wrote to the input q", " at [0, 1, 0, 5]; inputs must stay as they are"},
  };
  for (const Expected& expected : all) {
    CAPTURE(expected.sentence);
    const auto subject = open_library(misbehaving, "by_offset", impatient());
    const bool names_tensor = expected.kind == ReplyKind::misbehaved;
    Call wrong = companion_at(expected.offset);
    Call right = small_call();
    const std::optional<Reply> first = subject->apply_concurrently(wrong, right);
    REQUIRE(first);
    CHECK(first->kind == expected.kind);
    CHECK_THAT(first->detail, StartsWith(expected.sentence + (names_tensor ? expected.of_companion : "")));
    const std::optional<Reply> second = subject->apply_concurrently(right, wrong);
    REQUIRE(second);
    CHECK(second->kind == expected.kind);
    CHECK_THAT(second->detail, StartsWith(expected.sentence + (names_tensor ? other + expected.of_companion : "")));
  }
}

TEST_CASE("concurrent call: a status of either call is the answer") {
  const auto subject = open_library(misbehaving, "by_offset", impatient());
  Call refused = companion_at(4);
  Call right = small_call();
  CHECK(subject->apply_concurrently(refused, right)->status == ROPE_UNSUPPORTED);
  const std::optional<Reply> reply = subject->apply_concurrently(right, refused);
  CHECK(reply->status == ROPE_UNSUPPORTED);
  CHECK(reply->detail == "the concurrent call was answered so");
}

TEST_CASE("concurrent call: in place each run finds the inputs as they were") {
  Call judged = small_call();
  Call expected = small_call();
  judged.in_place = true;
  judged.q_out.reset();
  Call companion = judged;
  const auto check = [&](Subject& subject) {
    Call call = judged;
    Call other = companion;
    CHECK(subject.apply(expected).status == ROPE_OK);
    const std::optional<Reply> reply = subject.apply_concurrently(call, other);
    REQUIRE(reply);
    CHECK(reply->status == ROPE_OK);
    CHECK(call.q.bytes == expected.q_out->bytes);
    CHECK(other.q.bytes == companion.q.bytes);
  };
  check(*open_library(build_folder() / "mutants.so", "none"));
  KernelSubject in_process(half_split_kernel());
  check(in_process);
}

// In this process: the scratch of a trusted kernel. Atomic, so that the thread sanitizer reports only our own races.
std::int32_t with_scratch(const rope_call* call) {
  static std::atomic<float> factor;
  const auto rows = call->q.shape[0] * call->q.shape[1] * call->q.shape[2] * call->q.shape[3];
  for (std::int64_t i = 0; i < rows; ++i) {
    factor = static_cast<const float*>(call->table.cos)[0];
    std::this_thread::yield();
    static_cast<float*>(call->q_out.data)[i] = static_cast<const float*>(call->q.data)[i] * factor;
  }
  return ROPE_OK;
}

TEST_CASE("concurrent call: a race in this process is seen, and one that throws ends both threads") {
  rope_kernel racing = half_split_kernel();
  racing.apply = with_scratch;
  KernelSubject subject(racing);
  Call alone = small_call();
  CHECK(subject.apply(alone).status == ROPE_OK);
  Call judged = small_call();
  Call companion = companion_at(0);
  bool lost = false;
  for (int i = 0; i < 20 && !lost; ++i) {
    CHECK(subject.apply_concurrently(judged, companion)->status == ROPE_OK);
    lost = judged.q_out->bytes != alone.q_out->bytes;
  }
  CHECK(lost);

  const rope_call one = bind(judged);
  const rope_call two = bind(companion);
  for (const void* thrower : {one.q.data, two.q.data}) {
    const auto apply = [&](const rope_call* call) -> std::int32_t {
      if (call->q.data == thrower) throw std::runtime_error("no");
      return ROPE_OK;
    };
    CHECK_THROWS_WITH(run_concurrently(apply, one, two), "no");
  }
}

Finding undisturbed(const std::filesystem::path& library, const std::string& kernel) {
  const auto subject = open_library(library, kernel, impatient());
  Oracles oracles;
  Examiner examiner(*subject, oracles, nullptr);
  const Case c = case_from_text("DET-03:head_dim=64,batch=1,seq=16,heads=4,start=40,source=tables,given=f32");
  REQUIRE(uncovered(c, subject->claims()).empty());
  // In a solo run each of them is right.
  CHECK(requirement_called("ROT-01").check(c, examiner).passed());
  return requirement_called("DET-03").check(c, examiner);
}

TEST_CASE("concurrent call: DET-03 rejects shared scratch memory in a library, and no right kernel") {
  const std::filesystem::path mutants = build_folder() / "mutants.so";
  const auto is_rejected = [](const std::filesystem::path& library, const std::string& kernel) {
    for (int i = 0; i < 5; ++i) {  // it is a race
      if (undisturbed(library, kernel).kind == FailureKind::value) return true;
    }
    return false;
  };
  CHECK(is_rejected(misbehaving, "shared_scratch"));
  CHECK(is_rejected(mutants, "DET-SCRATCH"));
  CHECK(undisturbed(misbehaving, "right").passed());
  CHECK(undisturbed(mutants, "none").passed());
}

TEST_CASE("concurrent call: the minimal case of a race shows it again in the replay") {
  const auto subject = open_library(misbehaving, "shared_scratch", impatient());
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"DET-03"};
  const RequirementResult result = run_suite(*subject, oracles, all_requirements(), how).results.at(0);
  REQUIRE(result.failure);
  // Nothing is left of an earlier call; only chance could make it seem so.
  CHECK_FALSE(result.failure->needs_earlier_calls);
  int lost = 0;
  for (int i = 0; i < 10; ++i) lost += replayed(result.failure->minimal, *subject, oracles, nullptr).passed() ? 0 : 1;
  CHECK(lost >= 3);
}

TEST_CASE("concurrent call: a worker that does not offer it gets no concurrent calls") {
  worker::Launch launch;
  launch.arguments = {starts_quickly, (source_folder() / "tests/unit/worker/page_worker.py").string()};
  Call call = small_call();
  Call companion = small_call();
  CHECK_FALSE(open_worker(launch, "", {})->apply_concurrently(call, companion));
}

}  // namespace
}  // namespace rope
