// What claims say of a scaling rule, beyond whether they name it: its choices, and who makes its attention factor.
#pragma once

#include <string>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "reference/rope_spec.hpp"

namespace rope {

// "yarn_clamp_pairs 1": the first choice of the rule that is not claimed. Empty: there is none.
std::string unclaimed_choice(const Scaling& rule, const rope_capabilities& claims);

// The choices that are the only ones, for each rule that has them: "yarn_clamp_pairs 0".
std::vector<std::string> claimed_choices(const rope_capabilities& claims);

// The rule with claimed choices. If the kernel makes the attention factor, also without what a call does not carry, such
// as YaRN's mscale.
Scaling with_claimed_choices(const Scaling& rule, const rope_capabilities& claims);

// The attention factor that a kernel makes from the rule as a call carries it.
double own_attention_factor(const Scaling& rule, const scaling::Setting& setting);

}  // namespace rope
