#include "tools/judge/case/poison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "tools/judge/call/tensor_walk.hpp"

namespace rope {
namespace {

// Of a NaN, below the bit that makes it quiet.
int payload_bits(DType dtype) {
  switch (dtype) {
    case DType::f64: return 51;
    case DType::f32: return 22;
    case DType::f16: return 9;
    default: return 6;
  }
}

}  // namespace

std::uint64_t poison(DType dtype, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::uint64_t bits = 0;
  if (draw() % 4 == 0 && size_of(dtype) > 2) {
    store(dtype, &bits, 1 + std::ldexp(static_cast<double>(draw() >> 32), -32));
    return bits;
  }
  store(dtype, &bits, std::numeric_limits<double>::quiet_NaN());
  const std::uint64_t payload = draw() % (std::uint64_t{1} << payload_bits(dtype));
  return bits | std::max<std::uint64_t>(payload, 1);
}

void fill_with_poison(Tensor& tensor, std::uint64_t seed) {
  const std::uint64_t bits = poison(tensor.dtype, seed);
  tensor.poison = bits;
  const std::size_t size = size_of(tensor.dtype);
  std::vector<std::byte> row(static_cast<std::size_t>(tensor.shape[3]) * size);
  for (std::size_t at = 0; at < row.size(); at += size) std::memcpy(row.data() + at, &bits, size);
  for_each_row(tensor, [&](const RowIndex&, std::byte* data) {
    if (tensor.strides[3] == 1) {
      std::memcpy(data, row.data(), row.size());
      return;
    }
    for (std::int64_t j = 0; j < tensor.shape[3]; ++j) {
      std::memcpy(data + j * feature_step(tensor), &bits, size);
    }
  });
}

}  // namespace rope
