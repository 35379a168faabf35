#include "tools/judge/case/counted_values.hpp"

#include <cstring>
#include <stdexcept>

#include "reference/input_error.hpp"
#include "reference/pair_features.hpp"

namespace rope {
namespace {

// The bits of 1: all smaller ones without a sign are numbers from 0 to 1.
std::int64_t bits_of_one(DType dtype) {
  if (size_of(dtype) != 2) throw InputError("products are counted for tables of 16-bit types only");
  std::uint16_t bits = 0;
  store(dtype, &bits, 1);
  return bits;
}

std::uint16_t number_within_one(DType dtype, std::int64_t n) {
  const std::int64_t of_a_sign = bits_of_one(dtype) + 1;
  n %= 2 * of_a_sign;
  return static_cast<std::uint16_t>(n < of_a_sign ? n : n - of_a_sign + 0x8000);
}

}  // namespace

// A number would lose the payload of a NaN, so these are bits.
void put_counted(const Case& c, const RowIndex& row, const Tensor& tensor, std::byte* data) {
  const std::size_t size = size_of(c.dtype);
  const auto token = static_cast<std::uint64_t>(c.start + row.seq);
  const std::uint64_t count = is_of_products(c.input) ? c.seed + static_cast<std::uint64_t>(row.head) : token;
  const std::uint64_t bits = count % 65536 << (8 * size - 16);
  const bool in_first = c.input == InputKind::counted_first || c.input == InputKind::products_first;
  for (int p = 0; p < c.spec.rotary_dim / 2; ++p) {
    const auto [first, second] = pair_features(c.spec, p);
    const std::int64_t feature = in_first ? first : second;
    std::memcpy(data + feature * feature_step(tensor), &bits, size);
  }
}

std::int64_t numbers_within_one(DType dtype) { return 2 * (bits_of_one(dtype) + 1); }

Tensor counted_table(const Case& c, std::int64_t rows) {
  const std::int64_t pairs = c.spec.rotary_dim / 2, width = c.full_tables ? 2 * pairs : pairs;
  Tensor table = Tensor::contiguous(c.given, {rows, width});
  for (std::int64_t m = 0; m < rows; ++m) {
    for (std::int64_t j = 0; j < width; ++j) {
      const bool split = c.spec.pairing == Pairing::half_split;
      const std::int64_t pair = !c.full_tables ? j : split ? j % pairs : j / 2;
      const std::uint16_t bits = number_within_one(c.given, m * pairs + pair);
      std::memcpy(table.bytes.data() + (m * width + j) * 2, &bits, sizeof bits);
    }
  }
  return table;
}

}  // namespace rope
