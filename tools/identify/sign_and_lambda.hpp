// What the turns of all pairs have in common: the sign, and the factor of their norms.
#pragma once

#include <string>
#include <vector>

#include "tools/identify/executed_plan.hpp"

namespace rope {

// For the mean of many norms, in units of roundoff: rounding to nearest does not move it, two roundings towards zero
// move it by one u each.
inline constexpr double lambda_moves_by = 2;

struct LambdaSeen {
  double lambda = 0;      // NaN: the pairs differ by more than any rounding
  std::string precision;  // in words, if cos and sin, or results, are rounded coarsely
};

// `told`: the factor that the call gave; it is lambda if the norms are as near to it as their rounding allows.
LambdaSeen lambda_of(const std::vector<ExecutedPair>& pairs, double told, double roundoff);

// 1 or -1 as theta has it in all pairs, or in most; else 0.
int sign_of(const std::vector<ExecutedPair>& pairs);

}  // namespace rope
