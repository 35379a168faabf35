#include "reference/dtype.hpp"

#include <rapidcheck/catch.h>
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using rope::DType;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Format {
  const char* name;
  DType dtype;
  std::uint16_t infinity_bits;
  double past_largest;  // the next value if the exponent range went on
  double (*to_double)(std::uint16_t);
  std::uint16_t (*from_double)(double);
};

const Format formats[] = {
    {"f16", DType::f16, 0x7c00, 0x1p16, rope::half_to_double, rope::double_to_half},
    {"bf16", DType::bf16, 0x7f80, 0x1p128, rope::bfloat16_to_double, rope::double_to_bfloat16},
};

// All values from 0 to past_largest. The index of a value is its bit pattern; the last index is infinity's bit pattern.
std::vector<double> magnitudes(const Format& format) {
  std::vector<double> values;
  for (std::uint16_t bits = 0; bits < format.infinity_bits; ++bits) values.push_back(format.to_double(bits));
  values.push_back(format.past_largest);
  return values;
}

// Rounding by its definition: the nearer of the two neighbours; if both are equally near, the even bit pattern.
std::uint16_t nearest(const std::vector<double>& values, double x) {
  const double magnitude = std::fabs(x);
  std::size_t bits = values.size() - 1;
  if (magnitude < values.back()) {
    const auto above = std::upper_bound(values.begin(), values.end(), magnitude);
    bits = static_cast<std::size_t>(above - values.begin()) - 1;
    const double midpoint = values[bits] / 2 + values[bits + 1] / 2;  // exact: 12 bits at most
    if (magnitude > midpoint || (magnitude == midpoint && bits % 2 == 1)) ++bits;
  }
  return static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000U : 0U));
}

std::uint16_t by_way_of_float(const Format& format, double x) {
  return format.from_double(static_cast<double>(static_cast<float>(x)));
}

}  // namespace

TEST_CASE("every 16-bit pattern survives the conversion to double and back", "[dtype]") {
  for (const Format& format : formats) {
    for (std::uint32_t word = 0; word < 0x10000; ++word) {
      const auto bits = static_cast<std::uint16_t>(word);
      const double value = format.to_double(bits);
      const bool is_nan = (bits & 0x7fff) > format.infinity_bits;
      const std::uint16_t back = format.from_double(value);
      const bool holds = is_nan ? std::isnan(value) && (back & 0x7fff) > format.infinity_bits : back == bits;
      if (!holds) FAIL(format.name << " " << bits);
    }
  }
}

TEST_CASE("16-bit values match the definitions of the formats", "[dtype]") {
  CHECK(rope::half_to_double(0x0001) == 0x1p-24);
  CHECK(rope::half_to_double(0x03ff) == 0x1p-14 - 0x1p-24);
  CHECK(rope::half_to_double(0x0400) == 0x1p-14);
  CHECK(rope::half_to_double(0x3c00) == 1);
  CHECK(rope::half_to_double(0xc001) == -2 - 0x1p-9);
  CHECK(rope::half_to_double(0x7bff) == 65504);
  CHECK(rope::half_to_double(0xfc00) == -infinity);
  CHECK(rope::bfloat16_to_double(0x0001) == 0x1p-133);
  CHECK(rope::bfloat16_to_double(0x0080) == 0x1p-126);
  CHECK(rope::bfloat16_to_double(0x3f80) == 1);
  CHECK(rope::bfloat16_to_double(0xbf81) == -1 - 0x1p-7);
  CHECK(rope::bfloat16_to_double(0x7f7f) == 0x1.fep127);
  // bf16 is the upper half of a float, so each of its values can be computed in a second way.
  for (std::uint32_t bits = 0; bits <= 0x7f80; ++bits) {
    const auto expected = static_cast<double>(std::bit_cast<float>(bits << 16));
    if (rope::bfloat16_to_double(static_cast<std::uint16_t>(bits)) != expected) FAIL(bits);
  }
}

TEST_CASE("rounding to 16 bits is to the nearest neighbour, ties to even", "[dtype]") {
  for (const Format& format : formats) {
    const std::vector<double> values = magnitudes(format);
    int wrong = 0, wrong_by_way_of_float = 0;
    const auto check = [&](double x) {
      for (const double signed_x : {x, -x}) {
        wrong += format.from_double(signed_x) != nearest(values, signed_x);
        wrong_by_way_of_float += by_way_of_float(format, signed_x) != nearest(values, signed_x);
      }
    };
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const double midpoint = values[i] / 2 + values[i + 1] / 2;
      check(values[i]);
      check(midpoint);
      check(std::nextafter(midpoint, 0));  // rounds to the midpoint in float, and then as a tie
      check(std::nextafter(midpoint, infinity));
    }
    INFO(format.name);
    CHECK(wrong == 0);
    CHECK(wrong_by_way_of_float > 30'000);  // half of all nextafter cases: the trap is really sprung
  }
}

TEST_CASE("rounding to 16 bits of any double", "[dtype]") {
  for (const Format& format : formats) {
    const std::vector<double> values = magnitudes(format);
    std::mt19937_64 engine(7);
    for (int i = 0; i < 200'000; ++i) {
      // Exponents from far below the smallest subnormal to far above the largest value.
      const double x = std::ldexp(std::bit_cast<double>((engine() >> 12) | 0x3ff0000000000000U),
                                  std::uniform_int_distribution<>(-160, 140)(engine));
      if (format.from_double(x) != nearest(values, x)) FAIL(format.name << " " << x);
    }
    rc::prop(format.name, [&](std::uint64_t bits) {
      const auto x = std::bit_cast<double>(bits);
      RC_PRE(!std::isnan(x));
      RC_ASSERT(format.from_double(x) == nearest(values, x));
    });
  }
}

