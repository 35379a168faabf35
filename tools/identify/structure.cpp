#include "tools/identify/structure.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace rope {
namespace {

// Positions with generic angles. 0 shows what the kernel does without a rotation, the largest shows the slowest pairs.
// The odd ones in between guard against a pair whose angle happens to be near a multiple of pi/2.
std::vector<std::int64_t> structure_positions(std::int64_t largest) {
  std::vector<std::int64_t> positions;
  for (std::int64_t m : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, std::int64_t{37}, std::int64_t{12'345},
                         std::int64_t{1'000'003}}) {
    if (m < largest) positions.push_back(m);
  }
  positions.push_back(largest);
  return positions;
}

using Entry = std::pair<int, int>;                    // output, input
using Values = std::map<Entry, std::vector<double>>;  // one value per position, NaN if there is none

struct Entries {
  Values values;
  std::vector<std::int64_t> numbers;  // how many an output feature held
  bool not_a_number = false;
};

// A right kernel leaves exact zeros outside of its pairs. One that adds noise everywhere has a floor above 0.
double noise_floor(std::span<const double> outputs) {
  std::vector<double> magnitudes;
  for (const double y : outputs) magnitudes.push_back(std::isfinite(y) ? std::fabs(y) : 0);
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::nth_element(magnitudes.begin(), middle, magnitudes.end());
  return magnitudes.size() < 8 ? 0 : 4 * *middle;
}

Entries measure(Prober& prober, const std::vector<Prober::Position>& positions) {
  Entries entries;
  entries.numbers.resize(static_cast<std::size_t>(prober.head_dim()));
  const std::vector<double> rows = one_hot_rows(prober.head_dim());
  prober.ask(positions, rows, [&](std::size_t at, std::size_t input, std::span<const double> outputs) {
    const double floor = noise_floor(outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!std::isfinite(outputs[i])) {
        entries.not_a_number = true;
        continue;
      }
      ++entries.numbers[i];
      if (std::fabs(outputs[i]) <= floor) continue;
      std::vector<double>& values = entries.values[{static_cast<int>(i), static_cast<int>(input)}];
      values.resize(positions.size());
      values[at] = outputs[i];
    }
  });
  return entries;
}

class Groups {
 public:
  explicit Groups(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  int of(int i) {
    auto& parent = parent_[static_cast<std::size_t>(i)];
    return parent == i ? i : parent = of(parent);
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(of(a))] = of(b); }

 private:
  std::vector<int> parent_;
};

bool always(const std::vector<double>& values, double wanted) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == wanted; });
}

// A factor within half a roundoff of 1 leaves a 1 unchanged. It moves the largest significand first: there half that
// distance from 1 is enough.
void part_scaled(Prober& prober, const Prober::Position& position, Structure& structure) {
  if (structure.passed.empty()) return;
  const double value = 2 - 2 * unit_roundoff(prober.way().dtype);
  std::vector<double> row(static_cast<std::size_t>(prober.head_dim()));
  for (const int feature : structure.passed) row[static_cast<std::size_t>(feature)] = value;
  prober.ask({position}, row, [&](std::size_t, std::size_t, std::span<const double> outputs) {
    std::erase_if(structure.passed, [&](int feature) {
      const double factor = outputs[static_cast<std::size_t>(feature)] / value;
      if (factor == 1) return false;
      structure.lone.push_back({feature, feature, std::min(1.0, factor), std::max(1.0, factor)});
      return true;
    });
  });
}

}  // namespace

