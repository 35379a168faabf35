// Which named pairing the pairs of a structure are.
#pragma once

#include <cstdint>
#include <optional>

#include "reference/rope_spec.hpp"
#include "tools/identify/structure.hpp"

namespace rope {

// Finds the partners of features that turn by whole half turns, or not at all, and so leave no mark outside of the
// diagonal: what the other pairs have in common tells them.
void complete_pairs(Structure& structure, const RopeSpec& told);

struct PairingSeen {
  std::optional<Pairing> pairing;  // none: neither
  int rotary_dim = 0;              // features that turn, as far as the pairs show it
};

// Pairs that all stand n/2 apart, or beside each other. Pairs that turn by 0 are missing, so the distance counts, not
// the number. One pair (0, 1) is both; what was told is taken.
PairingSeen pairing_of(const Structure& structure, const RopeSpec& told, std::int64_t sequence_length);

// Which of a spec's pairs one is. Pairs that begin further on, up to the end of the head, are counted from where they
// begin.
std::size_t index_of(const FeaturePair& pair, const Structure& structure, Pairing pairing, int head_dim);

}  // namespace rope
