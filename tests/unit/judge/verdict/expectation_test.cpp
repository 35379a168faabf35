#include "tools/judge/verdict/expectation.hpp"

#include <rapidcheck/catch.h>
#include <catch2/catch.hpp>

#include "tests/unit/judge/case/any_case.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/judge/case/random_case.hpp"

namespace rope {
namespace {

constexpr double u = 0x1p-24;

struct Fixture {
  explicit Fixture(const Case& c) : call(build_call(c, oracles)), expectation(call, c.spec, oracles) {}
  Oracles oracles;
  Call call;
  Expectation expectation;
};

TEST_CASE("with tables the bound is lambda r times the arithmetic, whatever the angle grade", "[expectation]") {
  Case c;
  c.spec.attention_factor = -2;
  Fixture f(c);
  const PerGrade<double> bounds = f.expectation.bounds(3, 1e6, 5);
  for (const auto& row : bounds) {
    CHECK(row[0] == Approx(2 * 5 * 4 * u).epsilon(1e-12));  // two products and a sum 2u, lambda 2u
    CHECK(row[2] == Approx(2 * 5 * 4 * u).epsilon(1e-12));
  }
}

TEST_CASE("with computed angles each grade has its share of phi", "[expectation]") {
  Case c;
  c.source = AngleSource::computed;
  c.start = 1000;
  Fixture f(c);
  const double direct = 2 + std::log(10000.0) * 2 * 10 / 128;  // C of pair 10
  const double recurrence = 10 * (3 + std::log(10000.0) / 64);
  const double arithmetic = 2 * u + std::sqrt(2.0) * 0.61 * u;
  const PerGrade<double> bounds = f.expectation.bounds(10, -300, 5);
  CHECK(bounds[0][0] == Approx(5 * ((direct + 1) * 0x1p-53 * 300 + arithmetic)).epsilon(1e-12));
  CHECK(bounds[1][0] == Approx(5 * ((direct + 1) * u * 300 + arithmetic)).epsilon(1e-12));
  CHECK(bounds[2][0] == Approx(5 * ((recurrence + 1) * u * 300 + arithmetic)).epsilon(1e-12));
  CHECK(f.expectation.bound(10, -300, 5) == bounds[2][2]);
}

TEST_CASE("a theta that the working type does not hold has a bound that is a number", "[expectation]") {
  Case c;
  c.source = AngleSource::computed;
  scaling::Yarn rule;
  rule.factor = 1e308;
  rule.original_max_position_embeddings = 4096;
  c.spec.scaling = rule;
  c.start = 1000;
  Fixture f(c);
  for (std::size_t p = 0; p < f.expectation.pairs(); ++p) {
    const double phi = 1000 * f.expectation.theta(p);
    for (const auto& row : f.expectation.bounds(p, phi, 5)) {
      // An angle of 0 in the place of phi is at most off by phi; and the rest is the same as for every angle.
      for (const double bound : row) CHECK((bound > 0 && bound <= f.expectation.lambda() * 5 * (phi + 1e-6)));
    }
  }
}

TEST_CASE("given frequencies have no error of their own, or one rounding if they are wider", "[expectation]") {
  Case c;
  c.source = AngleSource::frequencies;
  const double arithmetic = 2 * u + std::sqrt(2.0) * 0.61 * u;
  for (const auto& [given, factor] : {std::pair(DType::f32, 1), std::pair(DType::f64, 2)}) {
    c.given = given;
    Fixture f(c);
    const PerGrade<double> bounds = f.expectation.bounds(10, 300, 5);
    CHECK(bounds[1][0] == Approx(5 * (factor * u * 300 + arithmetic)).epsilon(1e-12));
    CHECK(bounds[2] == bounds[1]);
  }
}

TEST_CASE("a looser grade never has the smaller bound, and C3 decides", "[expectation]") {
  rc::prop("for random cases", [] {
    rc::Random random(*rc::gen::inRange<std::uint64_t>(0, UINT64_MAX));
    const Case c = *random_case(random, test::all_claims(), 100'000, [](Case&) {});
    Fixture f(c);
    const auto pair = *rc::gen::inRange<std::size_t>(0, f.expectation.pairs());
    const double phi = test::between(1e-3, 1e6), r = test::between(1e-6, 1e3);
    const PerGrade<double> bounds = f.expectation.bounds(pair, phi, r);
    for (std::size_t a = 0; a < angle_grades; ++a) {
      for (std::size_t w = 0; w < arithmetic_grades; ++w) {
        RC_ASSERT(bounds[a][w] > 0);
        if (a > 0) RC_ASSERT(bounds[a][w] >= bounds[a - 1][w]);
        if (w > 0) RC_ASSERT(bounds[a][w] >= bounds[a][w - 1]);
      }
    }
    RC_ASSERT(f.expectation.bound(pair, phi, r) == bounds.back().back());
  });
}

TEST_CASE("the distance to a rotation by any angle has a bound that no angle widens", "[expectation]") {
  const double functions = std::sqrt(2.0) * 4 * u;
  for (const std::int64_t start : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{1} << 30}) {
    Case c;
    c.source = AngleSource::computed;
    c.seq = 1;
    c.start = start;
    Fixture f(c);
    const std::vector<PairAngle>& angles = f.expectation.angles(0, 0);
    for (const std::size_t p : {std::size_t{0}, std::size_t{40}}) {
      const double any = f.expectation.bound_by_any_angle(p, 5);
      CHECK(any <= f.expectation.bound(p, angles[p].phi, 5));
      CHECK(any == Approx(start == 0 ? f.expectation.bound(p, 0, 5) : 5 * (2 * u + functions)).epsilon(1e-12));
    }
  }
  Fixture tables{Case{}};
  tables.expectation.angles(0, 0);
  CHECK(tables.expectation.bound_by_any_angle(3, 5) == tables.expectation.bound(3, 0, 5));
}

TEST_CASE("pairs stand where the pairing puts them and follow their axes", "[expectation]") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 12;
  c.spec.axes.sections = {2, 3, 1};
  c.form = PositionForm::shared;
  c.start = 50;
  c.seq = 2;
  Fixture f(c);
  CHECK(f.expectation.first(4) == 4);
  CHECK(f.expectation.second(4) == 10);
  f.expectation.angles(0, 1);  // 51; the other axes are 6 and 12 ahead
  const std::int64_t expected[] = {51, 51, 57, 57, 57, 63};
  for (std::size_t p = 0; p < 6; ++p) CHECK(f.expectation.position(p) == expected[p]);
  c.spec.pairing = Pairing::interleaved;
  Fixture interleaved(c);
  CHECK(interleaved.expectation.first(4) == 8);
  CHECK(interleaved.expectation.second(4) == 9);
}

TEST_CASE("r is the norm of the pair, times the gain of a given table", "[expectation]") {
  Case c;
  c.source = AngleSource::computed;
  const PairAngle twice{{0, 0}, {2, 0}, {0, 0}, {2, 0}, 0};
  CHECK(Fixture(c).expectation.reach(3, 4, twice) == 5);
  c.source = AngleSource::tables;
  CHECK(Fixture(c).expectation.reach(3, 4, twice) == 10);
}

TEST_CASE("angles of tables are the tables' entries, angles of theta come from the oracle", "[expectation]") {
  Case c;
  c.spec.head_dim = c.spec.rotary_dim = 4;
  c.full_tables = c.unequal_halves = true;
  c.given = DType::f64;
  c.start = 7;
  Fixture f(c);
  const std::vector<PairAngle> angles = f.expectation.angles(0, 1);  // position 8; second features belong to 9
  CHECK(angles[1].cos_first.hi == Approx(std::cos(0.08)).epsilon(1e-15));
  CHECK(angles[1].sin_second.hi == Approx(std::sin(0.09)).epsilon(1e-15));
  CHECK(angles[1].phi == 0);
  c.full_tables = c.unequal_halves = false;
  c.source = AngleSource::frequencies;
  Fixture g(c);
  const std::vector<PairAngle> turned = g.expectation.angles(0, 1);
  CHECK(turned[1].phi == Approx(0.08).epsilon(1e-15));
  CHECK(turned[1].cos_second.hi == Approx(std::cos(0.08)).epsilon(1e-15));
}

}  // namespace
}  // namespace rope
