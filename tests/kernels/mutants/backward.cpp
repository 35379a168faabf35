// Wrong in the gradient only.
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct GradientOne : Kernel {
  void pass(const Place& at, int feature) const override {
    at.call.direction == ROPE_BACKWARD ? store(at, feature, 1) : Kernel::pass(at, feature);
  }
};

struct NoBackward : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    return status == ROPE_OK && call->direction == ROPE_BACKWARD ? ROPE_UNSUPPORTED : status;
  }
};

struct DefaultBase : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_FORWARD || call.angle_source != ROPE_COMPUTED) return c;
    c.base = 10000;
    c.scaling = rope_scaling{};
    return c;
  }
};

struct SinesNotExchanged : Kernel {
  void direct(const rope_call& call, Row& row) const override {
    if (call.direction == ROPE_FORWARD) return;
    for (int feature = 0; feature < row.features(); ++feature) row.sin(feature) *= -1;
  }
};

struct ForwardAgain : Kernel {
  void direct(const rope_call&, Row&) const override {}
};

struct GradientFromPositionZero : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.positions.offset = 0;
    return c;
  }
};

struct Inverse : Kernel {
  void direct(const rope_call& call, Row& row) const override {
    Kernel::direct(call, row);
    const double square = call.attention_factor * call.attention_factor;
    if (call.direction == ROPE_FORWARD || square == 0) return;
    for (int feature = 0; feature < row.features(); ++feature) {
      row.cos(feature) /= square;
      row.sin(feature) /= square;
    }
  }
};

struct GradientHalfSplitAlways : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.direction == ROPE_BACKWARD) c.pairing = ROPE_HALF_SPLIT;
    return c;
  }
};

struct GradientOfKeyForgotten : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const bool forgotten = at.key && at.call.direction == ROPE_BACKWARD;
    forgotten ? (pass(at, pair.first), pass(at, pair.second)) : Kernel::rotate(at, pair, row);
  }
};

}  // namespace

Mutants backward_mutants() {
  static const Mutant all[] = {
      mutant<GradientOne>("BWD-01", "backward", "gradient 1 for pass-through features"),
      mutant<NoBackward>("BWD-03", "backward", "claims backward and does not have it"),
      mutant<DefaultBase>("BWD-05", "backward", "backward with base 10000 and no scaling"),
      mutant<SinesNotExchanged>("BWD-07", "backward",
                                "full-width tables: each feature keeps its own sine where the transpose swaps them"),
      mutant<ForwardAgain>("BWD-AS-FORWARD", "backward", "backward rotates forward"),
      mutant<GradientFromPositionZero>("BWD-OFFSET", "backward", "backward ignores the offset"),
      mutant<Inverse>("BWD-INVERSE", "backward",
                      "backward divides by the attention factor: the inverse, not the transpose"),
      mutant<GradientHalfSplitAlways>("BWD-HALF-SPLIT", "backward", "backward takes half-split pairs always"),
      mutant<GradientOfKeyForgotten>("BWD-KEY", "backward", "the gradient of k comes out as it went in"),
  };
  return all;
}

}  // namespace rope::mutants
