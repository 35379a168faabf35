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
#include "tools/judge/call/shared_bytes.hpp"
#include "tools/judge/call/tensor_memory.hpp"

namespace rope {

// A strided array of any rank over its own bytes. Element [i0, i1, ..] is at
// bytes[(origin + i0*strides[0] + ..) * size_of(dtype)]; strides are in elements.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t origin = 0;  // elements
  SharedBytes bytes;
  bool null = false;  // the kernel gets NULL instead of the bytes
  // If not empty: the strides that the kernel gets, because its rows are placed unlike the rows stored here. See
  // row_placement.hpp.
  std::vector<std::int64_t> placed_strides;
  // For k or k_out in the same memory as q or q_out, if not 0: the elements from q's element [0, 0, ..] to this
  // tensor's.
  std::int64_t behind_q = 0;
  // Of a table: its first rows that take no memory, because the call does not ask for them. They are zeros, which a
  // kernel may read. See sparse_memory.hpp.
  std::int64_t absent_rows = 0;
  // Of an output apart from its input: the bits of each element before the call.
  std::optional<std::uint64_t> poison;

  // Contiguous.
  static Tensor without_bytes(DType dtype, std::vector<std::int64_t> shape);
  // Contiguous, zero bytes.
  static Tensor contiguous(DType dtype, std::vector<std::int64_t> shape);
  // The same with any bytes, for a caller that writes every element.
  static Tensor unwritten(DType dtype, std::vector<std::int64_t> shape);

  std::int64_t count() const;  // product of the shape
  // So many bytes in place of its own, for writing all of them. Large ones lie in `memory`, if that has room.
  std::byte* renew(std::size_t size, TensorMemory* memory);
  // Whether no byte of an output before the call is anything but poison.
  bool is_all_poison() const { return poison && bytes.size() == static_cast<std::size_t>(count()) * size_of(dtype); }
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
  std::optional<Tensor> seqlen_offsets;  // [sequences], i32 or i64
  std::optional<Tensor> cu_seqlens;      // [sequences + 1], i32
  std::int64_t sequence_length = 0;

  std::int32_t rotary_dim = 0;
  std::int32_t rotary_offset = 0;
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

  std::int64_t sequences() const { return cu_seqlens ? cu_seqlens->shape[0] - 1 : q.shape[0]; }
  const Tensor& q_result() const { return in_place ? q : *q_out; }
  const Tensor& k_result() const { return in_place ? *k : *k_out; }
};

// An element of an i32 or i64 tensor. The index counts the elements of its memory from element [0, 0, ..].
std::int64_t integer_at(const Tensor& tensor, std::int64_t index);
void store_integer(Tensor& tensor, std::int64_t index, std::int64_t value);

// Whether token s of every batch is at position_offset + s.
bool counts_from_offset(const Call& call);

// The place of a token: its sequence, counted over the batches or over a packed row, and the sequence's first token.
struct PlaceInSequence {
  std::int64_t sequence;
  std::int64_t first;
};
PlaceInSequence place_in_sequence(const Call& call, std::int64_t batch, std::int64_t seq);

// The same call as a kernel sees it: pointers into `call`, which must outlive the result and must not move.
// A tensor with placed_strides gets the pointer to its stored rows; whoever places them must replace it. Inputs of 4 MB
// or more stay shared with the call's copies, so a kernel that writes to them would change these, too.
rope_call bind(Call& call);

// The same without the addresses of tensors; it leaves their memory shared.
rope_call described(const Call& call);

}  // namespace rope