TEST_CASE("the ends of the 16-bit ranges", "[dtype]") {
  CHECK(rope::double_to_half(65519.99) == 0x7bff);
  CHECK(rope::double_to_half(65520) == 0x7c00);  // tie between 65504 and 65536
  CHECK(rope::double_to_half(-1e300) == 0xfc00);
  CHECK(rope::double_to_half(0x1p-25) == 0);  // tie between 0 and the smallest subnormal
  CHECK(rope::double_to_half(std::nextafter(0x1p-25, 1)) == 1);
  CHECK(rope::double_to_half(-0.0) == 0x8000);
  CHECK(rope::double_to_bfloat16(0x1.ffp127) == 0x7f80);
  CHECK(rope::double_to_bfloat16(std::nextafter(0x1.ffp127, 0)) == 0x7f7f);
  CHECK(rope::double_to_bfloat16(0x1p-134) == 0);
  CHECK(rope::double_to_bfloat16(std::numeric_limits<double>::denorm_min()) == 0);
  for (const Format& format : formats) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(std::isnan(format.to_double(format.from_double(nan))));
    CHECK(format.from_double(infinity) == format.infinity_bits);
  }
}

TEST_CASE("the constants of a type follow from its values", "[dtype]") {
  for (const Format& format : formats) {
    const std::uint16_t one = format.from_double(1);
    CHECK(rope::unit_roundoff(format.dtype) == (format.to_double(static_cast<std::uint16_t>(one + 1)) - 1) / 2);
    CHECK(rope::smallest_subnormal(format.dtype) == format.to_double(1));
    CHECK(rope::largest_finite(format.dtype) == format.to_double(static_cast<std::uint16_t>(format.infinity_bits - 1)));
  }
  using Float = std::numeric_limits<float>;
  using Double = std::numeric_limits<double>;
  CHECK(rope::unit_roundoff(DType::f32) == static_cast<double>(Float::epsilon()) / 2);
  CHECK(rope::unit_roundoff(DType::f64) == Double::epsilon() / 2);
  CHECK(rope::smallest_subnormal(DType::f32) == static_cast<double>(Float::denorm_min()));
  CHECK(rope::smallest_subnormal(DType::f64) == Double::denorm_min());
  CHECK(rope::largest_finite(DType::f32) == static_cast<double>(Float::max()));
  CHECK(rope::largest_finite(DType::f64) == Double::max());
}

TEST_CASE("names and sizes", "[dtype]") {
  const std::array<std::pair<DType, std::size_t>, 6> sizes{
      {{DType::f64, 8}, {DType::f32, 4}, {DType::f16, 2}, {DType::bf16, 2}, {DType::i32, 4}, {DType::i64, 8}}};
  for (const auto& [dtype, size] : sizes) {
    CHECK(rope::size_of(dtype) == size);
    CHECK(rope::dtype_from_name(rope::name(dtype)) == dtype);
    CHECK(rope::is_floating(dtype) == (dtype != DType::i32 && dtype != DType::i64));
  }
  CHECK(rope::dtype_from_name("fp8") == std::nullopt);
}

TEST_CASE("load returns what store put at any address", "[dtype]") {
  alignas(8) std::array<std::byte, 24> memory{};
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64}) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      memory.fill(std::byte{0xa5});
      rope::store(dtype, memory.data() + offset, -96);
      CHECK(rope::load(dtype, memory.data() + offset) == -96);
      const auto untouched = std::count(memory.begin(), memory.end(), std::byte{0xa5});
      CHECK(static_cast<std::size_t>(untouched) >= memory.size() - rope::size_of(dtype));
      CHECK((offset == 0 || memory[offset - 1] == std::byte{0xa5}));
      CHECK(memory[offset + rope::size_of(dtype)] == std::byte{0xa5});
    }
  }
  rope::store(DType::f32, memory.data(), 1 + 0x1p-24 + 0x1p-40);
  CHECK(rope::load(DType::f32, memory.data()) == 1 + 0x1p-23);
}

TEST_CASE("many elements are loaded and stored as one is, whatever lies between them", "[dtype]") {
  std::vector<double> values;
  for (double value : {0.0, -0.0, 1.0, -96.0, 0.1, 65519.0, 1e-7, 3e38, infinity, -infinity}) values.push_back(value);
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i32, DType::i64}) {
    if (!rope::is_floating(dtype)) values = {0, 1, -96, 2147483647};
    const std::size_t size = rope::size_of(dtype);
    for (const std::size_t step : {1u, 3u}) {
      std::vector<std::byte> one(values.size() * step * size + 1, std::byte{0xa5}), many = one;
      std::vector<double> loaded(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) rope::store(dtype, one.data() + 1 + i * step * size, values[i]);
      const auto elements = static_cast<std::int64_t>(step);
      rope::store(dtype, many.data() + 1, elements, values.size(), values.data());
      CHECK(many == one);
      rope::load(dtype, many.data() + 1, elements, values.size(), loaded.data());
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(std::bit_cast<std::uint64_t>(loaded[i]) ==
              std::bit_cast<std::uint64_t>(rope::load(dtype, one.data() + 1 + i * step * size)));
      }
    }
  }
}
