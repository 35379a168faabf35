// The right formula in too narrow a type. Rounding each operation to a 16-bit storage type is legal (grade 3 of the
// error model). So every mutant here narrows something other than the storage type, or does more than round.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {


bool is_16_bit(std::int32_t dtype) { return dtype == ROPE_F16 || dtype == ROPE_BF16; }

// CUDA C++ Programming Guide, intrinsic functions: __sinf and __cosf are within 2^-21.41 of the true value for angles
// up to pi, and less accurate beyond.
struct FastIntrinsics : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    const auto [cosine, sine] = Kernel::turn(call, angle);
    if (call.q.dtype == ROPE_F64) return {cosine, sine};
    const double step = 2 * std::exp2(-21.41);
    return {step * std::nearbyint(cosine / step), step * std::nearbyint(sine / step)};
  }
};

// The cosine comes from the fraction of a turn, the sine from the angle less whole turns. Each constant is a float, so
// each angle is off by its own error, and each is within the bound.
struct TwoReductions : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    if (call.q.dtype == ROPE_F64 || call.angle_source != ROPE_COMPUTED) return Kernel::turn(call, angle);
    const double turns = angle * static_cast<float>(0.5 / std::numbers::pi);
    const double by_fraction = 2 * std::numbers::pi * (turns - std::nearbyint(turns));
    const double by_difference = angle - std::nearbyint(turns) * static_cast<float>(2 * std::numbers::pi);
    return {std::cos(by_fraction), std::sin(by_difference)};
  }
};

// Rounds always to the neighbour that is nearer to zero, or always to the other one.
template <bool to_zero>
struct RoundedOneWay : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool half = at.out().dtype == ROPE_F16;
    if (!is_16_bit(at.out().dtype)) return Kernel::store(at, feature, value);
    const auto as_double = [&](std::uint16_t bits) { return half ? half_to_double(bits) : bfloat16_to_double(bits); };
    const std::uint16_t nearest = half ? double_to_half(value) : double_to_bfloat16(value);
    const double kept = std::fabs(as_double(nearest));
    const bool other = to_zero ? kept > std::fabs(value) : kept < std::fabs(value);
    const auto neighbour = static_cast<std::uint16_t>(to_zero ? nearest - 1 : nearest + 1);
    Kernel::store(at, feature, as_double(other ? neighbour : nearest));
  }
};

}  // namespace

Mutants precision_mutants() {
  static const Mutant all[] = {
      mutant<FastIntrinsics>("PREC-SINF", "precision", "cos and sin to an absolute error of 2^-21.4, as __sinf has it"),
      mutant<TwoReductions>("PREC-TWO-REDUCTIONS", "precision",
                            "cos and sin reduce a large angle in two ways, so they belong to two angles"),
      mutant<RoundedOneWay<true>>("PREC-TRUNCATION", "precision",
                                  "16-bit results cut off where rounding to nearest is meant"),
      mutant<RoundedOneWay<false>>("PREC-ROUND-AWAY", "precision", "16-bit results rounded away from zero"),
  };
  return all;
}

}  // namespace rope::mutants
