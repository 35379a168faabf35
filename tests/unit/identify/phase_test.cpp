#include "tools/identify/phase.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/unit/property.hpp"
#include "tests/unit/reference/random_spec.hpp"

namespace rope {
namespace {

constexpr double pi = std::numbers::pi;

// Angles of a pair that begins at `intercept`, each with an error of at most `noise`.
Phases phases_of(const std::vector<std::int64_t>& positions, long double theta, double intercept, double noise,
                 unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> off(-noise, noise);
  Phases phases;
  for (const std::int64_t m : positions) {
    const long double angle =
        std::remainder(theta * static_cast<long double>(m) + intercept, 2 * std::numbers::pi_v<long double>);
    phases.push_back(wrapped(static_cast<double>(angle) + off(random)));
  }
  return phases;
}

TEST_CASE("phase: wrapped is in (-pi, pi]", "[identify]") {
  CHECK(wrapped(0) == 0);
  CHECK(wrapped(-pi) == pi);
  CHECK(wrapped(pi) == pi);
  CHECK(wrapped(7) == Approx(7 - 2 * pi));
}

TEST_CASE("phase: doubling finds theta within its stated error", "[identify]") {
  const auto wrong = test::counterexample([] {
    const double noise = test::between(1e-9, 0.02);
    const double theta = test::between(1e-6, 3) * (test::coin() ? 1 : -1);
    const double intercept = test::coin() ? 0 : test::between(0.1, 3);
    const auto positions = phase_positions(std::int64_t{1} << *rc::gen::inRange(4, 31), true);
    const Phases phases = phases_of(positions, theta, intercept, noise, *rc::gen::arbitrary<unsigned>());
    const PhaseEstimate e = estimate_phase(positions, phases, {noise, 0});
    RC_ASSERT(std::fabs(wrapped(e.theta - theta)) <= e.error);
    RC_ASSERT(e.error <= 4 * noise / static_cast<double>(positions.back()) * 2);
    RC_ASSERT(std::fabs(wrapped(e.intercept - intercept)) <= noise);
    for (std::size_t i = 0; i < positions.size(); ++i) RC_ASSERT(fits(e, positions[i], phases[i], {noise, 0}));
    for (std::size_t i = 1; i < e.steps.size(); ++i) RC_ASSERT(e.steps[i].error < e.steps[i - 1].error);
  });
  INFO(wrong.value_or(""));
  CHECK_FALSE(wrong.has_value());
}

TEST_CASE("phase: a position mistaken for another does not fit, and ends the doubling", "[identify]") {
  const std::vector<std::int64_t> positions = phase_positions(1 << 20, true);
  std::vector<std::int64_t> executed = positions;
  for (std::int64_t& m : executed) m %= 1 << 15;
  const double noise = 1e-6;
  const Phases phases = phases_of(executed, 0.7, 0, noise, 1);
  const PhaseEstimate e = estimate_phase(positions, phases, {noise, 0});
  CHECK(e.reached == 1 << 14);
  CHECK(std::fabs(e.theta - 0.7) <= e.error);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    CHECK(fits(e, positions[i], phases[i], {noise, 0}) == (positions[i] < 1 << 15));
    CHECK(fits(e, executed[i], phases[i], {noise, 0}));
  }
}

TEST_CASE("phase: the executed position is found from all pairs together", "[identify]") {
  const std::vector<std::int64_t> positions = phase_positions(1 << 14, true);
  const double noise = 1e-4;
  std::vector<PhaseEstimate> pairs;
  std::vector<double> theta;
  for (int p = 0; p < 32; ++p) {
    theta.push_back(std::pow(10'000.0, -p / 32.0));
    pairs.push_back(estimate_phase(positions, phases_of(positions, theta.back(), 0, noise, 7), {noise, 0}));
  }
  for (const std::int64_t executed : {0, 1, 2, 255, 256, 4097, 12'345}) {
    std::vector<double> phase;
    for (const double t : theta) phase.push_back(wrapped(t * static_cast<double>(executed)));
    CHECK(effective_position(pairs, phase, {noise, 0}) == executed);
  }
  // Angles that belong to no position.
  std::vector<double> phase;
  for (std::size_t p = 0; p < theta.size(); ++p) phase.push_back(wrapped(theta[p] * 100 + (p % 2 == 0 ? 0.4 : -0.4)));
  CHECK_FALSE(effective_position(pairs, phase, {noise, 0}).has_value());
}

TEST_CASE("phase: probes include positions that no narrow type holds", "[identify]") {
  const std::vector<std::int64_t> positions = phase_positions(1 << 25, true);
  const auto has = [&](std::int64_t m) { return std::find(positions.begin(), positions.end(), m) != positions.end(); };
  CHECK(has(0));
  CHECK(has(257));            // bf16
  CHECK(has(2049));           // f16
  CHECK(has((1 << 24) + 1));  // f32
  CHECK(has(1 << 25));
  CHECK(phase_positions(0, true) == std::vector<std::int64_t>{0});
  CHECK(std::is_sorted(positions.begin(), positions.end()));
}

}  // namespace
}  // namespace rope
