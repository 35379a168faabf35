// Visits the rows of a [batch, seq, heads, head_dim] tensor with any strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tools/judge/call/call.hpp"

namespace rope {

struct RowIndex {
  std::int64_t batch, seq, head;
};

inline std::int64_t row_offset(const Tensor& t, const RowIndex& row) {  // elements from data()
  return row.batch * t.strides[0] + row.seq * t.strides[1] + row.head * t.strides[2];
}

template <class T>  // Tensor or const Tensor
auto* row_data(T& t, const RowIndex& row) {
  return t.data() + row_offset(t, row) * static_cast<std::int64_t>(size_of(t.dtype));
}

// Bytes from a feature of a row to the next; negative where the features lie in reverse.
inline std::int64_t feature_step(const Tensor& t) { return t.strides[3] * static_cast<std::int64_t>(size_of(t.dtype)); }

inline double value_at(const Tensor& t, const RowIndex& row, std::int64_t feature) {
  return load(t.dtype, row_data(t, row) + feature * feature_step(t));
}

inline std::uint64_t bits_at(const Tensor& t, const RowIndex& row, std::int64_t feature) {
  const std::size_t size = size_of(t.dtype);
  const std::byte* element = row_data(t, row) + feature * feature_step(t);
  std::uint64_t bits = 0;
  size == 2   ? std::memcpy(&bits, element, 2)
  : size == 4 ? std::memcpy(&bits, element, 4)
              : std::memcpy(&bits, element, 8);
  return bits;
}

// Of an output: NaN where the element was not written.
inline double written_at(const Tensor& t, const RowIndex& row, std::int64_t feature) {
  return bits_at(t, row, feature) == t.poison ? std::numeric_limits<double>::quiet_NaN() : value_at(t, row, feature);
}

// Both tensors have the same dtype and head_dim; each has its own strides.
inline void copy_row(Tensor& to, const RowIndex& to_row, const Tensor& from, const RowIndex& from_row) {
  const std::size_t size = size_of(to.dtype);
  std::byte* written = row_data(to, to_row);
  const std::byte* read = row_data(from, from_row);
  for (std::int64_t j = 0; j < to.shape[3]; ++j) {
    std::memcpy(written + j * feature_step(to), read + j * feature_step(from), size);
  }
}

// visit(RowIndex, pointer to the row's first element), in the order batch, seq, head.
template <class T, class Visitor>
void for_each_row(T& t, Visitor&& visit) {
  for (std::int64_t b = 0; b < t.shape[0]; ++b) {
    for (std::int64_t s = 0; s < t.shape[1]; ++s) {
      for (std::int64_t h = 0; h < t.shape[2]; ++h) visit(RowIndex{b, s, h}, row_data(t, {b, s, h}));
    }
  }
}

}  // namespace rope
