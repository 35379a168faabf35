// What a kernel raises is a class of its own.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/diagnose/subjects.hpp"

using namespace rope;
using namespace rope::test;

namespace {

Reply raised(bool in_adapter = false) {
  return {ReplyKind::done, ROPE_FAILED, "raised ValueError: no\nTraceback", 0, {}, {},
          Raised{"ValueError: no", "rope.py:12", in_adapter}};
}

// A right kernel that raises in the calls of which `when` is true.
Fake raising(const std::function<bool(const Call&)>& when, const Reply& reply = raised()) {
  const std::shared_ptr<Fake> kernel(new Fake(with_modified_call([](Call&) {})));
  return Fake(kernel->claims(), [=](Call& call) { return when(call) ? reply : kernel->apply(call); });
}

}  // namespace

TEST_CASE("A kernel that always raises is told by what it raises") {
  Fake subject = raising([](const Call&) { return true; });
  // By itself, MEM-01 would speak for memory.
  for (const std::vector<std::string>& only : {std::vector<std::string>{"ROT-01", "SHP-01"}, {"MEM-01"}}) {
    const auto found = diagnosed(subject, only);
    CHECK(first_of(found).bug_class == BugClass::exception);
    CHECK(first_of(found).sentence == "the kernel raises ValueError: no (rope.py:12)");
    CHECK(first_of(found).condition.empty());
    CHECK(found->certain);
    CHECK(found->trigger == "any call");
    for (const Candidate& c : found->candidates) CHECK(c.bug_class == BugClass::exception);
  }
}

TEST_CASE("The condition under which a kernel raises is told, and no other") {
  Fake subject = raising([](const Call& call) { return call.in_place; });
  const auto found = diagnosed(subject, {"ROT-01", "MEM-04"});
  CHECK(first_of(found).bug_class == BugClass::exception);
  CHECK(first_of(found).condition == "only in place");
  CHECK(found->certain);
}

TEST_CASE("An exception in calls that the diagnosis does not repeat is told as well") {
  Fake subject = raising([](const Call& call) { return call.q.count() == 0; });
  const auto found = diagnosed(subject, {"ROT-01", "SHP-06"});
  CHECK(first_of(found).bug_class == BugClass::exception);
}

TEST_CASE("An exception of the adapter is not blamed on the kernel") {
  Fake subject = raising([](const Call&) { return true; }, raised(true));
  CHECK(first_of(diagnosed(subject)).sentence ==
        "the adapter's code, not the kernel's, raises ValueError: no (rope.py:12)");
}

TEST_CASE("A C++ exception that escapes does not speak for memory") {
  Reply reply = raised();
  reply.kind = ReplyKind::misbehaved;
  Fake subject = raising([](const Call&) { return true; }, reply);
  CHECK(first_of(diagnosed(subject, {"ROT-01", "MEM-02"})).bug_class == BugClass::exception);
}

TEST_CASE("Wrong values and an exception are both told") {
  const std::shared_ptr<Fake> wrong(
      new Fake(with_modified_call([](Call& call) { call.direction = Direction::forward; })));
  Fake subject(wrong->claims(), [=](Call& call) { return call.in_place ? raised() : wrong->apply(call); });
  const auto found = diagnosed(subject, {"ROT-01", "MEM-04", "BWD-01"});
  REQUIRE(found);
  REQUIRE(found->candidates.size() >= 2);
  CHECK(std::ranges::count(found->candidates, BugClass::exception, &Candidate::bug_class) == 1);
}

TEST_CASE("That any call fails does not stand beside a condition") {
  // The plainest call has one token.
  Fake subject = raising([](const Call& call) { return call.q.shape[1] == 1; });
  const auto found = diagnosed(subject);
  CHECK(first_of(found).condition == "only one token");
  CHECK(found->trigger.empty());
}

TEST_CASE("A write that most calls make is told in its own words, not as the requirement's that asks for it") {
  // As on a device: the values are right, and the write was found afterwards.
  Fake subject(all_claims(), [](Call& call) {
    Reply reply = computed(call);
    reply.kind = ReplyKind::misbehaved;
    reply.detail = "wrote beyond the memory of q_out, byte 0 after its pages";
    return reply;
  });
  const auto found = diagnosed(subject, {"ROT-01", "ROT-03", "MEM-02"});
  CHECK(first_of(found).sentence == "wrote beyond the memory of q_out, byte 0 after its pages");
  CHECK(found->unexplained.empty());
}

TEST_CASE("A cause is named only with evidence that is told") {
  // Stopped in each call one element past the end of q: no row can be compared.
  Fake subject(all_claims(), [](Call& call) {
    const auto size = static_cast<std::int64_t>(call.q.bytes.size() / size_of(call.q.dtype));
    return Reply{ReplyKind::misbehaved, ROPE_FAILED, "read 1 element past the end of q", 0,
                 OutsideAccess{"q", false, size}};
  });
  const auto found = diagnosed(subject);
  REQUIRE(found);
  INFO(found->evidence);
  CHECK_FALSE(found->evidence.starts_with("predicts 0 of"));
}
