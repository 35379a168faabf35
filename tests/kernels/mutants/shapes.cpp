// Shapes that exceed a launch, that have no specialisation, or that leave nothing to do.
#include <algorithm>
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

constexpr std::int64_t grid = 65535;  // the second and third dimension of a CUDA grid

bool is_empty(const rope_tensor& tensor) {
  return std::any_of(tensor.shape, tensor.shape + 3, [](std::int64_t size) { return size == 0; });
}

struct EmptyFails : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    return status == ROPE_OK && is_empty(call->q) ? ROPE_FAILED : status;
  }
};

struct OneRowAtLeast : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    for (int i = 0; i < 3; ++i) c.q.shape[i] = std::max<std::int64_t>(1, call.q.shape[i]);
    return c;
  }
};

}  // namespace

Mutants shape_mutants() {
  static const Mutant all[] = {
      mutant<EmptyFails>("VAR-05", "varlen-packing-cp", "a call without tokens is answered with failed"),
      mutant<OneRowAtLeast>("SHP-EMPTY-WRITTEN", "varlen-packing-cp",
                            "rotates one row at least, also where there is none"),
  };
  return all;
}

}  // namespace rope::mutants
