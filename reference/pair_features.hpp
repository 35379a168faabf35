// Which two features of a head a pair has: rope_kernel.h, "What a kernel computes".
#pragma once

#include "reference/rope_spec.hpp"

namespace rope {

struct PairFeatures {
  int first;
  int second;
};

constexpr PairFeatures pair_features(Pairing pairing, int rotary_dim, int rotary_offset, int pair) {
  const bool split = pairing == Pairing::half_split;
  const int first = rotary_offset + (split ? pair : 2 * pair);
  return {first, split ? first + rotary_dim / 2 : first + 1};
}

inline PairFeatures pair_features(const RopeSpec& spec, int pair) {
  return pair_features(spec.pairing, spec.rotary_dim, spec.rotary_offset, pair);
}

}  // namespace rope
