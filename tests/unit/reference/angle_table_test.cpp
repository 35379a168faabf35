#include "reference/angle_table.hpp"

#include <rapidcheck/catch.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include "reference/angle_rows.hpp"
#include "reference/scaling/pixel.hpp"
#include "reference/scaling/setting.hpp"

using rope::AngleTable;
using rope::DoubleDouble;
using rope::Real;

namespace {

constexpr std::int64_t fast_end = std::int64_t{1} << rope::seed_bits;
constexpr auto largest_position = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest_position = std::numeric_limits<std::int64_t>::min();

// cos and sin of m * theta to far more bits than a result has. The table is compared with it; they share no code.
class Reference {
 public:
  explicit Reference(mpfr_prec_t precision = 320) { mpfr_inits2(precision, phi_, cos_, sin_, nullptr); }
  ~Reference() { mpfr_clears(phi_, cos_, sin_, nullptr); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  void evaluate(const Real& theta, std::int64_t m) {
    mpfr_mul_si(phi_, theta.get(), static_cast<long>(m), MPFR_RNDN);  // exact: 256 + 63 bits
    mpfr_sin_cos(sin_, cos_, phi_, MPFR_RNDN);
  }
  bool is_rounded(double cos, double sin) const {
    return cos == mpfr_get_d(cos_, MPFR_RNDN) && sin == mpfr_get_d(sin_, MPFR_RNDN);
  }
  bool is_rounded(float cos, float sin) const {
    return cos == mpfr_get_flt(cos_, MPFR_RNDN) && sin == mpfr_get_flt(sin_, MPFR_RNDN);
  }
  // The larger of the two absolute errors.
  double error(const AngleTable::Angle& angle) {
    return std::max(distance(angle.cos, cos_), distance(angle.sin, sin_));
  }

 private:
  static double distance(const DoubleDouble& x, mpfr_ptr value) {
    mpfr_sub_d(value, value, x.hi, MPFR_RNDN);
    mpfr_sub_d(value, value, x.lo, MPFR_RNDN);
    return std::fabs(mpfr_get_d(value, MPFR_RNDA));
  }
  mpfr_t phi_, cos_, sin_;
};

std::vector<Real> pixel_frequencies(int pairs) { return rope::scaling::Pixel{}.theta<Real>({.rotary_dim = 2 * pairs}); }

std::vector<std::vector<Real>> plans() {
  using rope::scaling::unscaled;
  return {unscaled(Real(1e4), 128), unscaled(Real(1e4), 64), unscaled(Real(1e4), 80), unscaled(Real(5e5), 128),
          unscaled(Real(5e5), 6),   unscaled(Real(1e6), 96), pixel_frequencies(16)};
}

std::int64_t log_uniform(std::mt19937_64& engine, double bits) {
  return static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<>(0, bits)(engine)));
}

template <class T>
struct Row {
  std::vector<T> cos, sin;
};

template <class T>
Row<T> rows(AngleTable& table, std::int64_t first, std::int64_t count = 1) {
  const std::size_t size = table.pairs() * static_cast<std::size_t>(count);
  Row<T> result{std::vector<T>(size), std::vector<T>(size)};
  table.fill(first, count, std::span<T>(result.cos), std::span<T>(result.sin));
  return result;
}

// The number of misrounded (cos, sin) among all pairs of one row.
template <class T>
int misrounded(AngleTable& table, const std::vector<Real>& theta, std::int64_t m, mpfr_prec_t precision = 320) {
  const Row<T> row = rows<T>(table, m);
  Reference reference(precision);
  int count = 0;
  for (std::size_t p = 0; p < theta.size(); ++p) {
    reference.evaluate(theta[p], m);
    count += reference.is_rounded(row.cos[p], row.sin[p]) ? 0 : 1;
  }
  return count;
}

}  // namespace

