// Whether a plan predicts rows that took no part in measuring it.
#pragma once

#include "tools/identify/executed_plan.hpp"

namespace rope {

struct Predicted {
  std::int64_t elements = 0;
  std::int64_t right = 0;  // within the noise of the kernel's angles and the error of the plan's
};

// Random rows at random positions, through the kernel and through the plan. None where the plan has no map for a pair,
// or where positions are taken for others. Throws ProbeError.
Predicted predict_random_rows(Prober& prober, const ExecutedPlan& plan, const AngleNoise& noise);

}  // namespace rope
