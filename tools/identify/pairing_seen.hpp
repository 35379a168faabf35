// The named pairing that the pairs of a structure have.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/rope_spec.hpp"
#include "tools/identify/structure.hpp"

namespace rope {

// Finds the partners of features that turn by whole half turns, or not at all. These leave no mark outside the
// diagonal, so the pattern of the other pairs decides.
void complete_pairs(Structure& structure, const RopeSpec& told);

struct PairingSeen {
  std::optional<Pairing> pairing;  // none: neither
  int rotary_dim = 0;              // features that turn, as far as the pairs show it
};

// Pairs that all stand n/2 apart, or beside each other. The distance counts, not the number, because pairs that turn by
// 0 are missing. One pair (0, 1) is both; then the given pairing is taken.
PairingSeen pairing_of(const Structure& structure, const RopeSpec& told, std::int64_t sequence_length);

// A pair's index among the spec's pairs. They are counted from rotary_offset; without one, if they end with the head,
// from where they begin.
std::size_t index_of(const FeaturePair& pair, const Structure& structure, Pairing pairing, const RopeSpec& told);

}  // namespace rope