TEST_CASE("random entries are correctly rounded in float and double", "[angle_table]") {
  std::mt19937_64 engine(1);
  Reference reference;
  int entries = 0, misrounded_float = 0, misrounded_double = 0, off_bound = 0;
  double worst = 0;
  for (const std::vector<Real>& theta : plans()) {
    AngleTable table(theta);
    for (int i = 0; i < 7200; ++i) {
      std::int64_t m = i % 60 == 0 ? log_uniform(engine, 62.9) : log_uniform(engine, rope::seed_bits);
      if (i % 8 == 0) m = -m;
      const Row<float> f32 = rows<float>(table, m);
      const Row<double> f64 = rows<double>(table, m);
      const std::size_t p = engine() % theta.size();
      reference.evaluate(theta[p], m);
      entries += 2;
      misrounded_float += reference.is_rounded(f32.cos[p], f32.sin[p]) ? 0 : 1;
      misrounded_double += reference.is_rounded(f64.cos[p], f64.sin[p]) ? 0 : 1;
      const double error = reference.error(table.at(p, m));
      off_bound += error <= AngleTable::error ? 0 : 1;
      worst = std::max(worst, error);
    }
  }
  CHECK(entries >= 100'000);
  CHECK(misrounded_float == 0);
  CHECK(misrounded_double == 0);
  INFO("worst error of at(): 2^" << std::log2(worst));
  CHECK(off_bound == 0);
  CHECK(worst > 0x1p-108);  // one rounding by itself costs that much: less would mean that nothing was compared
}

TEST_CASE("the same comparison rejects sincos of the rounded angle", "[angle_table]") {
  std::mt19937_64 engine(2);
  const std::vector<Real> theta = rope::scaling::unscaled(Real(1e4), 128);
  Reference reference;
  constexpr int entries = 20'000;
  int misrounded_float = 0, misrounded_double = 0;
  for (int i = 0; i < entries; ++i) {
    const auto m = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(fast_end));
    const std::size_t p = engine() % theta.size();
    reference.evaluate(theta[p], m);
    const double phi = static_cast<double>(m) * theta[p].to_double();
    const double cos = std::cos(phi), sin = std::sin(phi);
    misrounded_double += reference.is_rounded(cos, sin) ? 0 : 1;
    misrounded_float += reference.is_rounded(static_cast<float>(cos), static_cast<float>(sin)) ? 0 : 1;
  }
  CHECK(misrounded_double > entries / 2);
  CHECK(misrounded_float > 0);
}

TEST_CASE("rows at the seams of the method are correctly rounded", "[angle_table]") {
  const std::int64_t position =
      GENERATE(0, 1, -1, 2, 255, 256, 257, 65535, 65536, 65537, 0x010101, -0x7fffff, fast_end - 1, fast_end, -fast_end,
               fast_end + 255, fast_end + 256, std::int64_t{1} << 32, largest_position, smallest_position);
  for (const std::vector<Real>& theta : plans()) {
    AngleTable table(theta);
    INFO("position " << position << ", pairs " << theta.size());
    CHECK(misrounded<float>(table, theta, position) == 0);
    CHECK(misrounded<double>(table, theta, position) == 0);
    Reference reference;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      reference.evaluate(theta[p], position);
      if (!(reference.error(table.at(p, position)) <= AngleTable::error)) FAIL("at(" << p << ")");
    }
  }
}

TEST_CASE("entries that plain double leaves open are settled by double-double", "[angle_table]") {
  const std::vector<Real> theta = rope::scaling::unscaled(Real(1e4), 128);
  AngleTable table(theta);
  int rows_escalated = 0;
  for (std::int64_t m = 1; m <= 1 << 18; ++m) {
    const std::uint64_t before = table.escalations().to_double_double;
    rows<float>(table, m);
    if (table.escalations().to_double_double == before) continue;
    ++rows_escalated;
    CHECK(misrounded<float>(table, theta, m) == 0);
  }
  CHECK(rows_escalated > 0);
  CHECK(table.escalations().to_mpfr == 0);
}

TEST_CASE("sines of small angles are settled without MPFR", "[angle_table]") {
  std::mt19937_64 engine(7);
  std::vector<Real> theta;
  for (int bits = 20; bits < 64; ++bits) {
    theta.push_back(Real(engine() >> 1) * Real(std::ldexp(bits % 2 == 0 ? 1.0 : -1.0, -63 - bits)));
  }
  AngleTable table(theta);
  for (int i = 0; i < 500; ++i) {
    const std::int64_t m = log_uniform(engine, 19);
    CAPTURE(m);
    CHECK(misrounded<double>(table, theta, i % 3 == 0 ? -m : m) == 0);
  }
  CHECK(table.escalations().to_mpfr == 0);
}

// Near multiples of pi/2 a double-double does not even know the sign of the small entry.
TEST_CASE("a small entry beside a multiple of pi/2 is settled without MPFR, whatever its size", "[angle_table]") {
  const Real pi = Real::pi();
  std::vector<Real> theta{pi, -pi, pi * Real(100), pi * Real(99) / Real(2), pi / Real(2), -pi / Real(2)};
  for (const double distance : {0x1p-74, -0x1p-80, 0x1p-99, -0x1p-120}) {
    theta.push_back(Real(distance));
    for (const int quarters : {1, 2, 3, 4, 7}) theta.push_back(pi * Real(quarters) / Real(2) + Real(distance));
  }
  AngleTable table(theta);
  for (const std::int64_t m : {1, 2, 3, 4, 1000, 4095, (1 << 20) + 1, -6, -7}) {
    INFO("position " << m);
    CHECK(misrounded<float>(table, theta, m) == 0);
    CHECK(misrounded<double>(table, theta, m) == 0);
  }
  CHECK(table.escalations().to_double_double > 0);
  CHECK(table.escalations().to_mpfr == 0);
  CHECK(rows<double>(table, 1).sin[0] != 0);
}

