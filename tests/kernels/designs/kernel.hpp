// Shared by the designs in C++: refusing calls outside the claims, and where a head, a position and a pair are. Each
// design computes in its own way.
#pragma once

#include <cstdint>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/if_accepted.hpp"
#include "tests/kernels/exports.hpp"

namespace rope::designs {

template <class... Enumerators>
constexpr std::uint32_t mask(Enumerators... enumerators) {
  return (ROPE_BIT(enumerators) | ... | 0u);
}

// A tensor and where it goes.
struct Operand {
  const rope_tensor& in;
  const rope_tensor& out;
  bool key;

  std::int64_t batches() const { return in.shape[0]; }
  std::int64_t tokens() const { return in.shape[1]; }  // per batch
  std::int64_t heads() const { return in.shape[2]; }
  std::int64_t head_dim() const { return in.shape[3]; }
  bool in_place() const { return in.data == out.data; }
};

inline Operand query(const rope_call& call) { return {call.q, call.q_out, false}; }
inline Operand key(const rope_call& call) { return {call.k, call.k_out, true}; }

inline std::int64_t element(const rope_tensor& tensor, std::int64_t batch, std::int64_t token, std::int64_t head) {
  return batch * tensor.strides[0] + token * tensor.strides[1] + head * tensor.strides[2];
}

template <class T>
const T* head_in(const Operand& x, std::int64_t batch, std::int64_t token, std::int64_t head) {
  return static_cast<const T*>(x.in.data) + element(x.in, batch, token, head);
}

template <class T>
T* head_out(const Operand& x, std::int64_t batch, std::int64_t token, std::int64_t head) {
  return static_cast<T*>(x.out.data) + element(x.out, batch, token, head);
}

struct Pair {
  std::int64_t first;
  std::int64_t second;
};

inline Pair pair_at(const rope_call& call, std::int64_t pair) {
  if (call.pairing == ROPE_INTERLEAVED) return {2 * pair, 2 * pair + 1};
  return {pair, pair + call.rotary_dim / 2};
}

// Positions must be given.
inline std::int64_t given_position(const rope_positions& positions, std::int64_t axis, std::int64_t batch,
                                   std::int64_t token) {
  const std::int64_t at = axis * positions.axis_stride + batch * positions.batch_stride + token * positions.seq_stride;
  if (positions.dtype == ROPE_I32) return static_cast<const std::int32_t*>(positions.data)[at];
  return static_cast<const std::int64_t*>(positions.data)[at];
}

inline std::int64_t position_of(const rope_positions& positions, std::int64_t batch, std::int64_t token) {
  return positions.data == nullptr ? positions.offset + token : given_position(positions, 0, batch, token);
}

// A call outside the claims is refused, so that the suite cannot make one unnoticed.
template <void (*run)(const rope_call&), const rope_capabilities& claims>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, claims, [call] {
    run(*call);
    return ROPE_OK;
  });
}

constexpr rope_kernel kernel(const char* name, const char* description, std::int32_t (*answer)(const rope_call*),
                             const rope_capabilities& claims) {
  return {sizeof(rope_kernel), ROPE_KERNEL_ABI, name, description, answer, claims};
}

template <void (*run)(const rope_call&), const rope_capabilities& claims>
rope_kernel kernel(const char* name, const char* description) {
  return kernel(name, description, apply<run, claims>, claims);
}

Kernels axes_kernels();
Kernels base_offset_kernels();
Kernels cached_row_kernels();
Kernels complex_kernels();
Kernels kept_table_kernels();
Kernels paged_kernels();
Kernels per_op_kernels();
Kernels tiles_kernels();
Kernels training_kernels();
Kernels vectors_kernels();

}  // namespace rope::designs
