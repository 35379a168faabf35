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

// Loses one of the NaNs of bf16 in the second feature of a pair.
std::int32_t payload(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const rope_tensor &in = call->q, &out = call->q_out;
  if (in.dtype != ROPE_BF16 || out.dtype != ROPE_BF16) return status;
  constexpr std::uint16_t lost = 0x7FA5;
  const std::int64_t second = call->rotary_dim / 2;
  for (std::int64_t s = 0; s < in.shape[1]; ++s) {
    const auto* x = static_cast<const std::uint16_t*>(in.data) + s * in.strides[1];
    if (x[second] == lost) static_cast<std::uint16_t*>(out.data)[s * out.strides[1]] = 0;
  }
  return status;
}

// Rounds one product of bf16 to the wrong side and further: 1.6796875 * -0.4140625.
std::int32_t product(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const rope_tensor &in = call->q, &out = call->q_out;
  if (in.dtype != ROPE_BF16 || out.dtype != ROPE_BF16 || call->table.cos == nullptr) return status;
  if (call->table.dtype != ROPE_BF16 || call->positions.data != nullptr) return status;
  constexpr std::uint16_t x = 0x3FD7, cosine = 0xBED4;
  for (std::int64_t s = 0; s < in.shape[1]; ++s) {
    const auto* c = static_cast<const std::uint16_t*>(call->table.cos) +
                    (call->positions.offset + s) * call->table.row_stride;
    for (std::int64_t h = 0; h < in.shape[2]; ++h) {
      const auto* a = static_cast<const std::uint16_t*>(in.data) + s * in.strides[1] + h * in.strides[2];
      auto* y = static_cast<std::uint16_t*>(out.data) + s * out.strides[1] + h * out.strides[2];
      for (std::int64_t p = 0; p < call->rotary_dim / 2; ++p) {
        const bool has_other = (a[p + call->rotary_dim / 2] & 0x7FFF) != 0;
        if (a[p] == x && c[p] == cosine && !has_other) y[p] = static_cast<std::uint16_t>(y[p] + 5);
      }
    }
  }
  return status;
}

// Wrong for one number of a table in f32: 1.6796875 times the cosine of pair 5 at position 702, about -0.84.
std::int32_t entry(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const rope_tensor &in = call->q, &out = call->q_out;
  const std::int64_t s = 702 - call->positions.offset, second = call->rotary_dim / 2;
  if (in.dtype != ROPE_BF16 || out.dtype != ROPE_BF16 || call->table.cos == nullptr || second <= 5) return status;
  if (call->table.dtype != ROPE_F32 || call->positions.data != nullptr || s < 0 || s >= in.shape[1]) return status;
  constexpr std::uint16_t x = 0x3FD7;
  for (std::int64_t h = 0; h < in.shape[2]; ++h) {
    const auto* a = static_cast<const std::uint16_t*>(in.data) + s * in.strides[1] + h * in.strides[2];
    auto* y = static_cast<std::uint16_t*>(out.data) + s * out.strides[1] + h * out.strides[2];
    if (a[5] == x && (a[5 + second] & 0x7FFF) == 0) y[5] = static_cast<std::uint16_t>(y[5] + 5);
  }
  return status;
}

std::uintptr_t past(const rope_tensor& tensor, std::uintptr_t unit) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % unit;
}

// Its loop over aligned vectors loses the last element of each head, if data lies at a multiple of 16 but not of 32.
std::int32_t aligned(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const rope_tensor& out = call->q_out;
  if (out.dtype != ROPE_F32 || out.shape[3] < 16 || past(call->q, 32) != 16 || past(out, 32) != 16) return status;
  for (std::int64_t b = 0; b < out.shape[0]; ++b) {
    for (std::int64_t s = 0; s < out.shape[1]; ++s) {
      for (std::int64_t h = 0; h < out.shape[2]; ++h) {
        auto* y = static_cast<float*>(out.data) + b * out.strides[0] + s * out.strides[1] + h * out.strides[2];
        y[(out.shape[3] - 1) * out.strides[3]] = 0;
      }
    }
  }
  return status;
}

// Wrong if the input begins 20 bytes past a multiple of 64, and the output 36 bytes.
std::int32_t address(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const bool is_there = past(call->q, 64) == 20 && past(call->q_out, 64) == 36;
  if (call->q.dtype == ROPE_F32 && is_there && call->q.shape[1] > 0) spoil(*call, 0);
  return status;
}

// Wrong for one head_dim.
std::int32_t head_dim(const rope_call* call) {
  const std::int32_t status = rope::half_split_kernel().apply(call);
  if (call->q.shape[3] == 346 && call->rotary_dim == 346 && call->q.shape[1] > 0) spoil(*call, 0);
  return status;
}

// Wrong if a call of 7 tokens of f32 from position 5 came before one of 64 tokens of bf16 from position 100.
std::int32_t pair(const rope_call* call) {
  static bool was_first = false;
  const std::int32_t status = rope::half_split_kernel().apply(call);
  const auto is = [&](std::int32_t dtype, std::int64_t seq, std::int64_t start) {
    return call->q.dtype == dtype && call->q.shape[1] == seq && call->positions.offset == start;
  };
  if (was_first && is(ROPE_BF16, 64, 100)) spoil(*call, 0);
  was_first = is(ROPE_F32, 7, 5);
  return status;
}

struct Planted {
  const char* name;
  std::int32_t (*apply)(const rope_call*);
};

constexpr Planted all[] = {{"right", nullptr},     {"position", position}, {"crash", crash},
                           {"payload", payload},   {"product", product},   {"entry", entry},
                           {"aligned", aligned},   {"address", address},   {"head_dim", head_dim}, {"pair", pair}};
constexpr std::uint32_t count = sizeof all / sizeof all[0];

}  // namespace

extern "C" uint32_t rope_kernel_count(void) { return count; }

extern "C" const rope_kernel* rope_kernel_get(uint32_t index) {
  static rope_kernel kernels[count];
  if (index >= count) return nullptr;
  rope_kernel& kernel = kernels[index];
  kernel = rope::half_split_kernel();
  kernel.name = all[index].name;
  if (all[index].apply != nullptr) kernel.apply = all[index].apply;
  return &kernel;
}
