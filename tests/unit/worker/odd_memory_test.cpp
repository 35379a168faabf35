// What a kernel does to the memory that it shares with ropecheck (odd_memory.cpp) harms no later call.
#include <catch2/catch.hpp>

#include "tests/unit/places.hpp"
#include "tests/unit/worker/small_call.hpp"

namespace rope {
namespace {

TEST_CASE("a kernel that grows, seals or opens the shared memory again keeps no later call from its room") {
  const char* kernel = GENERATE("grows", "grows_inputs", "seals", "reopens");
  INFO(kernel);
  const auto subject = open_library(build_folder() / "odd_memory.so", kernel);
  for (const std::int64_t tokens : {8, 8, 4000, 30000, 8}) {
    Call call = small_call();
    call.q = Tensor::contiguous(DType::f32, {1, tokens, 2, 64});
    call.q_out = call.q;
    call.cos = Tensor::contiguous(DType::f32, {tokens, 32});
    call.sin = Tensor::contiguous(DType::f32, {tokens, 32});
    for (std::int64_t i = 0; i < call.q.count(); ++i) element(call.q, i) = static_cast<float>(i % 5);
    for (std::int64_t i = 0; i < call.cos->count(); ++i) element(*call.cos, i) = 2;
    call.sequence_length = tokens;
    const Reply reply = subject->apply(call);
    CHECK(reply.kind == ReplyKind::done);
    CHECK(reply.status == ROPE_OK);
    for (const std::int64_t at : {std::int64_t{3}, call.q.count() - 1}) {
      CHECK(element(*call.q_out, at) == 2 * static_cast<float>(at % 5));
    }
  }
}

}  // namespace
}  // namespace rope
