#include "tools/judge/run/examiner.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "impls/builtin.hpp"
#include "tests/unit/judge/case/any_case.hpp"

namespace rope {
namespace {

using Catch::Contains;

// The right kernel, followed by what a test adds.
class Altered : public KernelSubject {
 public:
  explicit Altered(std::function<Reply(Call&)> after) : KernelSubject(half_split_kernel()), after_(std::move(after)) {}
  Reply apply(Call& call) override {
    KernelSubject::apply(call);
    return after_(call);
  }

 private:
  std::function<Reply(Call&)> after_;
};

Finding accuracy(const Case& c, std::function<Reply(Call&)> after) {
  Altered subject(std::move(after));
  Oracles oracles;
  return Examiner(subject, oracles, nullptr).accuracy(c);
}

Case strided_case() {
  Case c;
  c.layout = Layout::strided;
  c.key_heads = 1;
  return c;
}

TEST_CASE("a right kernel passes, and its calls are counted", "[examiner]") {
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  const Trial trial = examiner.run(strided_case());
  CHECK(trial.ok());
  CHECK(examiner.judge(strided_case(), trial).passed());
  CHECK(examiner.calls() == 1);
  CHECK(examiner.accuracy(Case{}).passed());
  CHECK(examiner.calls() == 2);
}

TEST_CASE("a trial keeps the inputs as they were, in place too", "[examiner]") {
  KernelSubject subject(half_split_kernel());
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  c.in_place = true;
  c.start = 5;
  const Call before = examiner.build(c);
  const Trial trial = examiner.run(c);
  CHECK(trial.q.bytes == before.q.bytes);
  CHECK(trial.call.q.bytes != before.q.bytes);
  CHECK(examiner.judge(c, trial).passed());
}

// Has room for one tensor, and counts what is asked of it.
class OneRoom final : public TensorMemory {
 public:
  std::shared_ptr<std::byte[]> room(std::size_t bytes, std::size_t element) override {
    asked.push_back(bytes);
    CHECK(element == sizeof(float));
    if (asked.size() > 1) return nullptr;
    std::shared_ptr<std::byte[]> made(new std::byte[bytes]);
    one = made.get();
    return made;
  }

  std::vector<std::size_t> asked;
  const std::byte* one = nullptr;
};

TEST_CASE("large inputs lie where the subject has room for them, outputs and others do not", "[examiner]") {
  class InOneRoom : public KernelSubject {
   public:
    InOneRoom() : KernelSubject(half_split_kernel()) {}
    TensorMemory* tensor_memory() override { return &memory; }
    OneRoom memory;
  } subject;
  Oracles oracles;
  Examiner examiner(subject, oracles, nullptr);
  Case c;
  examiner.build(c);
  CHECK(subject.memory.asked.empty());
  c.spec.head_dim = 128;
  c.spec.rotary_dim = 32;  // its tables are not large
  c.seq = static_cast<int>(large_tensor / 512);
  c.heads = 1;
  c.key_heads = 2;
  for (const Layout layout : {Layout::contiguous, Layout::strided}) {
    subject.memory.asked.clear();
    c.layout = layout;
    const Call call = examiner.build(c);
    CHECK(subject.memory.asked.size() == 2);
    CHECK(call.q.bytes.data() == subject.memory.one);
    CHECK(call.k->bytes.data() != nullptr);
    CHECK(call.q.bytes == build_call(c, oracles).q.bytes);
    CHECK(call.k->bytes == build_call(c, oracles).k->bytes);
  }
  subject.memory.asked.clear();
  c.in_place = true;
  examiner.build(c);
  CHECK(subject.memory.asked.empty());
}

TEST_CASE("a byte written between the rows of q or k is found", "[examiner]") {
  const auto spill = [](Tensor& tensor) {
    tensor.bytes[0] = std::byte{0};  // origin is 3: this byte is in no element
    return Reply{};
  };
  const Finding in_q = accuracy(strided_case(), [&](Call& call) { return spill(*call.q_out); });
  CHECK(in_q.kind == FailureKind::misbehaviour);
  CHECK_THAT(in_q.message, Contains("wrote into the padding of q: element 0 of its memory"));
  const Finding in_k = accuracy(strided_case(), [&](Call& call) { return spill(*call.k_out); });
  CHECK_THAT(in_k.message, Contains("padding of k"));
  const Finding last = accuracy(strided_case(), [&](Call& call) {
    call.q_out->bytes.back() = std::byte{0};
    return Reply{};
  });
  CHECK(last.kind == FailureKind::misbehaviour);
}

TEST_CASE("every answer that is not ok is a failure that says so", "[examiner]") {
  const auto answers = [](Reply reply) { return accuracy(Case{}, [reply](Call&) { return reply; }); };
  CHECK(answers({}).passed());
  Finding finding = answers({ReplyKind::done, ROPE_INVALID_ARGUMENT, "", 0});
  CHECK(finding.kind == FailureKind::status);
  CHECK(finding.message == "the kernel claims this case and answered invalid_argument");
  CHECK_THAT(answers({ReplyKind::done, 17, "", 0}).message, Contains("17, which is not a rope_status"));
  CHECK_THAT(answers({ReplyKind::done, ROPE_FAILED, "no memory", 0}).message, Contains("answered failed: no memory"));
  CHECK(answers({ReplyKind::crashed, ROPE_OK, "signal 11", 0}).kind == FailureKind::crash);
  CHECK(answers({ReplyKind::timed_out, ROPE_OK, "", 0}).kind == FailureKind::timeout);
  for (const ReplyKind kind : {ReplyKind::done, ReplyKind::misbehaved}) {
    finding = answers({kind, ROPE_FAILED, "raised ValueError: no", 0, {}, {}, Raised{"ValueError: no", "k.py:12"}});
    CHECK(finding.kind == FailureKind::exception);
    CHECK(finding.message == "raised ValueError: no");
    CHECK(finding.raised->place == "k.py:12");
  }
  finding = answers({ReplyKind::misbehaved, ROPE_OK, "wrote to an input", 0});
  CHECK(finding.kind == FailureKind::misbehaviour);
  CHECK(finding.message == "wrote to an input");
}

}  // namespace
}  // namespace rope
