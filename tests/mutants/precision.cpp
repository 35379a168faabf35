// The right formula in too narrow a type. Rounding each operation to a 16-bit storage type is legal (grade 3 of the
// error model), so every mutant here narrows something that is not the storage type, or more than rounding.
#include <cmath>
#include <cstdint>

#include "reference/dtype.hpp"
#include "tests/mutants/mutant.hpp"

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

struct Truncated : Kernel {
  void store(const Place& at, int feature, double value) const override {
    const bool half = at.out().dtype == ROPE_F16;
    if (!is_16_bit(at.out().dtype)) return Kernel::store(at, feature, value);
    const std::uint16_t nearest = half ? double_to_half(value) : double_to_bfloat16(value);
    const auto below = static_cast<std::uint16_t>(nearest - 1);  // the next one towards zero
    const bool away = std::fabs(half ? half_to_double(nearest) : bfloat16_to_double(nearest)) > std::fabs(value);
    const std::uint16_t bits = away ? below : nearest;
    Kernel::store(at, feature, half ? half_to_double(bits) : bfloat16_to_double(bits));
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
      mutant<AngleInHalf>("PREC-03", "precision", "16-bit tensors: the angle rounded to f16 before cos and sin"),
      mutant<CosSinInBfloat16>("PREC-05", "precision", "f32 tensors: cos and sin rounded to bf16"),
      mutant<ProductInBfloat16>("PREC-07", "precision", "position, theta and their product rounded to bf16"),
      mutant<NoStoreForOneShape>("PREC-11", "precision", "bf16 with head_dim 128: nothing rotated, y = x"),
      mutant<PositionInBfloat16>("PREC-BF16-POSITIONS", "precision", "positions rounded to bf16: 257 is 256"),
      mutant<PositionInHalf>("PREC-F16-POSITIONS", "precision", "positions rounded to f16: 2049 is 2048"),
      mutant<DoubleThroughFloat>("PREC-F64-AS-F32", "precision", "f64 tensors: cos and sin rounded to f32"),
      mutant<FloatResultThroughHalf>("PREC-F16-RESULT", "precision", "f32 results rounded to f16"),
      mutant<Truncated>("PREC-TRUNCATION", "precision", "16-bit results cut off where rounding to nearest is meant"),
  };
  return all;
}

}  // namespace rope::mutants
