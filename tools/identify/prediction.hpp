// Whether a plan predicts rows that its measurement did not use.
#pragma once

#include "tools/identify/executed_plan.hpp"

namespace rope {

struct Predicted {
  std::int64_t elements = 0;
  std::int64_t right = 0;  // within the noise of the kernel's angles and the plan's error
};

// Random rows at random positions, through the kernel and through the plan. None if the plan has no map for a pair, or
// if the kernel changes positions. Throws ProbeError.
Predicted predict_random_rows(Prober& prober, const ExecutedPlan& plan, const AngleNoise& noise);

}  // namespace rope
