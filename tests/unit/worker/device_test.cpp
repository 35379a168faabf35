// Kernels for a CUDA device, on a fake driver: the worker's side is the same as on a device.
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "tests/conformance/requirements.hpp"
#include "tests/unit/worker/on_device.hpp"
#include "tools/judge/run/suite.hpp"
#include "tools/worker/client/subject_error.hpp"

namespace rope {
namespace {

using Catch::Contains;

std::string refusal() {
  try {
    open_library(device_kernels, "right");
  } catch (const SubjectError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("device: without a driver, or without a device, a clear message says so") {
  {
    const Environment driver("ROPECHECK_CUDA_DRIVER", "/nowhere/libcuda.so.1");
    CHECK_THAT(refusal(), Contains("no CUDA driver: /nowhere/libcuda.so.1: cannot open shared object file"));
  }
  {
    const Environment driver("ROPECHECK_CUDA_DRIVER", misbehaving.string());
    CHECK_THAT(refusal(), Contains("no CUDA driver: ") && Contains("has no function cuInit"));
  }
  const Environment driver("ROPECHECK_CUDA_DRIVER", fake_driver.string());
  const Environment without("FAKE_CUDA_WITHOUT_DEVICE", "1");
  CHECK_THAT(refusal(), Contains("no CUDA device: the driver counts 0 of them"));
}

TEST_CASE("device: results come back from the device, call after call") {
  for (const char* name : {"right", "waiting"}) {
    const auto subject = on_device(name);
    CHECK(subject->claims().capabilities.device == ROPE_CUDA);
    CHECK_FALSE(subject->claims().far_tensors);
    for (int i = 0; i < 70; ++i) {  // with and without held-back work
      Call call = small_call();
      element(call.q, i) += static_cast<float>(i);
      const Reply reply = subject->apply(call);
      REQUIRE(reply.kind == ReplyKind::done);
      REQUIRE(reply.status == ROPE_OK);
      REQUIRE(reply.detail == "");
      REQUIRE(is_right(call));
    }
  }
}

TEST_CASE("device: a right kernel conforms") {
  const auto subject = on_device("right");
  Oracles oracles;
  SuiteOptions how;
  how.selection.level = Level::quick;
  how.selection.only = {"ROT-01", "BWD-01", "POS-02", "STA", "MEM", "SHP-06", "DET"};
  for (const RequirementResult& result : run_suite(*subject, oracles, all_requirements(), how).results) {
    INFO(result.id << (result.failure ? ": " + result.failure->finding.message : ""));
    CHECK(result.failed == 0);
  }
}

TEST_CASE("device: a broken rule is reported") {
  const struct {
    const char* kernel;
    const char* sentence;
  } all[] = {{"default_stream", "worked on another stream than the one that it was given"},
             {"writing_input", "wrote to q, which is an input: byte 0 of its memory"},
             {"writing_before", "bytes before q_out"},
             {"writing_after", "wrote beyond the memory of q_out"}};
  for (const auto& [kernel, sentence] : all) {
    INFO(kernel);
    const auto subject = on_device(kernel);
    Reply reply;
    // On a busy machine a call may take so long that its stream goes on without it.
    for (int i = 0; i < 8 && reply.kind == ReplyKind::done; ++i) {
      Call call = small_call();
      reply = subject->apply(call);
    }
    CHECK(reply.kind == ReplyKind::misbehaved);
    CHECK_THAT(reply.detail, Contains(sentence));
  }
}

TEST_CASE("device: however slow the machine is, a right kernel worked on its stream") {
  const Environment slow("FAKE_CUDA_DOWNLOAD_MILLISECONDS", "150");
  const auto subject = on_device("right");
  Call call = small_call();
  const Reply reply = subject->apply(call);
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.detail == "");
}

TEST_CASE("device: with one queue for all streams a right kernel does not hang") {
  const Environment one("FAKE_CUDA_ONE_QUEUE", "1");
  const auto subject = on_device("right");
  for (int i = 0; i < 3; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.detail == "");
  }
}

TEST_CASE("device: the first call of a process shows the wrong stream, although its code still has to be loaded") {
  const auto subject = on_device("default_stream_loading");
  Reply reply;
  for (int i = 0; i < 8 && reply.kind == ReplyKind::done; ++i) {  // as above: a busy machine
    Call call = small_call();
    subject->renew();
    reply = subject->apply(call);
  }
  CHECK_THAT(reply.detail, Contains("worked on another stream than the one that it was given"));
}

TEST_CASE("device: a kernel may make its own context current") {
  const auto subject = on_device("leaving_context");
  for (int i = 0; i < 3; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.detail == "");
    CHECK(is_right(call));
  }
}

TEST_CASE("device: an alignment above the device's own is kept") {
  const auto subject = on_device("aligned");
  for (int i = 0; i < 3; ++i) {
    Call call = small_call();
    CHECK(subject->apply(call).status == ROPE_OK);
  }
}

TEST_CASE("device: a kernel's failure is reported in its library's words") {
  Call call = small_call();
  const Reply reply = on_device("failing")->apply(call);
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.status == ROPE_FAILED);
  CHECK(reply.detail == "cudaLaunchKernel: out of patience");
}

TEST_CASE("device: a device without room is not the kernel's error") {
  const Environment limit("FAKE_CUDA_LARGEST_ALLOCATION", "1000");
  const auto subject = on_device("right");
  Call call = small_call();
  CHECK_THROWS_WITH(subject->apply(call),
                    Contains("cannot be judged here: the tensors of this call cannot be put on the device: "
                             "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)"));
}

TEST_CASE("device: memory that one process of the kernel used up is free again for the next one") {
  const Environment limit("FAKE_CUDA_MEMORY", "10000000");
  const auto subject = on_device("leaking");
  for (int i = 0; i < 20; ++i) {
    Call call = small_call();
    REQUIRE(subject->apply(call).status == ROPE_OK);
  }
  Call larger = small_call();
  larger.cos = larger.sin = Tensor::contiguous(DType::f32, {10000, 32});
  const Reply reply = subject->apply(larger);
  CHECK(reply.kind == ReplyKind::done);
  CHECK(reply.status == ROPE_OK);
}

TEST_CASE("device: an error of the device ends the worker, and the next call has a new one") {
  const auto subject = on_device("faulting");
  for (int i = 1; i <= 2; ++i) {
    Call call = small_call();
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == ReplyKind::crashed);
    CHECK_THAT(reply.detail, Contains("an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS, 700)"));
    CHECK(subject->deaths() == i);
  }
}

// A start with CUDA takes seconds. So one death decides a requirement, and only the first of a run is shrunk.
TEST_CASE("device: a kernel that ends the device's context in every call is soon rejected") {
  const auto deaths_in = [](std::set<std::string> requirements) {
    const auto subject = on_device("faulting");
    Oracles oracles;
    SuiteOptions how;
    how.selection.level = Level::quick;
    how.selection.only.assign(requirements.begin(), requirements.end());
    for (const RequirementResult& result : run_suite(*subject, oracles, all_requirements(), how).results) {
      INFO(result.id);
      CHECK(result.verdict == Verdict::fail);
      CHECK(result.failed == 1);
    }
    return subject->deaths();
  };
  const std::int64_t of_first = deaths_in({"ROT-01"});
  CHECK(deaths_in({"ROT-01", "ROT-04", "SPC-03"}) == of_first + 2);
}

}  // namespace
}  // namespace rope
