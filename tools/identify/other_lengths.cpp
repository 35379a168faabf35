#include "tools/identify/other_lengths.hpp"

#include <cmath>

#include "tools/identify/phase_probe.hpp"

namespace rope {
namespace {

// If a rule follows the length: one length that is not beyond the original one, and two well beyond, which give a line.
// Else one length below every original length that models have.
std::vector<std::int64_t> lengths_to_try(const RopeSpec& told) {
  const double original = follows_length(told.scaling) ? original_length(told.scaling) : 0;
  if (original == 0) return {1024};
  const auto length = static_cast<std::int64_t>(original);
  return {length, 4 * length + 1, 64 * length + 1};
}

}  // namespace

std::vector<FrequencyQuestion::AtLength> ask_other_lengths(Prober& prober, const std::vector<FeaturePair>& pairs,
                                                           const std::vector<std::size_t>& index, std::size_t count,
                                                           const AngleNoise& noise) {
  std::vector<FrequencyQuestion::AtLength> all;
  const std::int64_t longest = prober.sequence_length();
  for (const std::int64_t length : lengths_to_try(prober.way().spec)) {
    if (length >= longest || length < 2) continue;
    prober.set_sequence_length(length);
    const std::vector<std::int64_t> positions =
        phase_positions(prober.largest_position(), prober.separate_axes() || prober.any_position());
    std::vector<Prober::Position> asked;
    for (const std::int64_t m : positions) asked.push_back(prober.on_all_axes(m));
    const std::vector<PairSeries> series = ask_phases(prober, pairs, asked);
    FrequencyQuestion::AtLength at{length, std::vector<MeasuredTheta>(count, {0, INFINITY})};
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (index[p] >= count) continue;
      const PhaseEstimate e = estimate_phase(positions, series[p].first, noise);
      at.theta[index[p]] = {e.theta, e.error};
    }
    all.push_back(std::move(at));
  }
  prober.set_sequence_length(longest);
  return all;
}

}  // namespace rope
