// theta of a call as a sum of two doubles: what turn() of turn.hpp takes.
#pragma once

#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope {

struct Theta {
  std::vector<double> high;  // a pair each
  std::vector<double> low;   // what `high` lacks
};

// Of angle source `computed` by the rules of reference/scaling, of `frequencies` as given, which reads call.theta.
// Throws InputError where a rule refuses its parameters; a call that has passed check_call has none of those.
Theta theta_of(const rope_call& call);

}  // namespace rope
