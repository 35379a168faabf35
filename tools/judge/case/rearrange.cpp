#include "tools/judge/case/rearrange.hpp"

#include "tools/judge/case/build_call.hpp"

namespace rope {
namespace {

std::int64_t index_of(const Tensor& positions, std::int64_t axis, std::int64_t batch, std::int64_t seq) {
  return axis * positions.strides[0] + batch * positions.strides[1] + seq * positions.strides[2];
}

Tensor reversed_positions(const Tensor& positions) {
  Tensor result = positions;
  for (std::int64_t a = 0; a < positions.shape[0]; ++a) {
    for (std::int64_t b = 0; b < positions.shape[1]; ++b) {
      for (std::int64_t s = 0; s < positions.shape[2]; ++s) {
        store_integer(result, index_of(result, a, positions.shape[1] - 1 - b, positions.shape[2] - 1 - s),
                      integer_at(positions, index_of(positions, a, b, s)));
      }
    }
  }
  return result;
}

Tensor reversed_starts(const Tensor& starts) {
  Tensor result = starts;
  const std::int64_t count = starts.shape[0];
  for (std::int64_t i = 0; i < count; ++i) store_integer(result, count - 1 - i, integer_at(starts, i));
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
  // Sequences that are packed keep their order, as the tokens do.
  if (call.seqlen_offsets && !call.cu_seqlens) call.seqlen_offsets = reversed_starts(*call.seqlen_offsets);
  return call;
}

Call one_batch(const Case& c, const Call& whole, std::int64_t batch, Oracles& oracles) {
  Case alone = c;
  alone.batch = 1;
  alone.sequence_length = whole.sequence_length;  // frequencies may depend on it
  Call call = build_call(alone, oracles);
  for_each_row(call.q, [&](const RowIndex& row, const std::byte*) {
    copy_row(call.q, row, whole.q, {batch, row.seq, row.head});
  });
  if (call.positions) {
    const Tensor& given = *whole.positions;
    for (std::int64_t a = 0; a < given.shape[0]; ++a) {
      for (std::int64_t s = 0; s < given.shape[2]; ++s) {
        const std::int64_t from = given.strides[1] == 0 ? 0 : batch;
        store_integer(*call.positions, index_of(*call.positions, a, 0, s),
                      integer_at(given, index_of(given, a, from, s)));
      }
    }
  }
  if (whole.seqlen_offsets && !whole.cu_seqlens) {
    store_integer(*call.seqlen_offsets, 0, integer_at(*whole.seqlen_offsets, batch));
  }
  call.cos = whole.cos;  // one batch by itself may need fewer rows
  call.sin = whole.sin;
  return call;
}

}  // namespace rope
