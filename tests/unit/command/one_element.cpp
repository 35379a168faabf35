// Kernels that are right but for one element of what can be enumerated, for the tests of certify.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "impls/builtin.hpp"

namespace {

constexpr std::int64_t prime = 524287;  // 2^19 - 1

std::size_t size_of(std::int32_t dtype) { return dtype == ROPE_F64 ? 8 : dtype == ROPE_F32 ? 4 : 2; }

// The address of q_out's first feature of token s in the first head.
std::byte* row(const rope_call& call, std::int64_t s) {
  const rope_tensor& out = call.q_out;
  return static_cast<std::byte*>(out.data) + static_cast<std::size_t>(s * out.strides[1]) * size_of(out.dtype);
}

// Changes the sign of the second feature.
void spoil(const rope_call& call, std::int64_t s) {
  const std::size_t size = size_of(call.q_out.dtype);
  std::byte& highest = row(call, s)[2 * size - 1];
  highest ^= std::byte{0x80};
}

// Wrong at one position.
std::int32_t position(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const std::int64_t s = prime - call->positions.offset;
  if (call->positions.data == nullptr && s >= 0 && s < call->q.shape[1] && call->q_out.shape[3] > 2) spoil(*call, s);
  return status;
}

// Dies at one position.
std::int32_t crash(const rope_call* call) {
  const std::int64_t s = prime - call->positions.offset;
  if (call->positions.data == nullptr && s >= 0 && s < call->q.shape[1]) std::abort();
  return rope::half_split_kernel().apply(call);
}

}  // namespace

extern "C" uint32_t rope_kernel_count(void) { return 3; }

extern "C" const rope_kernel* rope_kernel_get(uint32_t index) {
  static rope_kernel kernels[] = {rope::half_split_kernel(), rope::half_split_kernel(), rope::half_split_kernel()};
  kernels[0].name = "right";
  kernels[1].name = "position";
  kernels[1].apply = position;
  kernels[2].name = "crash";
  kernels[2].apply = crash;
  return index < 3 ? &kernels[index] : nullptr;
}
