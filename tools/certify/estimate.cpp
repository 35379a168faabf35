#include "tools/certify/estimate.hpp"

#include <chrono>
#include <cmath>

#include "tools/certify/block_check.hpp"

namespace rope::certify {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double values_of(const Sweep& sweep) {
  return static_cast<double>(sweep.size) * static_cast<double>(sweep.base.spec.rotary_dim);
}

}  // namespace

std::vector<double> estimated_seconds(const Plan& plan, Subject& subject) {
  constexpr double longest = 1;
  const Clock::time_point begin = Clock::now();
  BlockCheck check(subject, plan);
  std::vector<double> seconds(plan.sweeps.size(), std::nan(""));
  double probed = 0, values = 0;
  for (std::size_t i = 0; i < plan.sweeps.size() && (i == 0 || seconds_since(begin) < longest); ++i) {
    const Sweep& sweep = plan.sweeps[i];
    const Part part = kind_called(sweep.kind).parts(sweep, sweep.range(0)).front();
    check.check(part.c);  // makes the oracle
    const Clock::time_point second = Clock::now();
    check.check(part.c);
    seconds[i] = seconds_since(second) / static_cast<double>(part.elements) * static_cast<double>(sweep.size);
    probed += seconds[i];
    values += values_of(sweep);
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    if (std::isnan(seconds[i])) seconds[i] = probed / values * values_of(plan.sweeps[i]);
  }
  return seconds;
}

}  // namespace rope::certify
