#include "tools/judge/case/rearrange.hpp"

#include <cstring>

#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

std::byte* position_at(Tensor& positions, std::int64_t axis, std::int64_t batch, std::int64_t seq) {
  const std::int64_t element = axis * positions.strides[0] + batch * positions.strides[1] + seq * positions.strides[2];
  return positions.data() + element * static_cast<std::int64_t>(size_of(positions.dtype));
}

Tensor reversed_positions(const Tensor& positions) {
  Tensor result = positions;
  Tensor from = positions;
  for (std::int64_t a = 0; a < positions.shape[0]; ++a) {
    for (std::int64_t b = 0; b < positions.shape[1]; ++b) {
      for (std::int64_t s = 0; s < positions.shape[2]; ++s) {
        std::memcpy(position_at(result, a, positions.shape[1] - 1 - b, positions.shape[2] - 1 - s),
                    position_at(from, a, b, s), size_of(positions.dtype));
      }
    }
  }
  return result;
}

Tensor reversed_rows(const Tensor& tensor, const Call& call, bool key) {
  Tensor result = tensor;
  for_each_row(tensor,
               [&](const RowIndex& row, const std::byte*) { copy_row(result, reversed(row, call, key), tensor, row); });
  return result;
}

}  // namespace

RowIndex reversed(const RowIndex& row, const Call& call, bool key) {
  const std::vector<std::int64_t>& shape = key ? call.k->shape : call.q.shape;
  return {shape[0] - 1 - row.batch, call.positions ? shape[1] - 1 - row.seq : row.seq, shape[2] - 1 - row.head};
}

Call reversed(Call call) {
  Tensor q = reversed_rows(call.q, call, false);
  if (call.k) *call.k = reversed_rows(*call.k, call, true);
  call.q = std::move(q);
  if (call.positions) call.positions = reversed_positions(*call.positions);
  return call;
}

Call one_batch(const Case& c, const Call& whole, std::int64_t batch, Oracles& oracles) {
  Case alone = c;
  alone.batch = 1;
  alone.key_heads = 0;
  alone.sequence_length = whole.sequence_length;  // frequencies may depend on it
  Call call = build_call(alone, oracles);
  for_each_row(call.q, [&](const RowIndex& row, const std::byte*) {
    copy_row(call.q, row, whole.q, {batch, row.seq, row.head});
  });
  if (call.positions) {
    Tensor given = *whole.positions;
    for (std::int64_t a = 0; a < given.shape[0]; ++a) {
      for (std::int64_t s = 0; s < given.shape[2]; ++s) {
        const std::int64_t from = given.strides[1] == 0 ? 0 : batch;
        std::memcpy(position_at(*call.positions, a, 0, s), position_at(given, a, from, s), size_of(given.dtype));
      }
    }
  }
  call.cos = whole.cos;  // one batch by itself may need fewer rows
  call.sin = whole.sin;
  return call;
}

}  // namespace rope
