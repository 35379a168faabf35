// What a hypothesis says of one case, against what was seen of it: row by row, and where the call ended.
#pragma once

#include <optional>
#include <vector>

#include "tools/diagnose/evidence.hpp"

namespace rope::diagnosis {

struct RowCount {
  double said = 1;     // share of the wrong elements of which it says something: reads outside may yield anything
  bool agrees = true;  // with the hypothesis
};

struct Simulated {
  std::vector<RowCount> rows;
  std::optional<OutsideAccess> outside;  // as a Prediction has them
  bool gaps = false;
  double error = 0;  // what is left of the error, and what it was: in units of the row's size, capped at 1 an element
  double before = 0;
};

Simulated simulate(const Observation& seen, const Change& change);

// How far a simulation accounts for what ended a call, or for what was written into a gap. Many mistakes lead out of
// the same tensor, so that alone says little; the same element says much.
double share_of_end(const Observation& seen, const Simulated& simulated);

}  // namespace rope::diagnosis
