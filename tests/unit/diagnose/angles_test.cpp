// Diagnoses of wrong angles: their reduction, quadrants, tables over a turn, powers, order within a vector.
#include <complex>
#include <numbers>

#include "reference/scaling/rules.hpp"
#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

namespace {

constexpr double whole_turn = 2 * std::numbers::pi;

Loops::Turn of_angle(double angle) { return {std::cos(angle), std::sin(angle)}; }

Fake turning(std::function<Loops::Turn(double angle)> turn) {
  Loops loops;
  loops.at = [turn = std::move(turn)](std::int64_t position, double theta) {
    return turn(static_cast<double>(position) * theta);
  };
  return loops.kernel();
}

constexpr double quarter = std::numbers::pi / 2;

}  // namespace

TEST_CASE("Angles that lose something when they are reduced are named, with the value") {
  const std::vector<std::string> only{"ROT-01", "ANG-02", "ANG-03"};
  expect("few digits", turning([](double angle) { return of_angle(std::remainder(angle, 6.28319)); }),
         {"angles are reduced by 6.28319, not by 2 pi", {}, {}, only});
  expect("without the last part",
         turning([](double angle) { return of_angle(std::remainder(angle, 6.28125 + 63.0 / 32768)); }),
         {"angles are reduced by 6.283172607421875, not by 2 pi", {}, {}, only});
  expect("quarters end at the limit of their type", turning([](double angle) {
           const double quarters = std::nearbyint(angle / quarter);
           return of_angle(angle - (quarters - std::min(quarters, 32767.0)) * quarter);
         }),
         {"from quarter turn 32767 on, all angles have its quadrant", {}, {}, only});
  expect(
      "quarters beyond the limit of their type", turning([](double angle) {
        return angle < 32767.5 * quarter ? of_angle(angle) : Loops::Turn{angle * angle, -angle};
      }),
      {"pairs that turn by 5.147e+04 radians or more are wrong at any position: the number of quarter turns does not "
       "fit into a signed integer of 16 bits",
       {},
       {},
       only});
}

TEST_CASE("What is wrong in one quadrant, or of one of cos and sin, is named") {
  expect("the sign", turning([](double angle) {
           const auto quadrant = std::llrint(angle / quarter) & 3;
           return Loops::Turn{std::cos(angle), quadrant == 3 ? std::fabs(std::sin(angle)) : std::sin(angle)};
         }),
         {"sin has the wrong sign where an angle, less its whole turns, is from 1.25 to 1.75 pi"});
  expect("exchanged", turning([](double angle) {
           const double turns = angle / whole_turn, place = turns - std::floor(turns);
           const auto [c, s] = of_angle(angle);
           return place >= 0.25 && place < 0.5 ? Loops::Turn{s, c} : Loops::Turn{c, s};
         }),
         {"cos and sin are exchanged where an angle, less its whole turns, is from 0.5 to 1 pi"});
  expect("the root of what the cosine leaves", turning([](double angle) {
           const auto c = static_cast<float>(std::cos(angle));
           return Loops::Turn{c, std::copysign(std::sqrt(std::max(0.0F, 1 - c * c)), std::sin(angle))};
         }),
         {"sin is computed in f32 as sqrt(1 - cos^2), which is inexact where it is small"});
  expect(
      "an approximation that does not reach through", turning([](double angle) {
        const double error = angle - std::floor(angle / quarter) * quarter > quarter / 2 ? 1e-4 : 0;
        return Loops::Turn{std::cos(angle) + error, std::sin(angle) - error};
      }),
      {"cos and sin are wrong where the angle is in the second half of its quadrant: they are computed there as in the "
       "first half, by approximations that do not reach so far",
       {},
       false,
       {"ROT-01", "ANG-01"}});
  Loops late;
  late.at = [](std::int64_t position, double theta) {
    const auto m = static_cast<double>(position);
    return Loops::Turn{std::cos(m * theta), std::sin((m + 1) * theta)};
  };
  expect("the position of sin", late.kernel(), {"position p + 1 is used, not p; in sin, while cos is right"});
}

TEST_CASE("Pairs with the angles of other pairs are named") {
  Loops loops;
  loops.theta = [](const Call& call, std::int64_t, int pair) {
    const int whole = static_cast<int>(call.q.shape[3]) / 8 * 4;
    const int other = pair < whole && (pair % 4 == 1 || pair % 4 == 2) ? pair ^ 3 : pair;
    return std::pow(call.base, -2.0 * other / static_cast<double>(call.q.shape[3]));
  };
  expect("in another order in vectors", loops.kernel(),
         {"in each 4 pairs, the second and the third are turned by each other's angle"});
  Loops slots;
  slots.turn_row = [](const RowToTurn& row) {
    RowToTurn wrong = row;
    for (std::size_t p = 0; p < row.half(); ++p) {
      const std::size_t last = p + (row.half() - 1 - p) / 64 * 64;
      wrong.cos[p] = row.cos[last];
      wrong.sin[p] = row.sin[last];
    }
    wrong.turn_all();
  };
  expect("that share a slot", slots.kernel(),
         {"of pairs that are 64 apart, all get the angle of the last", {}, {}, {"ROT-01", "SHP-02"}});
}

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
  CHECK(said_of(loops) == "cos and sin are multiplied up from position to position in f32, beginning at position 0");
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
