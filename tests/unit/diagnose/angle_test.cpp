// Diagnoses of angles from tables over a turn, from powers, and by rules that know no sequence.
#include <complex>
#include <numbers>

#include "reference/scaling/rules.hpp"
#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

namespace {

constexpr double whole_turn = 2 * std::numbers::pi;

Loops::Turn of_angle(double angle) { return {std::cos(angle), std::sin(angle)}; }

}  // namespace

TEST_CASE("A table of cos and sin over a turn is found with its size") {
  Loops loops;
  loops.at = [](std::int64_t position, double theta) {
    const double step = whole_turn / 4096;
    return of_angle(std::nearbyint(static_cast<double>(position) * theta / step) * step);
  };
  CHECK(said_of(loops) == "angles are rounded to nearest to one of 4096 steps in a turn");
  loops.at = [](std::int64_t position, double theta) {
    const double step = whole_turn / 512, at = static_cast<double>(position) * theta / step;
    const double share = at - std::floor(at);
    const auto [c, s] = of_angle(std::floor(at) * step);
    const auto [next_c, next_s] = of_angle((std::floor(at) + 1) * step);
    return Loops::Turn{c + share * (next_c - c), s + share * (next_s - s)};
  };
  CHECK(said_of(loops) == "cos and sin are interpolated between 512 entries for a turn");
}

TEST_CASE("Rotors that are multiplied up in f32 are found") {
  Loops loops;
  loops.max_position = 1023;
  loops.at = [](std::int64_t position, double theta) {
    const std::complex<float> one(static_cast<float>(std::cos(theta)), static_cast<float>(std::sin(theta)));
    std::complex<float> power(1, 0);
    for (std::int64_t i = 0; i < position; ++i) {
      power = {power.real() * one.real() - power.imag() * one.imag(),
               power.real() * one.imag() + power.imag() * one.real()};
    }
    return Loops::Turn{power.real(), power.imag()};
  };
  CHECK(said_of(loops) ==
        "cos and sin are multiplied up from position to position in f32, beginning at position 0");
}

TEST_CASE("A rule that is applied to each token by itself is found") {
  Loops loops;
  loops.scalings = ROPE_BIT(ROPE_SCALING_NONE) | ROPE_BIT(ROPE_SCALING_DYNAMIC) | ROPE_BIT(ROPE_SCALING_LONGROPE);
  std::vector<long double> of_position;
  loops.theta = [&](const Call& call, std::int64_t position, int pair) {
    const int dim = static_cast<int>(call.q.shape[3]);
    if (pair == 0) of_position = frequencies<long double>(call.scaling, {dim, dim, call.base, position + 1});
    return static_cast<double>(of_position.at(static_cast<std::size_t>(pair)));
  };
  CHECK(said_of(loops) ==
        "the rule is applied to each token by itself: its position plus one is used as the sequence length");
}
