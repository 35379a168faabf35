#include "impls/theta.hpp"

#include "impls/contract.hpp"

namespace rope {
namespace {

// The rules at 64 bits instead of 53. It costs microseconds per call. It removes the kernel's own theta from the error
// of f64 results. In double, pow, exp and divisions may add up to some 2^-50 phi; of that 2^-63 phi is left.
std::vector<long double> at_64_bits(const rope_call& call) {
  const int pairs = call.rotary_dim / 2;
  if (call.angle_source == ROPE_COMPUTED) {
    const RopeSpec spec = spec_of(call);
    return frequencies<long double>(spec.scaling, {spec.head_dim, spec.rotary_dim, spec.base, call.sequence_length});
  }
  if (call.theta_dtype == ROPE_F32) {
    const auto* theta = static_cast<const float*>(call.theta);
    return {theta, theta + pairs};
  }
  const auto* theta = static_cast<const double*>(call.theta);
  return {theta, theta + pairs};
}

}  // namespace

Theta theta_of(const rope_call& call) {
  Theta result;
  for (const long double theta : at_64_bits(call)) {
    result.high.push_back(static_cast<double>(theta));
    result.low.push_back(static_cast<double>(theta - static_cast<long double>(result.high.back())));
  }
  return result;
}

}  // namespace rope