BlockKind kind_of(const std::vector<Block>& seen, double roundoff) {
  // Each entry is one rounded product, times lambda rounded: a few roundoffs of the largest entry.
  bool rotation = true, reflection = true, without_sign = true, orthogonal_like = true;
  for (const Block& b : seen) {
    const double scale = std::max({std::fabs(b.aa), std::fabs(b.ab), std::fabs(b.ba), std::fabs(b.bb)});
    const double tolerance = 8 * roundoff * scale;
    const auto near = [&](double x, double y) { return std::fabs(x - y) <= tolerance; };
    rotation = rotation && near(b.aa, b.bb) && near(b.ab, -b.ba);
    reflection = reflection && near(b.aa, -b.bb) && near(b.ab, b.ba);
    without_sign = without_sign && near(b.aa, b.bb) && near(b.ab, b.ba);
    orthogonal_like = orthogonal_like && std::isfinite(scale);
  }
  if (rotation) return BlockKind::rotation;
  if (reflection) return BlockKind::reflection;
  if (without_sign) return BlockKind::unsigned_;
  // Two angles: each row of the block has the norm lambda; two entries give it to four roundoffs.
  double least = INFINITY, most = 0;
  for (const Block& b : seen) {
    for (const double norm : {std::hypot(b.aa, b.ab), std::hypot(b.ba, b.bb)}) {
      least = std::min(least, norm);
      most = std::max(most, norm);
    }
  }
  return orthogonal_like && most - least <= 8 * roundoff * most ? BlockKind::two_angles : BlockKind::other;
}

Structure measure_structure(Prober& prober) {
  std::vector<Prober::Position> positions;
  for (const std::int64_t m : structure_positions(prober.largest_position())) {
    positions.push_back(prober.on_all_axes(m));
  }
  if (!prober.any_position() && positions.size() > 3) positions = {positions.front(), positions[2], positions.back()};
  const Entries entries = measure(prober, positions);
  const int dim = prober.head_dim();
  Groups groups(2 * dim);  // inputs, then outputs
  for (const auto& [entry, values] : entries.values) groups.join(entry.second, dim + entry.first);
  struct Members {
    std::vector<int> inputs, outputs;
  };
  std::map<int, Members> members;
  for (int j = 0; j < dim; ++j) members[groups.of(j)].inputs.push_back(j);
  for (int i = 0; i < dim; ++i) members[groups.of(dim + i)].outputs.push_back(i);
  const auto values_of = [&](int output, int input) {
    const auto found = entries.values.find({output, input});
    return found == entries.values.end() ? std::vector<double>(positions.size()) : found->second;
  };

  Structure structure;
  for (const auto& [root, group] : members) {
    const std::vector<int>&in = group.inputs, &out = group.outputs;
    if (in.empty()) {
      for (const int i : out) {
        (entries.numbers[static_cast<std::size_t>(i)] == 0 ? structure.unwritten : structure.silent).push_back(i);
      }
    } else if (in.size() == 1 && out.size() == 1) {
      const std::vector<double> values = values_of(out[0], in[0]);
      if (in == out && always(values, 1)) {
        structure.passed.push_back(in[0]);
      } else {
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        structure.lone.push_back({in[0], out[0], *least, *most});
      }
    } else if (in.size() == 2 && out.size() == 2) {
      FeaturePair pair{in[0], in[1], out[0], out[1], BlockKind::other};
      std::vector<Block> seen;
      const auto aa = values_of(out[0], in[0]), ab = values_of(out[0], in[1]);
      const auto ba = values_of(out[1], in[0]), bb = values_of(out[1], in[1]);
      for (std::size_t m = 0; m < positions.size(); ++m) seen.push_back({aa[m], ab[m], ba[m], bb[m]});
      pair.kind = kind_of(seen, prober.roundoff());
      structure.pairs.push_back(pair);
    } else if (in.size() + out.size() > 2) {
      std::set<int> features(in.begin(), in.end());
      features.insert(out.begin(), out.end());
      structure.groups.emplace_back(features.begin(), features.end());
    }
  }
  part_scaled(prober, positions.back(), structure);
  std::sort(structure.passed.begin(), structure.passed.end());
  std::sort(structure.silent.begin(), structure.silent.end());
  std::sort(structure.unwritten.begin(), structure.unwritten.end());
  structure.not_a_number = entries.not_a_number && structure.unwritten.empty();
  std::sort(structure.pairs.begin(), structure.pairs.end(),
            [](const FeaturePair& a, const FeaturePair& b) { return a.first < b.first; });
  std::sort(structure.lone.begin(), structure.lone.end(),
            [](const Structure::Lone& a, const Structure::Lone& b) { return a.input < b.input; });
  std::sort(structure.groups.begin(), structure.groups.end());
  return structure;
}

}  // namespace rope