// Just above a midpoint between two doubles: by less than a double-double holds, and by less than x^3/6.
TEST_CASE("a small entry beside a midpoint is correctly rounded", "[angle_table]") {
  const Real midpoint = Real(1) + Real(0x1p-53);
  const std::vector<Real> theta{(midpoint + Real(0x1p-150)) * Real(0x1p-60), (midpoint - Real(0x1p-150)) * Real(0x1p-60),
                                (midpoint + Real(0x1p-90)) * Real(0x1p-40), (midpoint + Real(0x1p-80)) * Real(0x1p-40)};
  AngleTable table(theta);
  CHECK(misrounded<double>(table, theta, 1) == 0);
  CHECK(misrounded<double>(table, theta, 1 << 20) == 0);
}

TEST_CASE("small sines are correctly rounded at any angle", "[angle_table]") {
  rc::prop("theta near a multiple of pi/2", [](std::uint64_t digits, std::uint8_t scale, std::uint8_t quarters,
                                               std::uint32_t position) {
    const Real mantissa = Real(digits | std::uint64_t{1} << 63) / Real(0x1p64);
    const Real rest = mantissa * Real(std::ldexp(1.0, -static_cast<int>(scale)));
    const std::vector<Real> theta{Real::pi() * Real(quarters) / Real(2) + rest, rest};
    AngleTable table(theta);
    const std::int64_t m = position % (1 << 20);
    RC_ASSERT(misrounded<float>(table, theta, m) == 0);
    RC_ASSERT(misrounded<double>(table, theta, m) == 0);
  });
}

TEST_CASE("entries that double-double leaves open are settled by MPFR", "[angle_table]") {
  const std::vector<Real> theta = {Real::pi(), Real::pi() / Real(2), Real(3)};
  AngleTable table(theta);
  for (const std::int64_t m : {(std::int64_t{1} << 53) + 1, (std::int64_t{1} << 60) + 3}) {
    const auto before = table.escalations();
    CHECK(misrounded<float>(table, theta, m) == 0);
    CHECK(table.escalations().to_double_double > before.to_double_double);
    CHECK(table.escalations().to_mpfr > before.to_mpfr);
    const std::uint64_t mpfr = table.escalations().to_mpfr;
    CHECK(misrounded<double>(table, theta, m) == 0);
    CHECK(table.escalations().to_mpfr > mpfr);
  }
}

// Multiples of an eighth of the spacing. Where the angle is a midpoint, its sine lies below it by phi^3/6, 2150 bits
// further down; 320 bits would round twice.
TEST_CASE("subnormal sines are rounded once", "[angle_table]") {
  constexpr mpfr_prec_t precision = 3000;
  std::vector<Real> theta;
  for (const double scale : {0x1p-149, 0x1p-126, 0x1p-1074, 0x1p-1022}) {
    for (const int eighths : {3, 4, 5, 11, 12, 13}) theta.push_back(Real(eighths) / Real(8) * Real(scale));
  }
  AngleTable table(theta);
  for (const std::int64_t m : {1, 2, 3, 1001, -5}) {
    CHECK(misrounded<float>(table, theta, m, precision) == 0);
    CHECK(misrounded<double>(table, theta, m, precision) == 0);
  }
}

TEST_CASE("a pair with theta 0 does not turn, and costs no escalation", "[angle_table]") {
  AngleTable table({Real(0), Real(1), Real(0)});
  const Row<float> f32 = rows<float>(table, -1000, 2000);
  const Row<double> f64 = rows<double>(table, fast_end - 10, 20);
  for (std::size_t i = 0; i < f32.cos.size(); i += 3) CHECK((f32.cos[i] == 1 && f32.sin[i] == 0));
  for (std::size_t i = 2; i < f64.cos.size(); i += 3) CHECK((f64.cos[i] == 1 && f64.sin[i] == 0));
  CHECK(table.escalations().to_mpfr == 0);
  CHECK(table.at(2, largest_position).cos == DoubleDouble{1, 0});
  CHECK(table.at(2, 12345).sin == DoubleDouble{0, 0});
}

