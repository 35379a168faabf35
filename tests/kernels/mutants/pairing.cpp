// Which features form a pair, and in which direction the pair turns.
#include <algorithm>
#include <utility>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct TableExpandedTheOtherWay : Kernel {
  int pair_of(const rope_call& call, int feature) const override {
    return call.pairing == ROPE_INTERLEAVED ? feature % (call.rotary_dim / 2) : feature / 2;
  }
};

struct AnglesConcatenated : Kernel {
  int pair_of(const rope_call& call, int feature) const override {
    const int p = Kernel::pair_of(call, feature);
    if (call.axis == nullptr) return p;
    std::vector<int> blocks;  // the pairs of axis 0, then of axis 1, ..
    for (int a = 0; a < call.positions.axes; ++a) {
      for (int other = 0; other < call.rotary_dim / 2; ++other) {
        if (axis(call, other) == a) blocks.push_back(other);
      }
    }
    return blocks[static_cast<std::size_t>(p)];
  }
};

struct SinCosUnpackedInBlocks : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row right = Kernel::row(at, theta);
    std::vector<double> packed;  // sin, cos, sin, cos, ..
    for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
      packed.push_back(right.sin(pair(at.call, p).first));
      packed.push_back(right.cos(pair(at.call, p).first));
    }
    const std::size_t half = packed.size() / 2;
    Row wrong = right;
    for (int feature = 0; feature < wrong.features(); ++feature) {
      const auto p = static_cast<std::size_t>(pair_of(at.call, feature));
      wrong.cos(feature) = packed[p];
      wrong.sin(feature) = packed[half + p];
    }
    return wrong;
  }
};

struct PartnerWithinThirtyTwo : Kernel {
  Pair pair(const rope_call& call, int index) const override {
    if (call.pairing != ROPE_HALF_SPLIT || call.rotary_dim <= 32) return Kernel::pair(call, index);
    const int block = index / 16 * 32;  // lanes of a warp; the last block may be narrower
    const int width = std::min(32, call.rotary_dim - block);
    return {block + index % 16, block + index % 16 + width / 2};
  }
};

}  // namespace

Mutants pairing_mutants() {
  static const Mutant all[] = {
      mutant<TableExpandedTheOtherWay>("PAIR-03", "pairing-layout",
                                       "angles spread over the features in the other pairing: two in each pair"),
      mutant<SinCosUnpackedInBlocks>("PAIR-05", "pairing-layout",
                                     "cos and sin are the first and second half of a table sin, cos, sin, cos, .."),
      mutant<AnglesConcatenated>(
          "PAIR-07", "pairing-layout",
          "several axes: their angles in blocks, one axis after the other, where they alternate"),
      mutant<PartnerWithinThirtyTwo>("PAIR-09", "pairing-layout",
                                     "half-split partners exchanged 16 apart in blocks of 32 where rotary_dim > 32"),
  };
  return all;
}

}  // namespace rope::mutants
