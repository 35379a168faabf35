#include "tools/identify/phase.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

namespace rope {
namespace {

// The prediction of an angle must be good enough to know the number of turns.
constexpr double unambiguous = std::numbers::pi / 2;

// Two angles, each off by the noise.
constexpr double both = 2;

bool is_power_of_two(std::int64_t m) { return m > 0 && (m & (m - 1)) == 0; }

}  // namespace

double wrapped(double angle) {
  const double w = std::remainder(angle, whole_turn);
  return w == -std::numbers::pi ? std::numbers::pi : w;
}

double AngleNoise::at(double angle) const { return noise + relative * std::fabs(angle); }

std::vector<std::int64_t> phase_positions(std::int64_t largest, bool any_position) {
  std::set<std::int64_t> positions;
  for (std::int64_t m = 0; m <= std::min<std::int64_t>(largest, 4); ++m) positions.insert(m);
  for (std::int64_t power = 1; power <= largest; power *= 2) {
    // 2^k + 1 and 2^k - 1 need k bits and more; 3 * 2^k + 5 lies far from powers of two.
    for (const std::int64_t m : {power - 1, power, power + 1, 3 * power + 5}) {
      if (m >= 0 && m <= largest) positions.insert(m);
    }
    if (!any_position && power >= 128) break;
  }
  positions.insert(largest);
  return {positions.begin(), positions.end()};
}

PhaseEstimate estimate_phase(const std::vector<std::int64_t>& positions, const Phases& phases,
                             const AngleNoise& noise) {
  PhaseEstimate estimate;
  const auto phase_at = [&](std::int64_t m) {
    const auto found = std::lower_bound(positions.begin(), positions.end(), m);
    return phases[static_cast<std::size_t>(found - positions.begin())];
  };
  estimate.intercept = phase_at(0);
  if (positions.back() < 1) return estimate;
  estimate.theta = wrapped(phase_at(1) - estimate.intercept);
  estimate.error = both * noise.at(estimate.theta);
  estimate.reached = 1;
  estimate.steps.push_back({1, estimate.theta, estimate.error});
  for (const std::int64_t m : positions) {
    if (m < 2 || !is_power_of_two(m)) continue;
    const auto distance = static_cast<double>(m);
    const double predicted = estimate.intercept + distance * estimate.theta;
    const double expected_error = distance * estimate.error + both * noise.at(predicted);
    const double off = wrapped(phase_at(m) - predicted);
    if (expected_error > unambiguous || !(std::fabs(off) <= expected_error)) break;
    estimate.reached = m;
    const double error = both * noise.at(predicted) / distance;
    if (error > estimate.error) continue;
    estimate.theta += off / distance;
    estimate.error = error;
    estimate.steps.push_back({m, estimate.theta, estimate.error});
  }
  return estimate;
}

bool fits(const PhaseEstimate& estimate, std::int64_t position, double phase, const AngleNoise& noise) {
  const auto m = static_cast<double>(position);
  const double predicted = estimate.intercept + m * estimate.theta;
  const double allowed = m * estimate.error + both * noise.at(predicted);
  return allowed > unambiguous || std::fabs(wrapped(phase - predicted)) <= allowed;
}

std::optional<std::int64_t> effective_position(const std::vector<PhaseEstimate>& pairs,
                                               const std::vector<double>& phase_of_pair, const AngleNoise& noise) {
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t p) { return std::fabs(pairs[p].theta) <= 4 * pairs[p].error; });
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::fabs(pairs[a].theta) < std::fabs(pairs[b].theta); });
  if (order.empty()) return std::nullopt;
  double position = 0, uncertain = INFINITY;
  for (const std::size_t p : order) {
    const double theta = pairs[p].theta;
    const double offset = wrapped(phase_of_pair[p] - pairs[p].intercept);
    double candidate = offset / theta;  // the slowest pair has turned less than once, or nothing can be known
    if (std::isfinite(uncertain)) {
      if (uncertain * std::fabs(theta) > std::numbers::pi) continue;
      candidate += std::round((position - candidate) * theta / whole_turn) * whole_turn / theta;
      if (std::fabs(candidate - position) > uncertain + both * noise.at(position * theta) / std::fabs(theta) + 0.5) {
        return std::nullopt;
      }
    } else if (candidate < -0.5) {
      candidate += whole_turn / std::fabs(theta);
    }
    const double error = both * noise.at(candidate * theta) / std::fabs(theta) +
                         std::fabs(candidate) * pairs[p].error / std::fabs(theta);
    if (error < uncertain) {
      position = candidate;
      uncertain = error;
    }
  }
  if (uncertain > 0.4) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(std::llround(position));
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (!fits(pairs[p], whole, phase_of_pair[p], noise)) return std::nullopt;
  }
  return whole;
}

}  // namespace rope
