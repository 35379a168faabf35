// Inputs that arithmetic treats specially: NaN, infinities, zeros, very large and very small values.
#include <cmath>
#include <cstdint>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

struct TailMixedWithNothing : Kernel {
  void pass(const Place& at, int feature) const override {
    const double partner = load(at, feature ^ 1);
    store(at, feature, load(at, feature) * 1 + partner * 0);
  }
};

// In f64 the detour would exceed the bound, and another requirement would see it.
bool has_room(const Place& at) { return at.in().dtype != ROPE_F64; }

struct NormBySquares : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values x = values(at, pair);
    if (!has_room(at) || (x.first == 0 && x.second == 0)) return Kernel::rotate(at, pair, row);
    const float square = static_cast<float>(x.first * x.first + x.second * x.second);
    const double norm = std::sqrt(static_cast<double>(square)) / std::hypot(x.first, x.second);
    const Values y = turned(x, pair, row);
    store(at, pair.first, norm * y.first);
    store(at, pair.second, norm * y.second);
  }
};

struct UnitPairs : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    if (!has_room(at)) return Kernel::rotate(at, pair, row);
    const Values x = values(at, pair);
    const double norm = std::hypot(x.first, x.second);
    const Values y = turned({x.first / norm, x.second / norm}, pair, row);
    store(at, pair.first, norm * y.first);
    store(at, pair.second, norm * y.second);
  }
};

double flushed(std::int32_t dtype, double value) {
  const auto type = static_cast<DType>(dtype);
  const double smallest_normal = smallest_subnormal(type) / (2 * unit_roundoff(type));
  return std::fabs(value) < smallest_normal ? std::copysign(0.0, value) : value;
}

struct SubnormalInputsAreZero : Kernel {
  double load(const Place& at, int feature) const override { return flushed(at.in().dtype, Kernel::load(at, feature)); }
};

struct SubnormalEntriesAreZero : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.call.angle_source != ROPE_TABLES || at.call.table.dtype != ROPE_F16) return result;
    for (int feature = 0; feature < result.features(); ++feature) {
      for (double* entry : {&result.cos(feature), &result.sin(feature)}) {
        *entry = flushed(ROPE_F16, *entry / at.call.attention_factor) * at.call.attention_factor;
      }
    }
    return result;
  }
};

struct SubnormalInputsAsNormal : Kernel {
  double load(const Place& at, int feature) const override {
    const double x = Kernel::load(at, feature);
    if (x == 0 || flushed(at.in().dtype, x) != 0) return x;
    const auto type = static_cast<DType>(at.in().dtype);
    return (x + std::copysign(smallest_subnormal(type) / (2 * unit_roundoff(type)), x)) / 2;
  }
};

struct SubnormalResultsAreZero : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, flushed(at.out().dtype, value));
  }
};

// Sets flush to zero for its loop, and never restores it. The loop computes in double, so its results stay right.
struct ModeNotRestored : Kernel {
  rope_call understood(const rope_call& call) const override {
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#elif defined(__aarch64__)
    std::uint64_t mode = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    __asm__ volatile("msr fpcr, %0" : : "r"(mode | 1 << 24));
#endif
    return call;
  }
};

}  // namespace

Mutants value_mutants() {
  static const Mutant all[] = {
      mutant<TailMixedWithNothing>("NAN-01", "special-values",
                                   "pass-through as x*1 + neighbour*0: its NaN and infinity leak"),
      mutant<NormBySquares>("SPC-SQUARES", "special-values", "norm of a pair by its squares in f32, which overflow"),
      mutant<UnitPairs>("SPC-ZERO-BY-ZERO", "special-values", "pairs divided by their norm before they turn: 0/0"),
      mutant<SubnormalInputsAreZero>("SPC-FLUSHED-INPUTS", "special-values", "subnormal inputs taken for zeros"),
      mutant<SubnormalEntriesAreZero>("SPC-FLUSHED-TABLES", "special-values",
                                      "subnormal entries of f16 tables taken for zeros"),
      mutant<SubnormalInputsAsNormal>("SPC-LEADING-ONE", "special-values",
                                      "subnormal inputs read as if a 1 stood before their digits"),
      mutant<SubnormalResultsAreZero>("SPC-FLUSHED-RESULTS", "special-values", "subnormal results written as zeros"),
      mutant<ModeNotRestored>("SPC-MODE-KEPT", "special-values",
                              "leaves flush to zero on in the thread that called it"),
  };
  return all;
}

}  // namespace rope::mutants
