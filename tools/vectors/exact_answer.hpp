// A call's exact result, from the oracle: the answer while calls are recorded, and the expected values of an
// export.
#pragma once

#include <vector>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/oracles.hpp"
#include "tools/judge/case/case.hpp"

namespace rope::vectors {

// For each element of one output, in C order.
struct ExactTensor {
  std::vector<double> value;  // rounded once to f64
  std::vector<double> bound;  // of |y - value|, at the deciding grade, C3; 0 if the input is to be copied
};

struct ExactAnswer {
  ExactTensor q;
  ExactTensor k;  // empty if the call has no k
};

// Fills the call's outputs; each element is rounded to its type. `c` is the call's case, or the case that the call was
// derived from.
ExactAnswer answer_exactly(Call& call, const Case& c, Oracles& oracles);

}  // namespace rope::vectors
