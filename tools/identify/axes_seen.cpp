#include "tools/identify/axes_seen.hpp"

#include <algorithm>
#include <cmath>

#include "reference/axis_orders.hpp"
#include "reference/input_error.hpp"
#include "tools/identify/phase_probe.hpp"

namespace rope {

std::vector<int> axis_of_each_pair(Prober& prober, const std::vector<FeaturePair>& pairs, const AngleNoise& noise) {
  const auto axes = static_cast<std::size_t>(prober.way().spec.axes.count());
  std::vector<int> axis(pairs.size(), 0);
  if (axes == 1 || !prober.separate_axes()) return axis;
  std::vector<Prober::Position> asked{prober.on_all_axes(0)};
  const std::int64_t far = prober.largest_position();
  std::vector<std::int64_t> steps{far};  // close enough to catch a pair of any speed on its first turn
  for (std::int64_t step = 1; step <= far; step *= 4) steps.push_back(step);
  for (std::size_t a = 0; a < axes; ++a) {
    for (const std::int64_t step : steps) {
      asked.push_back(prober.on_all_axes(0));
      asked.back()[a] = step;
    }
  }
  const std::vector<PairSeries> series = ask_phases(prober, pairs, asked);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    axis[p] = -1;
    int followed = 0;
    for (std::size_t a = 0; a < axes; ++a) {
      bool turns = false;
      for (std::size_t i = 0; i < steps.size(); ++i) {
        // Errors of cos and sin are relative, so the angle's error is |sin| times as large. However little a pair
        // turns, it shows where it stood at 0.
        const double now = series[p].first[1 + a * steps.size() + i], still = series[p].first[0];
        const double allowed = noise.at(0) * (std::fabs(std::sin(now)) + std::fabs(std::sin(still)));
        turns = turns || std::fabs(wrapped(now - still)) > allowed;
      }
      if (turns) {
        axis[p] = static_cast<int>(a);
        ++followed;
      }
    }
    if (followed > 1) axis[p] = -1;
  }
  return axis;
}

bool lay_out_axes(RopeSpec& spec, int axes, const std::vector<ExecutedPair>& pairs,
                  const std::vector<std::size_t>& index) {
  const auto follows = [&](const RopeSpec& candidate) {
    const std::vector<int> axis = axis_of_pairs(candidate);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (pairs[p].axis >= 0 && (index[p] >= axis.size() || axis[index[p]] != pairs[p].axis)) return false;
    }
    return true;
  };
  if (follows(spec)) return true;
  for (const AxisOrder& each : axis_orders()) {
    RopeSpec other = spec;
    other.axes.order = each.order;
    other.axes.sections.assign(static_cast<std::size_t>(axes), 0);
    for (const ExecutedPair& pair : pairs) {
      if (pair.axis >= 0) ++other.axes.sections[static_cast<std::size_t>(pair.axis)];
    }
    try {
      validate(other);
    } catch (const InputError&) {
      continue;
    }
    if (!follows(other)) continue;
    spec = other;
    return true;
  }
  return false;
}

}  // namespace rope
