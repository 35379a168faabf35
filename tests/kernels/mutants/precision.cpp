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

double in_bfloat16(double value) { return bfloat16_to_double(double_to_bfloat16(value)); }
double in_half(double value) { return half_to_double(double_to_half(value)); }

bool is_16_bit(std::int32_t dtype) { return dtype == ROPE_F16 || dtype == ROPE_BF16; }

struct ThetaInBfloat16 : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    for (double& value : result) value = in_bfloat16(value);
    return result;
  }
};

struct ThetaInHalf : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    for (double& value : result) value = in_half(value);
    return result;
  }
};

struct ThetaInSingle : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    for (double& value : result) value = static_cast<float>(value);
    return result;
  }
};

struct AngleInBfloat16 : Kernel {
  double angle(const rope_call& call, double position, double theta) const override {
    return is_16_bit(call.q.dtype) ? in_bfloat16(position * theta) : position * theta;
  }
};

struct AngleInSingle : Kernel {
  double angle(const rope_call&, double position, double theta) const override {
    return static_cast<float>(position * theta);
  }
};

struct PositionInSingle : Kernel {
  double angle(const rope_call&, double position, double theta) const override {
    return static_cast<float>(position) * theta;
  }
};

struct TurnsInThirtyTwoBits : Kernel {
  double angle(const rope_call&, double position, double theta) const override {
    const double unit = 2 * std::numbers::pi / 0x1p32;  // of a counter that wraps by itself
    return position * std::nearbyint(theta / unit) * unit;
  }
};

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

struct SeriesWithoutRangeReduction : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    if (call.q.dtype == ROPE_F64) return Kernel::turn(call, angle);
    double cosine = 0;
    double sine = 0;
    double term = 1;
    for (int n = 0; n < 24; n += 2) {  // enough for f32 up to pi
      cosine += term;
      term *= angle / (n + 1);
      sine += term;
      term *= -angle / (n + 2);
    }
    return {cosine, sine};
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

// A thread for each feature. Threads of second features read theta from a table of floats whose last bits are off.
struct AngleOfEachFeature : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.call.angle_source != ROPE_COMPUTED || at.in().dtype == ROPE_F64) return result;
    std::vector<double> rounded(theta.begin(), theta.end());
    for (double& value : rounded) value = static_cast<float>(value * (1 + 0x1p-24));
    const Row other = Kernel::row(at, rounded);
    for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
      const int second = pair(at.call, p).second;
      result.cos(second) = other.cos(second);
      result.sin(second) = other.sin(second);
    }
    return result;
  }
};

struct AngleInHalf : Kernel {
  double angle(const rope_call& call, double position, double theta) const override {
    return is_16_bit(call.q.dtype) ? in_half(position * theta) : position * theta;
  }
};

struct ProductInBfloat16 : Kernel {
  double angle(const rope_call&, double position, double theta) const override {
    return in_bfloat16(in_bfloat16(position) * in_bfloat16(theta));
  }
};

struct PositionInBfloat16 : Kernel {
  double angle(const rope_call&, double position, double theta) const override { return in_bfloat16(position) * theta; }
};

struct PositionInHalf : Kernel {
  double angle(const rope_call&, double position, double theta) const override { return in_half(position) * theta; }
};

struct CosSinInBfloat16 : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.in().dtype != ROPE_F32) return result;
    for (int feature = 0; feature < result.features(); ++feature) {
      result.cos(feature) = in_bfloat16(result.cos(feature));
      result.sin(feature) = in_bfloat16(result.sin(feature));
    }
    return result;
  }
};

struct ComputedCosSinInHalf : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    const auto [cosine, sine] = Kernel::turn(call, angle);
    if (call.q.dtype != ROPE_F32) return {cosine, sine};
    return {in_half(cosine), in_half(sine)};
  }
};

struct CosSinOfHalfInBfloat16 : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    const auto [cosine, sine] = Kernel::turn(call, angle);
    if (call.q.dtype != ROPE_F16) return {cosine, sine};
    return {in_bfloat16(cosine), in_bfloat16(sine)};
  }
};

struct AttentionFactorInBfloat16 : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.attention_factor = in_bfloat16(call.attention_factor);
    return c;
  }
};

struct InputInBfloat16 : Kernel {
  double load(const Place& at, int feature) const override {
    const double x = Kernel::load(at, feature);
    return at.in().dtype == ROPE_F32 ? in_bfloat16(x) : x;
  }
};

struct TensorCores : Kernel {
  double load(const Place& at, int feature) const override {
    const double x = Kernel::load(at, feature);
    if (at.in().dtype != ROPE_F32 || !std::isfinite(x) || x == 0) return x;
    const double unit = std::exp2(std::ilogb(x) - 10);  // TF32 keeps ten bits behind the first
    return std::nearbyint(x / unit) * unit;
  }
};

struct EightBitFixedPoint : Kernel {
  void rotate(const Place& at, Pair pair, const Row& row) const override {
    const Values y = turned(values(at, pair), pair, row);
    store(at, pair.first, quantised(y.first));
    store(at, pair.second, quantised(y.second));
  }
  static double quantised(double value) { return std::clamp(std::nearbyint(value * 16), -128.0, 127.0) / 16; }
};

