// theta of a call as a sum of two doubles: the input of turn() in turn.hpp.
#pragma once

#include <vector>

#include "impls/include/rope_kernel.h"

namespace rope {

struct Theta {
  std::vector<double> high;  // one per pair
  std::vector<double> low;   // the error of `high`
};

// Source `computed`: by the rules of reference/scaling. Source `frequencies`: as given, read from call.theta. Throws
// InputError if a rule refuses its parameters, which never happens after check_call.
Theta theta_of(const rope_call& call);

}  // namespace rope
