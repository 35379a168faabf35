// theta of each pair, without scaling.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct ExponentOneLess : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (call.angle_source == ROPE_COMPUTED) {
      for (double& value : result) value *= std::pow(call.base, 2.0 / call.rotary_dim);
    }
    return result;
  }
};

struct ExponentWithoutTwo : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.base = std::sqrt(call.base);
    return c;
  }
};

struct ExponentOverHeadDim : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.base = std::pow(call.base, static_cast<double>(call.rotary_dim) / static_cast<double>(call.q.shape[3]));
    return c;
  }
};

struct ExponentOverAnotherWidth : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const std::int64_t width = call.q.strides[1] / std::max<std::int64_t>(1, call.q.shape[2]);  // n_embd / n_head
    c.base = std::pow(call.base, call.rotary_dim / std::max(2.0, static_cast<double>(width)));
    return c;
  }
};

struct FactorInsideThePower : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    const std::int32_t kind = call.scaling.kind;
    const double factor = call.scaling.factor;
    if (call.angle_source != ROPE_COMPUTED || (kind != ROPE_SCALING_LINEAR && kind != ROPE_SCALING_YARN)) return result;
    if (factor == 1) return result;
    for (std::size_t p = 0; p < result.size(); ++p) {
      const double exponent = -2.0 * static_cast<double>(p) / call.rotary_dim;
      const double plain = std::pow(call.base, exponent);
      const double ramp = (1 - result[p] / plain) / (1 - 1 / factor);  // 1 where the pair is interpolated
      result[p] = std::pow(factor * call.base, exponent) * ramp + plain * (1 - ramp);
    }
    return result;
  }
};

}  // namespace

Mutants frequency_mutants() {
  static const Mutant all[] = {
      mutant<ExponentOneLess>("FREQ-03", "frequency-base", "exponent -2(p-1)/r: every angle times base^(2/r)"),
      mutant<FactorInsideThePower>("FREQ-07", "frequency-base",
                                   "linear and yarn: (factor base)^(-2p/r) where base^(-2p/r) / factor is meant"),
      mutant<ExponentOverAnotherWidth>("FREQ-09", "frequency-base",
                                       "exponent -2p/n, n the memory of a token divided by its heads"),
      mutant<ExponentWithoutTwo>("FREQ-WITHOUT-TWO", "frequency-base", "exponent -p/r, the 2 lost"),
      mutant<ExponentOverHeadDim>("FREQ-OVER-HEAD-DIM", "frequency-base",
                                  "exponent -2p/head_dim where rotary_dim is below head_dim"),
  };
  return all;
}

}  // namespace rope::mutants
