// What can be measured of wrong rows where no hypothesis fits: for each pair the one cos and sin that would make its
// result. It names a class and no more.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// What a wrong row looks like.
enum class Shape {
  passes,
  still,
  again,
  rounded_off,
  factor,
  turned,
  turned_by_rule,
  other_row,
  no_angle,
  unwritten,
  foreign,
  unusual,
  mixed
};

struct Measured {
  Shape shape;
  Candidate candidate;  // its fit is at most 0.5
};

// The shape that most of the wrong rows have.
std::optional<Measured> measured(const Observations& seen);

// Of what was never written, or was turned a second time, no plan that is executed says more.
bool says_more_than_a_plan(Shape shape);

}  // namespace rope::diagnosis
