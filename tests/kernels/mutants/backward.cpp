// Wrong in the gradient only.
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

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

}  // namespace

Mutants backward_mutants() {
  static const Mutant all[] = {
      mutant<NoBackward>("BWD-03", "backward", "claims backward and does not have it"),
      mutant<DefaultBase>("BWD-05", "backward", "backward with base 10000 and no scaling"),
      mutant<SinesNotExchanged>("BWD-07", "backward",
                                "full-width tables: each feature keeps its own sine where the transpose swaps them"),
      mutant<ForwardAgain>("BWD-AS-FORWARD", "backward", "backward rotates forward"),
      mutant<GradientFromPositionZero>("BWD-OFFSET", "backward", "backward ignores the offset"),
  };
  return all;
}

}  // namespace rope::mutants
