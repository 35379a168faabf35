#include "tools/judge/run/kernel_subject.hpp"

#include <catch2/catch.hpp>
#include <utility>

namespace rope {
namespace {

std::int32_t overwriting(const rope_call* call) {
  *static_cast<std::uint8_t*>(call->q.data) = 1;
  return ROPE_OK;
}

TEST_CASE("a kernel that overwrites its inputs gets large ones of its own", "[call]") {
  rope_kernel kernel{};
  kernel.name = "overwriting";
  kernel.claims.overwrites_inputs = 1;
  kernel.apply = overwriting;
  KernelSubject subject(kernel);
  Call call;
  call.q = Tensor::contiguous(DType::f32, {1, 1 << 11, 1 << 9, 2});
  call.q_out = Tensor::contiguous(DType::f32, {1, 1 << 11, 1 << 9, 2});
  const Call kept = call;
  CHECK(subject.apply(call).status == ROPE_OK);
  CHECK(std::as_const(call.q.bytes).front() == std::byte{1});
  CHECK(kept.q.bytes.front() == std::byte{0});
}

}  // namespace
}  // namespace rope