struct DoubleResultThroughFloat : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, at.out().dtype == ROPE_F64 ? static_cast<float>(value) : value);
  }
};

struct DoubleThroughFloat : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.in().dtype != ROPE_F64) return result;
    for (int feature = 0; feature < result.features(); ++feature) {
      result.cos(feature) = static_cast<float>(result.cos(feature));
      result.sin(feature) = static_cast<float>(result.sin(feature));
    }
    return result;
  }
};

struct FloatResultThroughHalf : Kernel {
  void store(const Place& at, int feature, double value) const override {
    Kernel::store(at, feature, at.out().dtype == ROPE_F32 ? in_half(value) : value);
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

struct NoStoreForOneShape : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool empty_specialisation = at.out().dtype == ROPE_BF16 && at.out().shape[3] == 128;
    Kernel::store(at, feature, empty_specialisation ? load(at, feature) : value);
  }
};

}  // namespace

Mutants precision_mutants() {
  static const Mutant all[] = {
      mutant<ThetaInBfloat16>("PREC-01", "precision", "theta rounded to bf16"),
      mutant<ThetaInHalf>("PREC-F16-THETA", "precision", "theta rounded to f16"),
      mutant<ThetaInSingle>("PREC-F32-THETA", "precision", "theta rounded to f32, which f64 tensors show"),
      mutant<AngleInHalf>("PREC-03", "precision", "16-bit tensors: the angle rounded to f16 before cos and sin"),
      mutant<AngleInBfloat16>("PREC-BF16-ANGLE", "precision", "16-bit tensors: the angle rounded to bf16"),
      mutant<AngleInSingle>("PREC-F32-ANGLE", "precision", "the angle rounded to f32, which f64 tensors show"),
      mutant<TurnsInThirtyTwoBits>("PREC-PHASE-32", "precision", "theta as a fraction of a turn in 32 bits"),
      mutant<CosSinInBfloat16>("PREC-05", "precision", "f32 tensors: cos and sin rounded to bf16"),
      mutant<ComputedCosSinInHalf>("PREC-F16-TABLES", "precision", "f32 tensors: its own cos and sin kept in f16"),
      mutant<CosSinOfHalfInBfloat16>("PREC-BF16-TABLES", "precision", "f16 tensors: its own cos and sin kept in bf16"),
      mutant<FastIntrinsics>("PREC-SINF", "precision", "cos and sin to an absolute error of 2^-21.4, as __sinf has it"),
      mutant<SeriesWithoutRangeReduction>("PREC-NO-REDUCTION", "precision",
                                          "cos and sin by a series for angles up to pi, whatever the angle"),
      mutant<TwoReductions>("PREC-TWO-REDUCTIONS", "precision",
                            "cos and sin reduce a large angle in two ways, so they belong to two angles"),
      mutant<AngleOfEachFeature>("PREC-TWO-ANGLES", "precision",
                                 "the second feature of a pair turns by another rounding of the angle than the first"),
      mutant<ProductInBfloat16>("PREC-07", "precision", "position, theta and their product rounded to bf16"),
      mutant<NoStoreForOneShape>("PREC-11", "precision", "bf16 with head_dim 128: nothing rotated, y = x"),
      mutant<PositionInBfloat16>("PREC-BF16-POSITIONS", "precision", "positions rounded to bf16: 257 is 256"),
      mutant<PositionInHalf>("PREC-F16-POSITIONS", "precision", "positions rounded to f16: 2049 is 2048"),
      mutant<PositionInSingle>("PREC-F32-POSITIONS", "precision", "positions rounded to f32: 2^24 + 1 is 2^24"),
      mutant<AttentionFactorInBfloat16>("PREC-BF16-FACTOR", "precision", "attention factor rounded to bf16"),
      mutant<InputInBfloat16>("PREC-BF16-INPUT", "precision", "f32 inputs rounded to bf16"),
      mutant<TensorCores>("PREC-TF32", "precision", "f32 inputs rounded to TF32"),
      mutant<DoubleThroughFloat>("PREC-F64-AS-F32", "precision", "f64 tensors: cos and sin rounded to f32"),
      mutant<DoubleResultThroughFloat>("PREC-F32-RESULT", "precision", "f64 results rounded to f32"),
      mutant<FloatResultThroughHalf>("PREC-F16-RESULT", "precision", "f32 results rounded to f16"),
      mutant<EightBitFixedPoint>("PREC-FIXED-POINT", "precision", "results in steps of 1/16 from -8 to 7.9375"),
      mutant<RoundedOneWay<true>>("PREC-TRUNCATION", "precision",
                                  "16-bit results cut off where rounding to nearest is meant"),
      mutant<RoundedOneWay<false>>("PREC-ROUND-AWAY", "precision", "16-bit results rounded away from zero"),
  };
  return all;
}

}  // namespace rope::mutants
