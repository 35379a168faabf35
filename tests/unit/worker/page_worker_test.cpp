// A worker that was written only from PROTOCOL.md, and ropecheck's messages if such a worker is wrong.
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

using Catch::Contains;
using Catch::StartsWith;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

const std::filesystem::path folder = source_folder() / "tests/unit/worker";

// `call` is the deadline of a call. Loading has its own: on a busy machine, the start of Python takes a second.
std::unique_ptr<WorkerSubject> open_python(const std::vector<std::string>& words, milliseconds call = 20s,
                                           milliseconds load = 20s) {
  worker::Launch launch;
  launch.arguments = {starts_quickly, "-B", (folder / words.at(0)).string()};
  launch.arguments.insert(launch.arguments.end(), words.begin() + 1, words.end());
  WorkerOptions options;
  options.load_deadline = load;
  options.first_call_deadline = options.deadline = call;
  options.wall_deadline = std::min(call, load);
  return open_worker(launch, "", options);
}

std::string refusal(const char* fault, milliseconds load) {
  try {
    open_python({"broken_worker.py", fault}, 20s, load);
  } catch (const SubjectError& error) {
    return error.what();
  }
  return "(opened)";
}

TEST_CASE("page worker: a worker written only from the protocol's page is understood") {
  const auto subject = open_python({"page_worker.py"});
  CHECK(subject->name() == "page_worker");
  CHECK(subject->claims().has(ROPE_FEATURE_ROBUST));
  for (int i = 0; i < 3; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.status == ROPE_OK);
    CHECK(reply.detail.empty());
    // It rounds once; the kernel in C rounds three times.
    for (std::int64_t p = 0; p < 32; ++p) {
      const double exact = double{element(call.q, p)} * double{element(*call.cos, p)} -
                           double{element(call.q, p + 32)} * double{element(*call.sin, p)};
      CHECK(element(*call.q_out, p) == static_cast<float>(exact));
    }
  }
  Call bad = small_call();
  bad.rotary_dim = 63;
  CHECK(subject->apply(bad).status == ROPE_INVALID_ARGUMENT);
}

TEST_CASE("page worker: a failed start is reported in words") {
  const auto [fault, load, words] = GENERATE(table<const char*, milliseconds, const char*>(
      {{"silent", 1s,
        "did not answer within 1 s while it was loaded, before any call; it mostly slept; --first-deadline 2 gives it"},
       {"no_json", 20s, "the worker's first line is not a JSON object: Hello, I am a kernel"},
       {"no_object", 20s, "the worker's first line is not a JSON object: [1]"},
       {"odd_types", 20s, "the worker's first line cannot be used: "},
       {"deep", 20s, "the worker's first line cannot be used: byte 68: nested 65 deep; allowed are 64 levels"},
       {"patient", 20s, "first_call_s: 86400 s; expected 0 to 3600 s for the first call"},
       {"half_hello", 5s, "the worker's first line has no newline: {\"v\":1,\"op\":\"hel"},
       {"other_version", 20s, "the worker speaks version 2 of the protocol, this ropecheck version 1"},
       {"no_claims", 20s,
        "the worker's hello cannot be used: [json.exception.out_of_range.403] key 'claims' not found"},
       {"odd_claims", 20s, "the kernel's claims cannot be used: \"f31\" is none of f64, f32, f16, bf16"},
       {"wide_base", 20s, "the worker's hello cannot be used: base: 1e+30 is not a whole number from 0 to "},
       {"refuses", 20s, "torch is missing: pip install torch"},
       {"raises", 20s, "IndexError: list index out of range"},
       {"closes_first", 20s, "closed its connection and lived on while it was loaded"}}));
  INFO(fault);
  CHECK_THAT(refusal(fault, load), Contains(words));
}

TEST_CASE("page worker: loading may take longer than a call") {
  Call call = small_call();
  const Reply reply = open_python({"broken_worker.py", "late"}, 1s)->apply(call);
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.detail.empty());
}

TEST_CASE("page worker: a process that claims less than the first is a crash, not fewer checks") {
  const auto subject = open_python({"broken_worker.py", "claims_less"});
  setenv("CLAIM_LESS", "1", 1);
  subject->renew();
  Call call = small_call();
  const Reply reply = subject->apply(call);
  CHECK_THROWS_WITH(subject->opener()(), Contains("claims must be the same in every process"));
  unsetenv("CLAIM_LESS");
  CHECK(reply.kind == ReplyKind::crashed);
  CHECK_THAT(reply.detail, StartsWith("could not be started again: the kernel claims {") &&
                               Contains("claims must be the same in every process"));
  CHECK(subject->claims().has(ROPE_FEATURE_ROBUST));
  CHECK(subject->apply(call).status == ROPE_OK);
}

struct Answer {
  const char* fault;
  ReplyKind kind;
  std::int32_t status;
  const char* detail;  // its beginning
};

