// How angles are used, in which pairs, heads and tensors, and the steps before and after the rotation.
#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

// x.flip(-1) instead of x.roll(rotary_dim / 2).
struct PartnerFromTheEnd : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (at.call.pairing != ROPE_HALF_SPLIT) return Kernel::rotate(at, pair, row);
    const Pair mirrored{pair.first, at.call.rotary_dim - 1 - pair.first};
    const Values y = turned(values(at, mirrored), pair, row);
    store(at, mirrored.first, y.first);
    store(at, mirrored.second, y.second);
  }
};

// Vectors of four pairs; the loop for the remaining pairs was copied from the other layout.
struct LeftOverHalfSplit : Kernel {
  Pair pair(const rope_call& call, int index) const override {
    const int pairs = call.rotary_dim / 2;
    const int whole = pairs / 4 * 4;
    if (call.pairing != ROPE_INTERLEAVED || index < whole) return Kernel::pair(call, index);
    const int first = whole + index;  // 2 * whole + (index - whole)
    return {first, first + pairs - whole};
  }
};

// cat(even results, odd results) instead of stack and flatten.
struct ResultsInHalves : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    thread_local std::vector<double> head;  // read before it is overwritten in place
    if (pair.first == 0) {
      head.clear();
      for (int feature = 0; feature < at.call.rotary_dim; ++feature) head.push_back(load(at, feature));
    }
    const auto first = static_cast<std::size_t>(pair.first);
    const auto second = static_cast<std::size_t>(pair.second);
    const Values y = turned({head[first], head[second]}, pair, row);
    const bool interleaved = at.call.pairing == ROPE_INTERLEAVED;
    store(at, interleaved ? pair.first / 2 : pair.first, y.first);
    store(at, interleaved ? (pair.first + at.call.rotary_dim) / 2 : pair.second, y.second);
  }
};

struct SineFromCosine : Kernel {
  Turn turn(const rope_call&, double angle) const override { return {std::cos(angle), std::fabs(std::sin(angle))}; }
};

struct TailFromTheStart : Kernel {
  void pass(const Place& at, int feature) const override { store(at, feature, load(at, feature - at.call.rotary_dim)); }
};

struct TailTimesFactor : Kernel {
  void pass(const Place& at, int feature) const override {
    if (at.call.attention_factor == 1) return Kernel::pass(at, feature);
    store(at, feature, load(at, feature) * at.call.attention_factor);
  }
};

// Launched over the heads of q: each key head is rotated once for every query head of its group.
struct OncePerQueryHead : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const std::int64_t heads = at.call.q.shape[2];
    const std::int64_t times = at.key && at.in_place() && heads > at.in().shape[2] ? heads / at.in().shape[2] : 1;
    for (std::int64_t i = 0; i < times; ++i) Kernel::rotate(at, pair, row);
  }
};

struct NormalisedBefore : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    thread_local double scale = 1;
    if (pair.first == 0) {
      double squares = 0;
      for (int feature = 0; feature < at.call.rotary_dim; ++feature) squares += std::pow(load(at, feature), 2);
      scale = 1 / std::sqrt(squares / at.call.rotary_dim + 1e-6);
    }
    const Values y = turned(values(at, pair), pair, row);
    store(at, pair.first, y.first * scale);
    store(at, pair.second, y.second * scale);
  }
};

struct GradientWithOneSign : Kernel {
  void direct(const rope_call& call, Row& row) const override {
    Kernel::direct(call, row);
    if (call.direction == ROPE_FORWARD) return;
    for (int p = 0; p < call.rotary_dim / 2; ++p) row.sin(pair(call, p).second) *= -1;
  }
};

struct GradientWithoutScaling : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.scaling = rope_scaling{};
    return c;
  }
};

}  // namespace

Mutants rotation_mutants() {
  static const Mutant all[] = {
      mutant<PartnerFromTheEnd>("PAIR-MIRRORED", "pairing-layout",
                                "half-split: the partner of p is r-1-p, counted from the end"),
      mutant<LeftOverHalfSplit>("PAIR-LEFT-OVER", "pairing-layout",
                                "interleaved: pairs left over from vectors of four are split into halves"),
      mutant<ResultsInHalves>("PAIR-RESULTS-IN-HALVES", "pairing-layout",
                              "interleaved: results written as two halves, not alternating"),
      mutant<SineFromCosine>("SIGN-SQUARE-ROOT", "sign-direction",
                             "sin as sqrt(1 - cos^2), which is never negative; tables are right"),
      mutant<TailFromTheStart>("PART-TAIL-FROM-START", "partial-passthrough",
                               "pass-through features copied from the start of the head"),
      mutant<TailTimesFactor>("PART-TAIL-SCALED", "partial-passthrough",
                              "pass-through features times the attention factor"),
      mutant<OncePerQueryHead>("HEAD-ONCE-PER-QUERY", "heads-batch-qk",
                               "in place, grouped heads: a head of k is rotated once for each head of q"),
      mutant<NormalisedBefore>("PIPE-NORMALISED", "pipeline",
                               "rotary features divided by their root mean square before they turn"),
      mutant<GradientWithOneSign>("BWD-ONE-SIGN", "backward", "backward negates sin in one of the two lines only"),
      mutant<GradientWithoutScaling>("BWD-NO-SCALING", "backward",
                                     "backward without the scaling rule, with the right base"),
  };
  return all;
}

}  // namespace rope::mutants
