// Compares a hypothesis's prediction for one case with the observation: row by row, and where the call ended.
#pragma once

#include <optional>
#include <vector>

#include "tools/diagnose/literal.hpp"

namespace rope::diagnosis {

struct RowCount {
  double said = 1;       // share of the wrong elements that it predicts: reads outside may yield anything
  bool agrees = true;    // with the hypothesis
  bool in_part = false;  // its wrong elements agree, and others do not
};

struct Simulated {
  Prediction said;
  std::vector<RowCount> rows;
  std::optional<OutsideAccess> outside;  // as in Prediction
  bool gaps = false;
  double error = 0;  // the remaining error, and the original one: in units of the row's size, at most 1 per element
  double before = 0;
};

// The change holds for the elements for which the condition holds; what the condition says of rows is left out.
Simulated simulate(const Observation& seen, const Change& change, const Condition& condition);

// How well a simulation explains the end of a call, or a write into a gap. Many mistakes lead out of the same tensor,
// so the tensor by itself says little; the same element says much.
double share_of_end(const Observation& seen, const Simulated& simulated);

}  // namespace rope::diagnosis
