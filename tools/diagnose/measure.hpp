// Measurements of wrong rows if no hypothesis fits: for each pair, the one cos and sin that would give its
// result. They name a class and no more.
#pragma once

#include <optional>

#include "tools/diagnose/weigh.hpp"
#include "tools/judge/run/diagnosis.hpp"

namespace rope::diagnosis {

// How a wrong row looks.
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

// The shape of most wrong rows.
std::optional<Measured> measured(const Observations& seen);

// If rows were never written, or turned a second time, the executed plan says nothing more.
bool says_more_than_a_plan(Shape shape);

}  // namespace rope::diagnosis
