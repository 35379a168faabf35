// Call: one kernel call as plain data, with its tensors. A kernel gets rope_call of impls/include/rope_kernel.h; the
// suite uses Call. It owns its bytes, so it can be built, sent to another process, repeated and shrunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "reference/dtype.hpp"
#include "reference/rope_spec.hpp"

namespace rope {

// A strided array of any rank over its own bytes. Element [i0, i1, ..] is at
// bytes[(origin + i0*strides[0] + ..) * size_of(dtype)]; strides are in elements.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t origin = 0;  // elements
  std::vector<std::byte> bytes;
  bool null = false;  // the kernel gets NULL instead of the bytes
  // If not empty: the strides that the kernel gets, because its rows are placed unlike the rows stored here. See
  // row_placement.hpp.
  std::vector<std::int64_t> placed_strides;
  // For k or k_out in the same memory as q or q_out, if not 0: the elements from q's element [0, 0, ..] to this
  // tensor's.
  std::int64_t behind_q = 0;

  // Contiguous, zero bytes.
  static Tensor contiguous(DType dtype, std::vector<std::int64_t> shape);

  std::int64_t count() const;  // product of the shape
  const std::vector<std::int64_t>& kernel_strides() const { return placed_strides.empty() ? strides : placed_strides; }
  std::byte* data() { return bytes.data() + static_cast<std::size_t>(origin) * size_of(dtype); }
  const std::byte* data() const { return bytes.data() + static_cast<std::size_t>(origin) * size_of(dtype); }
};

enum class Direction : std::int32_t { forward = ROPE_FORWARD, backward = ROPE_BACKWARD };
enum class AngleSource : std::int32_t {
  tables = ROPE_TABLES,
  frequencies = ROPE_FREQUENCIES,
  computed = ROPE_COMPUTED
};

std::string_view name(Direction direction);
std::string_view name(AngleSource source);

// Absent tensors are not given by the call. In place: the kernel writes into q and k, and q_out and k_out are
// absent. Meaning of each field: rope_kernel.h.
struct Call {
  Tensor q;                 // [batch, seq, heads, head_dim]
  std::optional<Tensor> k;  // heads may differ
  std::optional<Tensor> q_out;
  std::optional<Tensor> k_out;
  bool in_place = false;

  std::optional<Tensor> positions;  // [axes, batch or 1, seq], i32 or i64; batch stride 0 if shared
  std::int32_t axes = 1;
  std::int64_t position_offset = 0;
  std::int64_t sequence_length = 0;

  std::int32_t rotary_dim = 0;
  Pairing pairing = Pairing::half_split;
  Direction direction = Direction::forward;
  double attention_factor = 1;

  AngleSource source = AngleSource::tables;
  std::optional<Tensor> cos;    // [rows, width]
  std::optional<Tensor> sin;    // [rows, width]
  std::optional<Tensor> theta;  // [rotary_dim/2], f32 or f64
  std::optional<Tensor> axis;   // [rotary_dim/2], i32
  double base = 10000;
  Scaling scaling;

  const Tensor& q_result() const { return in_place ? q : *q_out; }
  const Tensor& k_result() const { return in_place ? *k : *k_out; }
};

// The same call as a kernel sees it: pointers into `call`, which must outlive the result and must not move.
// A tensor with placed_strides gets the pointer to its stored rows; whoever places them must replace it.
rope_call bind(Call& call);

}  // namespace rope
