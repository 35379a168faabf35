#include "tools/identify/pairing_seen.hpp"

#include <algorithm>

#include "reference/rotation_plan.hpp"

namespace rope {
namespace {

int told_partner(const RopeSpec& told, int feature) {
  const int half = told.rotary_dim / 2, in_block = feature - told.rotary_offset;
  if (told.pairing == Pairing::half_split) return in_block >= 0 && in_block < half ? feature + half : -1;
  return feature % 2 == 0 && in_block >= 0 && in_block < told.rotary_dim ? feature + 1 : -1;
}

bool trailing_pairs_stand_still(const RopeSpec& told, int rotary_dim, std::int64_t sequence_length) {
  const RotationPlan told_plan = compile(told, sequence_length);
  return std::all_of(told_plan.pairs.begin(), told_plan.pairs.end(),
                     [&](const RotatedPair& pair) {
                       return pair.first < told.rotary_offset + rotary_dim || pair.theta.to_double() == 0;
                     });
}

}  // namespace

void complete_pairs(Structure& s, const RopeSpec& told) {
  if (s.lone.empty()) return;
  const auto partner_of = [&](int feature) {
    if (s.pairs.empty()) return told_partner(told, feature);
    const FeaturePair& known = s.pairs.front();
    const int distance = known.second - known.first;
    const bool adjacent = distance == 1 && known.first % 2 == 0 && s.pairs.size() > 1;
    return adjacent ? (feature % 2 == 0 ? feature + 1 : -1) : feature + distance;
  };
  std::vector<Structure::Lone> left;
  std::vector<bool> taken(s.lone.size());
  for (std::size_t i = 0; i < s.lone.size(); ++i) {
    if (taken[i]) continue;
    const int wanted = s.lone[i].input == s.lone[i].output ? partner_of(s.lone[i].input) : -1;
    const auto found = std::find_if(s.lone.begin(), s.lone.end(), [&](const Structure::Lone& other) {
      return other.input == wanted && other.output == wanted;
    });
    if (found == s.lone.end() || taken[static_cast<std::size_t>(found - s.lone.begin())]) {
      left.push_back(s.lone[i]);
      continue;
    }
    taken[static_cast<std::size_t>(found - s.lone.begin())] = true;
    s.pairs.push_back({s.lone[i].input, wanted, s.lone[i].input, wanted, BlockKind::rotation});
  }
  s.lone = std::move(left);
  std::sort(s.pairs.begin(), s.pairs.end(),
            [](const FeaturePair& a, const FeaturePair& b) { return a.first < b.first; });
}

PairingSeen pairing_of(const Structure& structure, const RopeSpec& told, std::int64_t sequence_length) {
  const std::vector<FeaturePair>& pairs = structure.pairs;
  PairingSeen seen;
  if (pairs.empty()) return seen;
  const int distance = pairs.front().second - pairs.front().first;
  const int start = pairs.front().first;
  bool half = true, adjacent = true, in_place = true;
  for (const FeaturePair& p : pairs) {
    half = half && p.second - p.first == distance && p.first - start < distance;
    adjacent = adjacent && p.second == p.first + 1 && p.first % 2 == 0;
    in_place = in_place && p.out_first == p.first && p.out_second == p.second;
  }
  if (!in_place) return seen;
  if (half && adjacent) {
    seen.pairing = told.rotary_dim == 2 || told.pairing == Pairing::interleaved ? told.pairing : Pairing::half_split;
    seen.rotary_dim = *seen.pairing == Pairing::interleaved ? told.rotary_dim : 2;
  } else if (half) {
    seen.pairing = Pairing::half_split;
    seen.rotary_dim = 2 * distance;
  } else if (adjacent) {
    seen.pairing = Pairing::interleaved;
    seen.rotary_dim = pairs.back().second + 1 - start;
    // A pair that does not turn looks like features outside. It counts as a pair if the given frequencies hold such.
    if (seen.rotary_dim < told.rotary_dim && trailing_pairs_stand_still(told, seen.rotary_dim, sequence_length))
      seen.rotary_dim = told.rotary_dim;
  }
  return seen;
}

std::size_t index_of(const FeaturePair& pair, const Structure& structure, Pairing pairing, const RopeSpec& told) {
  const int start = structure.pairs.front().first;
  const bool at_the_end = structure.pairs.back().second + 1 == told.head_dim && start >= 2;
  const bool as_told = start >= told.rotary_offset && told.rotary_offset > 0;
  const int first = pair.first - (as_told ? told.rotary_offset : at_the_end ? start : 0);
  return static_cast<std::size_t>(pairing == Pairing::half_split ? first : first / 2);
}

}  // namespace rope
