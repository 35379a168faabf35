#include "tools/identify/sign_and_lambda.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reference/dtype.hpp"

namespace rope {

LambdaSeen lambda_of(const std::vector<ExecutedPair>& pairs, double told, double roundoff) {
  double least = INFINITY, most = 0;
  long double sum = 0;  // f64 would add one rounding per pair
  for (const ExecutedPair& pair : pairs) {
    least = std::min(least, pair.lambda);
    most = std::max(most, pair.lambda);
    sum += pair.lambda;
  }
  const auto mean = static_cast<double>(sum / static_cast<long double>(pairs.size()));
  const double spread = std::max({most - mean, mean - least, 4 * roundoff * mean});
  // Rounded factors leave norms that differ in their last digits. A difference above four roundings to the coarsest
  // type has another cause.
  const double coarse = 4 * unit_roundoff(DType::bf16);
  const bool is_coarse = most - least > 8 * roundoff * most;
  const double moved = is_coarse ? spread : lambda_moves_by * roundoff * mean;
  if (spread > coarse * mean) return {NAN, ""};
  LambdaSeen seen{std::fabs(mean - told) <= moved ? told : mean, ""};
  if (is_coarse) {
    seen.precision = fmt::format(
        "norms differ from pair to pair by up to {:.2g} of themselves: cos and sin, or results, are rounded coarsely",
        (most - least) / mean);
  }
  return seen;
}

// Uses the slow pairs, because a fast one may have turned by more than half a turn.
int sign_of(const std::vector<ExecutedPair>& pairs) {
  int plus = 0, minus = 0;
  for (const ExecutedPair& pair : pairs) {
    if (std::fabs(pair.theta) <= pair.theta_error || std::fabs(pair.theta) > 1.5) continue;
    ++(pair.theta > 0 ? plus : minus);
  }
  if (plus + minus == 0) {
    // Half a turn is the same either way.
    for (const ExecutedPair& pair : pairs) {
      if (std::fabs(pair.theta) < 3.14) ++(pair.theta >= 0 ? plus : minus);
    }
  }
  return minus == 0 ? 1 : plus == 0 ? -1 : plus >= 4 * minus ? 1 : minus >= 4 * plus ? -1 : 0;
}

}  // namespace rope
