// Which of the observed cases a cause is weighed on.
#pragma once

#include <vector>

#include "tools/diagnose/evidence.hpp"

namespace rope::diagnosis {

struct Sample {
  std::vector<const Observation*> failed, passed;
};

// At most 40 that failed and 60 that passed, and all that were made to separate causes. Small cases come first, and
// every requirement's own before the random ones.
Sample sample_of(const Observations& seen);

// Indices of `most` of so many cases, or of all, evenly spread.
std::vector<std::size_t> some_of(std::size_t count, std::size_t most);

}  // namespace rope::diagnosis
