#include "reference/embedded_seeds.hpp"

#include <catch2/catch.hpp>

#include "reference/scaling/setting.hpp"

using rope::Real;

TEST_CASE("embedded seeds and frequencies equal MPFR's results now", "[embedded_seeds]") {
  for (const int rotary_dim : {2, 32, 64, 128}) {
    const std::vector<Real> theta = rope::scaling::unscaled(Real(1e4), rotary_dim);
    CHECK(rope::embedded_frequencies(1e4, rotary_dim) == theta);
    for (const Real& value : theta) {
      const auto seeds = rope::embedded_seeds(value);
      REQUIRE(seeds.size() == rope::seed_bits);
      for (std::size_t k = 0; k < seeds.size(); ++k) {
        const rope::Angle expected = rope::exact_angle(value, std::uint64_t{1} << k);
        if (!(seeds[k].cos == expected.cos && seeds[k].sin == expected.sin)) FAIL("rotary_dim " << rotary_dim);
      }
    }
  }
}

TEST_CASE("a value that differs in the last bit is not taken for an embedded one", "[embedded_seeds]") {
  const Real theta = rope::scaling::unscaled(Real(1e4), 128)[5];
  Real next = theta;
  mpfr_nextabove(next.get());
  CHECK(!rope::embedded_seeds(theta).empty());
  for (const Real& other : {next, -theta, theta / Real(2), Real(0), Real(2), Real(1e-300)}) {
    CHECK(rope::embedded_seeds(other).empty());
  }
  CHECK(rope::embedded_frequencies(1e4, 96).empty());
  CHECK(rope::embedded_frequencies(1e4, 256).empty());
  CHECK(rope::embedded_frequencies(5e5, 128).empty());
  CHECK(rope::embedded_frequencies(1e4, 0).empty());
}
