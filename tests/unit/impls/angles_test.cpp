#include "impls/angles.hpp"

#include <catch2/catch.hpp>

#include "reference/real.hpp"
#include "reference/rotation_plan.hpp"
#include "tests/unit/impls/test_call.hpp"

namespace rope {
namespace {

using test::TestCall;

// The distance between a value and the exact cos or sin, in double's units of 2^-53.
double error_in_units(double value, const Real& exact) { return std::fabs((Real(value) - exact).to_double()) * 0x1p53; }

Real cos_of(Real phi) { return mpfr_cos(phi.get(), phi.get(), MPFR_RNDN), phi; }
Real sin_of(Real phi) { return mpfr_sin(phi.get(), phi.get(), MPFR_RNDN), phi; }

TEST_CASE("computed and given frequencies are exact to f64 at every claimed position") {
  const std::int64_t position =
      GENERATE(std::int64_t{1}, std::int64_t{257}, std::int64_t{4097}, (std::int64_t{1} << 20) - 1,
               (std::int64_t{1} << 31) + 1, (std::int64_t{1} << 36) - 1, -((std::int64_t{1} << 33) + 5));
  TestCall t(DType::f64, DType::f64, 1, 1, 1, 128);
  t.call.positions.offset = position;

  std::vector<double> theta;
  std::vector<Real> exact;
  for (const RotatedPair& pair : compile(rope::spec_of(t.call), 1).pairs) {
    theta.push_back(pair.theta.to_double());
    exact.push_back(pair.theta);
  }
  AngleRows<double> computed(t.call);
  const Turns<double> turns = computed.at(0, 0);
  const double theta_at_64_bits = std::fabs(static_cast<double>(position)) * 0x1p-61 * 0x1p53;
  for (std::size_t p = 0; p < theta.size(); ++p) {
    const Real phi = Real(position) * exact[p];
    CHECK(error_in_units(turns.cos_first[p], cos_of(phi)) < 1.1 + theta_at_64_bits * theta[p]);
    CHECK(error_in_units(turns.sin_first[p], sin_of(phi)) < 1.1 + theta_at_64_bits * theta[p]);
  }

  t.call.angle_source = ROPE_FREQUENCIES;
  t.call.theta = theta.data();
  t.call.theta_dtype = ROPE_F64;
  AngleRows<double> given(t.call);
  const Turns<double> same = given.at(0, 0);
  for (std::size_t p = 0; p < theta.size(); ++p) {
    const Real phi = Real(position) * Real(theta[p]);
    CHECK(error_in_units(same.cos_first[p], cos_of(phi)) < 1.1);
    CHECK(error_in_units(same.sin_first[p], sin_of(phi)) < 1.1);
  }
}

TEST_CASE("each pair follows its own axis, also into tables") {
  const std::int32_t axis[] = {0, 2, 1, 1};
  const std::int32_t positions[] = {3, 5, 7};
  for (const std::int32_t pairing : {ROPE_HALF_SPLIT, ROPE_INTERLEAVED}) {
    for (const bool full : {false, true}) {
      TestCall t(DType::f32, DType::f32, 1, 1, 1, 8, pairing);
      t.call.positions = {positions, ROPE_I32, 3, 1, 0, 0, 0};
      t.call.axis = axis;
      AngleRows<float> computed(t.call);
      const Turns<float> expected = computed.at(0, 0);
      t.give_tables(8, full);
      AngleRows<float> given(t.call);
      const Turns<float> turns = given.at(0, 0);
      for (int p = 0; p < 4; ++p) {
        CHECK(turns.cos_first[p] == expected.cos_first[p]);
        CHECK(turns.sin_second[p] == expected.sin_first[p]);
      }
    }
  }
}

TEST_CASE("backward transposes unequal halves") {
  TestCall t(DType::f32, DType::f32, 1, 1, 1, 2);
  t.give_tables(1, true);
  t.cos = {2, 3};
  t.sin = {5, 7};
  t.call.table.cos = t.cos.data();
  t.call.table.sin = t.sin.data();
  t.call.direction = ROPE_BACKWARD;
  t.call.attention_factor = 0.5;
  AngleRows<float> rows(t.call);
  const Turns<float> turns = rows.at(0, 0);
  CHECK(turns.cos_first[0] == 1);
  CHECK(turns.cos_second[0] == 1.5f);
  CHECK(turns.sin_first[0] == -3.5f);
  CHECK(turns.sin_second[0] == -2.5f);
}

}  // namespace
}  // namespace rope