const Answer faults[] = {
    {"wrong_id", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: {\"id\": "},
    {"half_line", ReplyKind::timed_out, ROPE_FAILED, "did not return within "},
    {"half_line_and_end", ReplyKind::crashed, ROPE_FAILED,
     "ended its process with exit status 0 in the middle of the call, after half a line: {\"id\":"},
    {"no_answer", ReplyKind::timed_out, ROPE_FAILED,
     "did not return within 1 s; its process was killed, twice in a row"},
    {"deep_answer", ReplyKind::misbehaved, ROPE_FAILED,
     "spoke something else than the worker protocol: byte 70: nested 65 deep; allowed are 64 levels: "},
    {"nonsense", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: (core dumped)"},
    {"endless_line", ReplyKind::misbehaved, ROPE_FAILED,
     "spoke something else than the worker protocol: (more than 1 MiB without a newline)"},
    {"odd_answer", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: {\"id\": "},
    {"odd_status", ReplyKind::misbehaved, 7, "returned status 7; rope_status has 0 to 3"},
    {"wide_status", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: {\"id\": "},
    {"half_status", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: {\"id\": "},
    {"raises_no_room", ReplyKind::done, ROPE_FAILED, "raised no_room: says the kernel"},
    {"raises_unsupported", ReplyKind::done, ROPE_FAILED, "raised unsupported: says the kernel"},
    {"odd_fault", ReplyKind::misbehaved, ROPE_FAILED, "spoke something else than the worker protocol: {\"id\": "},
    {"exception", ReplyKind::done, ROPE_FAILED, "raised ValueError: head_dim 64 is not for me\nTraceback"},
    {"unsupported", ReplyKind::done, ROPE_UNSUPPORTED, ""},
    {"unsupported_by_name", ReplyKind::done, ROPE_UNSUPPORTED, "not on Fridays"},
    {"gives_up", ReplyKind::crashed, ROPE_FAILED, "its worker gave up: the device was taken away"},
    {"dies", ReplyKind::crashed, ROPE_FAILED,
     "ended its process with exit status 3 in the middle of the call; it printed last:\nno more"},
    {"closes", ReplyKind::crashed, ROPE_FAILED,
     "closed its connection in the middle of the call and lived on; its process was killed"},
};

TEST_CASE("page worker: a failed call is reported in words") {
  const Answer& expected = GENERATE(from_range(std::begin(faults), std::end(faults)));
  INFO(expected.fault);
  const bool waits = expected.kind == ReplyKind::timed_out;
  const auto subject = open_python({"broken_worker.py", expected.fault}, waits ? 1s : 20s);
  Call call = small_call();
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == expected.kind);
  CHECK(reply.status == expected.status);
  CHECK_THAT(reply.detail, StartsWith(expected.detail));
}

TEST_CASE("page worker: an exception is told apart from a status") {
  Call call = small_call();
  const Reply raised = open_python({"broken_worker.py", "exception"})->apply(call);
  REQUIRE(raised.raised);
  CHECK(raised.raised->what == "ValueError: head_dim 64 is not for me");
  CHECK_FALSE(raised.raised->in_adapter);
  CHECK_FALSE(open_python({"broken_worker.py", "unsupported_by_name"})->apply(call).raised);
}

TEST_CASE("page worker: one that answers and does not read is given up when its messages have no room any more") {
  const auto subject = open_python({"broken_worker.py", "never_reads"});
  const auto start = std::chrono::steady_clock::now();
  Reply reply;
  for (int i = 0; i < 50'000 && reply.kind == ReplyKind::done; ++i) {
    Call call = small_call();
    reply = subject->apply(call);
  }
  CHECK(reply.kind == ReplyKind::misbehaved);
  CHECK_THAT(reply.detail, StartsWith("answers, but does not read its calls; its process was killed"));
  CHECK(std::chrono::steady_clock::now() - start < 60s);
}

TEST_CASE("page worker: half an answer is shown") {
  Call call = small_call();
  CHECK_THAT(open_python({"broken_worker.py", "half_line"}, 1s)->apply(call).detail,
             Contains("its answer has no newline: {\"id\":"));
}

TEST_CASE("page worker: printed text is not an answer, and a second answer does not count for the next call") {
  const auto prints = open_python({"broken_worker.py", "prints"});
  for (int i = 0; i < 3; ++i) {
    Call call = small_call();
    const Reply reply = prints->apply(call);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.status == ROPE_OK);
    CHECK(reply.detail.empty());
  }
  const auto twice = open_python({"broken_worker.py", "twice"});
  Call call = small_call();
  CHECK(twice->apply(call).kind == ReplyKind::done);
  const Reply second = twice->apply(call);
  CHECK(second.kind == ReplyKind::misbehaved);
  CHECK_THAT(second.detail, StartsWith("spoke something else than the worker protocol: {\"id\": 1,"));
}

}  // namespace
}  // namespace rope