TEST_CASE("a row does not depend on how it is asked for", "[angle_table]") {
  rc::prop("by itself, in a block, after other rows, from the other side", [](std::uint32_t word, std::uint8_t length) {
    const std::vector<Real> theta = rope::scaling::unscaled(Real(5e5), 10);
    const std::int64_t first = static_cast<std::int64_t>(word) - (std::int64_t{1} << 31);
    const std::int64_t count = length + 1;
    AngleTable table(theta);
    const Row<double> block = rows<double>(table, first, count);
    const Row<double> mirrored = rows<double>(table, -(first + count - 1), count);
    for (std::int64_t row = count - 1; row >= 0; row -= 1 + count / 5) {
      const Row<double> alone = rows<double>(table, first + row);
      const auto at = static_cast<std::size_t>(row) * theta.size();
      const auto mirror = static_cast<std::size_t>(count - 1 - row) * theta.size();
      for (std::size_t p = 0; p < theta.size(); ++p) {
        RC_ASSERT(alone.cos[p] == block.cos[at + p]);
        RC_ASSERT(alone.sin[p] == block.sin[at + p]);
        RC_ASSERT(mirrored.cos[mirror + p] == block.cos[at + p]);
        RC_ASSERT(mirrored.sin[mirror + p] == -block.sin[at + p]);
      }
    }
  });
}

TEST_CASE("phi is the angle rounded to double", "[angle_table]") {
  const AngleTable table({Real::pi(), Real(1) / Real(3), Real(0)});
  CHECK(table.phi(0, 1) == 0x1.921fb54442d18p+1);
  CHECK(table.phi(0, -1000000) == -3141592.6535897932);
  CHECK(table.phi(1, 3) == 1);
  CHECK(table.phi(1, largest_position) == 0x1.5555555555555p+61);
  CHECK(table.phi(2, largest_position) == 0);
}

TEST_CASE("spans and positions that do not fit are refused", "[angle_table]") {
  AngleTable table({Real(1), Real(2)});
  std::vector<float> four(4), five(5);
  const std::span<float> right(four), wrong(five);
  CHECK_NOTHROW(table.fill(largest_position - 1, 2, right, right));
  CHECK_THROWS_AS(table.fill(largest_position, 2, right, right), std::invalid_argument);
  CHECK_THROWS_AS(table.fill(0, 2, wrong, right), std::invalid_argument);
  CHECK_THROWS_AS(table.fill(0, 2, right, wrong), std::invalid_argument);
  CHECK_THROWS_AS(table.fill(0, -1, right, right), std::invalid_argument);
  CHECK_NOTHROW(table.fill(0, 0, right.first(0), right.first(0)));
  CHECK_THROWS_AS(table.at(2, 0), std::invalid_argument);
  CHECK_THROWS_AS(AngleTable({Real(std::numeric_limits<double>::infinity())}), std::invalid_argument);
  CHECK_NOTHROW(AngleTable({}).fill(0, 3, right.first(0), right.first(0)));
}

TEST_CASE("the angles of all pairs at once equal the angles of each pair", "[angle_table]") {
  const std::vector<Real> usual{Real(1), Real(1) / Real(3), Real(0), -Real::pi(), Real(0x1p-40)};
  std::vector<Real> tiny = usual;  // the last one underflows as two doubles
  tiny.push_back(Real(0x1p-1060) / Real(3));
  std::mt19937_64 engine(5);
  std::vector<std::int64_t> positions{0, 1, 255, 256, fast_end - 1, fast_end, largest_position, smallest_position};
  for (int bits = 1; bits < 64; ++bits) positions.push_back(static_cast<std::int64_t>(engine() >> bits));
  for (const std::vector<Real>& theta : {usual, tiny}) {
    AngleTable table(theta);
    std::vector<double> phi(theta.size());
    Reference reference;
    for (const std::int64_t position : positions) {
      CAPTURE(position);
      const std::span<const double> row = table.row(position);
      table.phi(position, phi);
      for (std::size_t p = 0; p < theta.size(); ++p) {
        CAPTURE(p);
        CHECK(phi[p] == table.phi(p, position));
        reference.evaluate(theta[p], position);
        CHECK(reference.error(rope::get_row(row.data(), theta.size(), p)) <= AngleTable::error);
      }
    }
    CHECK_THROWS_AS(table.phi(1, std::span(phi).first(2)), std::invalid_argument);
  }
}

TEST_CASE("a product with a position that lies on a midpoint of two doubles is left to MPFR", "[angle_table]") {
  // 3 theta = 3 + 3 * 2^-53: half way, except for a tail far below what two doubles hold.
  const Real tail(0x1p-200);
  const Real middle = Real(1) + Real(0x1p-53) / Real(3);
  const AngleTable table({middle + tail, middle - tail});
  std::vector<double> phi(2);
  for (const std::int64_t position : {3, 3 * 4096, -3}) {
    table.phi(position, phi);
    CHECK(phi[0] == table.phi(0, position));
    CHECK(phi[1] == table.phi(1, position));
  }
}
