#include "golden/input_generator.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <stdexcept>

using rope::DType;

TEST_CASE("generated inputs: the bits never change", "[golden]") {
  // From golden/regenerate/inputs.py.
  const std::vector<std::byte> bytes = rope::generate_input(42, 3, DType::f32);
  std::uint32_t bits[3];
  std::memcpy(bits, bytes.data(), sizeof bits);
  CHECK(bits[0] == 0xbf2feb6eu);
  CHECK(bits[1] == 0x3eb266f1u);
  CHECK(bits[2] == 0x3f930f9fu);
}

TEST_CASE("generated inputs: magnitudes, signs, and a short input is a prefix of a long one", "[golden]") {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const std::size_t size = size_of(dtype);
    const std::vector<std::byte> bytes = rope::generate_input(7, 4096, dtype);
    REQUIRE(bytes.size() == 4096 * size);
    int negative = 0;
    for (std::size_t i = 0; i < 4096; ++i) {
      const double value = rope::load(dtype, bytes.data() + i * size);
      negative += std::signbit(value);
      REQUIRE(std::fabs(value) >= 0x1p-4);
      REQUIRE(std::fabs(value) < 0x1p4);
    }
    CHECK(negative > 1900);
    CHECK(negative < 2200);
    const std::vector<std::byte> prefix = rope::generate_input(7, 10, dtype);
    CHECK(std::equal(prefix.begin(), prefix.end(), bytes.begin()));
  }
  CHECK(rope::generate_input(7, 0, DType::f32).empty());
  CHECK_THROWS_AS(rope::generate_input(7, 1, DType::i32), std::invalid_argument);
}
