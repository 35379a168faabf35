#include "impls/element_rows.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

namespace rope {
namespace {

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns;
  for (int i = 0; i < 65536; ++i) patterns.push_back(static_cast<std::uint16_t>(i));
  return patterns;
}

// Floats on both sides of every rounding boundary, which random bits would miss, and random bits.
std::vector<float> difficult_floats() {
  std::vector<float> values = {0.0f,      -0.0f,     65504.0f,  65519.996f, 65520.0f,
                               -65520.0f, 0x1p-24f,  0x1p-25f,  0x1.8p-25f, 0x1p-14f,
                               INFINITY,  -INFINITY, 0x1p-126f, 0x1p-149f,  0x1.fffffep127f};
  std::mt19937 engine(3);
  for (int i = 0; i < 20000; ++i) values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
  for (std::uint32_t i = 0; i < 65536; i += 3) {  // ties of both formats, and their neighbours
    for (const std::uint32_t below : {0x7fffu, 0x8000u, 0x8001u})
      values.push_back(std::bit_cast<float>(i << 16 | below));
    const float half = static_cast<float>(half_to_double(static_cast<std::uint16_t>(i)));
    const float next = static_cast<float>(half_to_double(static_cast<std::uint16_t>(i + 1)));
    const float middle = (half + next) / 2;
    for (const float value : {middle, std::nextafter(middle, half), std::nextafter(middle, next)}) {
      values.push_back(value);
    }
  }
  return values;
}

template <class Load>
void check_widening(Load load_all, double (*exact)(std::uint16_t)) {
  const std::vector<std::uint16_t> patterns = all_patterns();
  std::vector<float> row(patterns.size());
  for (const std::int64_t skip : {0, 5}) {  // the vector body, then its tail as well
    load_all(patterns.data() + skip, row.data(), 65536 - skip);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 65536 - skip; ++i) {
      const double expected = exact(patterns[static_cast<std::size_t>(i + skip)]);
      const auto value = static_cast<double>(row[static_cast<std::size_t>(i)]);
      const bool same =
          std::isnan(expected) ? std::isnan(value) : value == expected && std::signbit(value) == std::signbit(expected);
      if (!same) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

template <class Store>
void check_narrowing(Store store_all, std::uint16_t (*exact)(double), double (*widen)(std::uint16_t)) {
  const std::vector<float> values = difficult_floats();
  std::vector<std::uint16_t> row(values.size());
  store_all(values.data(), row.data(), static_cast<std::int64_t>(values.size()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool same =
        std::isnan(values[i]) ? std::isnan(widen(row[i])) : row[i] == exact(static_cast<double>(values[i]));
    if (!same) ++wrong;
    std::uint16_t alone = 0;
    store_all(&values[i], &alone, 1);  // an element converts alike in the vector body and in the tail, NaN included
    if (alone != row[i]) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("16-bit rows widen exactly, every pattern") {
  check_widening(half_to_float, half_to_double);
  check_widening(bfloat16_to_float, bfloat16_to_double);
}

TEST_CASE("float rows round to 16 bits as the reference does") {
  check_narrowing(float_to_half, double_to_half, half_to_double);
  check_narrowing(float_to_bfloat16, double_to_bfloat16, bfloat16_to_double);
}

TEST_CASE("a NaN whose payload a rounding would remove stays a NaN") {
  for (const std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu}) {
    const auto nan = std::bit_cast<float>(bits);
    std::uint16_t result = 0;
    float_to_bfloat16(&nan, &result, 1);
    CHECK(std::isnan(bfloat16_to_double(result)));
    float_to_half(&nan, &result, 1);
    CHECK(std::isnan(half_to_double(result)));
  }
}

TEST_CASE("strided rows equal contiguous ones") {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    std::vector<std::byte> source(static_cast<std::size_t>(300 * size));
    for (std::int64_t i = 0; i < 300; ++i) store(dtype, source.data() + i * size, 0.37 * static_cast<double>(i) - 20);
    std::vector<double> row(100);
    load_row(dtype, source.data() + 299 * size, -3, row.data(), 100);
    for (std::int64_t i = 0; i < 100; ++i)
      CHECK(row[static_cast<std::size_t>(i)] == load(dtype, source.data() + (299 - 3 * i) * size));
    if (dtype == DType::f64) continue;
    std::vector<float> narrow(100);
    load_row(dtype, source.data(), 3, narrow.data(), 100);
    std::vector<std::byte> target(source.size(), std::byte{0xa5});
    store_row(dtype, narrow.data(), target.data(), 3, 100);
    for (std::int64_t i = 0; i < 300 * size; ++i) {
      const bool written = i / size % 3 == 0;
      const auto at = static_cast<std::size_t>(i);
      if (target[at] != (written ? source[at] : std::byte{0xa5})) FAIL("byte " << i);
    }
  }
}

}  // namespace
}  // namespace rope
