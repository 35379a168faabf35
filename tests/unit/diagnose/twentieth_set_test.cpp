// Mistakes of kernels of the twentieth blind set, which the diagnosis called otherwise.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/unit/diagnose/loops.hpp"

using namespace rope;
using namespace rope::test;

TEST_CASE("Left-over pairs that turn in the opposite direction are named, not the small heads that have them") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    RowToTurn wrong = row;
    for (std::size_t p = row.half() / 4 * 4; p < row.half(); ++p) wrong.sin[p] = -wrong.sin[p];
    wrong.turn_all();
  };
  Fake subject = loops.kernel();
  CHECK(with_condition(diagnosed(subject, {"ROT-01", "SHP-04"})) ==
        "the inverse rotation: sin is negated, only pairs left over from blocks of 4");
}

TEST_CASE("Pairs that share a slot for their angle are named, not a limit of the launch") {
  Loops loops;
  loops.turn_row = [](const RowToTurn& row) {
    RowToTurn wrong = row;
    for (std::size_t p = 0; p < row.half(); ++p) {
      const std::size_t last = p + (row.half() - 1 - p) / 64 * 64;
      wrong.cos[p] = row.cos[last];
      wrong.sin[p] = row.sin[last];
    }
    wrong.turn_all();
  };
  Fake subject = loops.kernel();
  CHECK(first_of(diagnosed(subject, {"ROT-01", "SHP-02"})).sentence ==
        "of pairs that are 64 apart, all get the angle of the last");
}

TEST_CASE("A number of quarter turns that ends at the limit of its type is named") {
  Loops loops;
  loops.at = [](std::int64_t position, double of_pair) {
    constexpr double quarter = std::numbers::pi / 2;
    const double angle = static_cast<double>(position) * of_pair, quarters = std::nearbyint(angle / quarter);
    const double turned = angle - (quarters - std::min(quarters, 32767.0)) * quarter;
    return Loops::Turn{std::cos(turned), std::sin(turned)};
  };
  Fake subject = loops.kernel();
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-03"})).sentence ==
        "from quarter turn 32767 on, all angles have its quadrant");
}

TEST_CASE("Heads of a repeated k that are taken from its beginning are named, not another order of two heads") {
  Loops loops;
  loops.head_read = [](const Call& call, bool key, std::int64_t head) {
    return key ? head * call.k->shape[2] / call.q.shape[2] : head;
  };
  Fake subject = loops.kernel();
  const auto found = diagnosed(subject, {"ROT-01", "SHP-05"});
  CHECK(first_of(found).sentence ==
        "k is repeated to q's heads, each head in a row, and the first of these are taken for k's heads");
  CHECK(first_of(found).condition.empty());
}

TEST_CASE("A turn that lacks its last part is named with its value") {
  Loops loops;
  loops.at = [](std::int64_t position, double of_pair) {
    const double angle = std::remainder(static_cast<double>(position) * of_pair, 6.28125 + 63.0 / 32768);
    return Loops::Turn{std::cos(angle), std::sin(angle)};
  };
  Fake subject = loops.kernel();
  CHECK(first_of(diagnosed(subject, {"ROT-01", "ANG-02"})).sentence ==
        "angles are reduced by 6.283172607421875, not by 2 pi");
}
