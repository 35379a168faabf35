#include "reference/angle_rows.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "reference/angle_table.hpp"

using rope::AngleTable;
using rope::Real;

namespace {

// Two rows whose product lies within `distance` of a midpoint between two values of T, in cos for even and in sin for
// odd pairs. Chance does not find them: of 5e8 entries of a real table none lies close enough to be rounded wrongly.
template <class T>
struct HardRows {
  static constexpr std::size_t pairs = 4000;
  std::vector<double> x = std::vector<double>(rope::doubles_per_pair * pairs), y = x;
  std::vector<T> correct;

  explicit HardRows(const Real& distance) {
    std::mt19937_64 engine(3);
    for (std::size_t p = 0; p < pairs; ++p) {
      const T below = std::uniform_real_distribution<T>(T(0.01), T(0.99))(engine), above = std::nextafter(below, T(1));
      const bool up = engine() % 2 == 0;
      const Real midpoint = (Real(static_cast<double>(below)) + Real(static_cast<double>(above))) / Real(2);
      const Real target = up ? midpoint + distance : midpoint - distance;
      Real phi;
      (p % 2 == 0 ? mpfr_acos : mpfr_asin)(phi.get(), target.get(), MPFR_RNDN);
      const Real part(std::uniform_real_distribution<>(-3, 3)(engine));
      rope::set_row(x.data(), pairs, p, rope::exact_angle(part, 1));
      rope::set_row(y.data(), pairs, p, rope::exact_angle(phi - part, 1));
      correct.push_back(up ? above : below);
    }
  }

  struct Outcome {
    int open = 0, wrong = 0;
  };
  Outcome with(double error) const {
    const std::vector<double> errors(pairs, error);
    std::vector<T> cos(pairs), sin(pairs);
    const bool any = rope::rounded_product(x.data(), y.data(), pairs, errors.data(), cos.data(), sin.data()) != 0;
    Outcome outcome;
    for (std::size_t p = 0; p < pairs; ++p) {
      const T value = p % 2 == 0 ? cos[p] : sin[p];
      outcome.open += std::isnan(value);
      outcome.wrong += !std::isnan(value) && value != correct[p];
    }
    CHECK(any == (outcome.open > 0));
    return outcome;
  }
};

}  // namespace

TEST_CASE("the rounding test leaves every hard entry open, and a bound that is too small is noticed", "[angle_rows]") {
  const HardRows<float> f32(Real(0x1p-58));
  CHECK(f32.with(AngleTable::plain_error).open == f32.pairs);
  CHECK(f32.with(0x1p-53).wrong > 0);
  CHECK(f32.with(0x1p-60).wrong > static_cast<int>(f32.pairs / 10));

  const HardRows<double> f64(Real(0x1p-107));
  CHECK(f64.with(AngleTable::error).open == f64.pairs);
  CHECK(f64.with(0x1p-108).wrong > 0);

  const HardRows<float> easy(Real(0x1p-48));
  CHECK(easy.with(AngleTable::plain_error).open == 0);
  CHECK(easy.with(AngleTable::plain_error).wrong == 0);
}
