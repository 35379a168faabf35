#include "tools/identify/phase_probe.hpp"

#include <cmath>
#include <utility>

namespace rope {
namespace {

// The angle in each output. A rotation uses all four entries.
std::pair<double, double> angles_of(const Block& b, BlockKind kind) {
  switch (kind) {
    case BlockKind::rotation: {
      const double angle = std::atan2(b.ba - b.ab, b.aa + b.bb);
      return {angle, angle};
    }
    case BlockKind::reflection: {
      const double angle = std::atan2(b.ba + b.ab, b.aa - b.bb);
      return {angle, angle};
    }
    case BlockKind::unsigned_: {
      const double angle = std::atan2(b.ba + b.ab, b.aa + b.bb);
      return {angle, angle};
    }
    case BlockKind::two_angles:
    case BlockKind::other: break;
  }
  return {std::atan2(-b.ab, b.aa), std::atan2(b.ba, b.bb)};
}

}  // namespace

std::vector<PairSeries> ask_phases(Prober& prober, const std::vector<FeaturePair>& pairs,
                                   const std::vector<Prober::Position>& positions) {
  const auto dim = static_cast<std::size_t>(prober.head_dim());
  std::vector<double> rows(2 * dim);
  for (const FeaturePair& pair : pairs) {
    rows[static_cast<std::size_t>(pair.first)] = 1;
    rows[dim + static_cast<std::size_t>(pair.second)] = 1;
  }
  std::vector<PairSeries> all(pairs.size());
  for (PairSeries& series : all) series.blocks.resize(positions.size());
  prober.ask(positions, rows, [&](std::size_t at, std::size_t row, std::span<const double> y) {
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      Block& block = all[p].blocks[at];
      (row == 0 ? block.aa : block.ab) = y[static_cast<std::size_t>(pairs[p].out_first)];
      (row == 0 ? block.ba : block.bb) = y[static_cast<std::size_t>(pairs[p].out_second)];
    }
  });
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    for (const Block& b : all[p].blocks) {
      const auto [first, second] = angles_of(b, pairs[p].kind);
      all[p].first.push_back(first);
      all[p].second.push_back(second);
      all[p].lambda.push_back(std::sqrt((b.aa * b.aa + b.ab * b.ab + b.ba * b.ba + b.bb * b.bb) / 2));
    }
  }
  return all;
}

}  // namespace rope
