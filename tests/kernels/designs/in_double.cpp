// A vision model's reference code: frequencies given, positions on any number of axes, any strides, everything in
// double.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Variant {
  plain,
  rest_first,
  long_double,
};

double given_theta(const rope_call& call, std::int64_t pair) {
  if (call.theta_dtype == ROPE_F64) return static_cast<const double*>(call.theta)[pair];
  return static_cast<const float*>(call.theta)[pair];
}

template <Variant variant, class T>
class Tensor {
 public:
  Tensor(const rope_call& call, const Operand& operand)
      : call_(call), operand_(operand), cos_(static_cast<std::size_t>(call.rotary_dim / 2)), sin_(cos_.size()) {}

  void rotate() {
    const std::int64_t tokens = operand_.tokens();
    const std::int64_t all = operand_.batches() * tokens;
    for (std::int64_t n = 0; n < all; ++n) {
      const std::int64_t at = variant == Variant::rest_first ? all - 1 - n : n;
      take_angles(at / tokens, at % tokens);
      for (std::int64_t h = 0; h < operand_.heads(); ++h) {
        turn(head_in<T>(operand_, at / tokens, at % tokens, h), head_out<T>(operand_, at / tokens, at % tokens, h));
      }
    }
  }

 private:
  void take_angles(std::int64_t b, std::int64_t s) {
    using Angle = std::conditional_t<variant == Variant::long_double, long double, double>;
    const double sign = call_.direction == ROPE_BACKWARD ? -1 : 1;
    for (std::size_t pair = 0; pair < cos_.size(); ++pair) {
      const Angle phi = static_cast<Angle>(position(b, s, pair)) * given_theta(call_, static_cast<std::int64_t>(pair));
      cos_[pair] = static_cast<double>(std::cos(phi)) * call_.attention_factor;
      sin_[pair] = static_cast<double>(std::sin(phi)) * call_.attention_factor * sign;
    }
  }

  std::int64_t position(std::int64_t b, std::int64_t s, std::size_t pair) const {
    if (call_.positions.data == nullptr) return position_of(call_.positions, b, s);
    return given_position(call_.positions, call_.axis == nullptr ? 0 : call_.axis[pair], b, s);
  }

  void turn(const T* x, T* y) const {
    if (variant == Variant::rest_first) copy_rest_by_strides(x, y);
    const std::int64_t in = operand_.in.strides[3];
    const std::int64_t out = operand_.out.strides[3];
    for (std::size_t pair = 0; pair < cos_.size(); ++pair) {
      const Pair at = pair_at(call_, static_cast<std::int64_t>(pair));
      const double first = widen(x[at.first * in]);
      const double second = widen(x[at.second * in]);
      y[at.first * out] = narrow<T>(first * cos_[pair] - second * sin_[pair]);
      y[at.second * out] = narrow<T>(second * cos_[pair] + first * sin_[pair]);
    }
    if (variant != Variant::rest_first) copy_rest_by_strides(x, y);
  }

  void copy_rest_by_strides(const T* x, T* y) const {
    for (std::int64_t i = call_.rotary_dim; i < operand_.head_dim(); ++i) {
      y[i * operand_.out.strides[3]] = x[i * operand_.in.strides[3]];
    }
  }

  const rope_call& call_;
  const Operand operand_;
  std::vector<double> cos_;
  std::vector<double> sin_;
};

template <Variant variant>
void rotate(const rope_call& call) {
  for_operands<double, float>(call, [&]<class T>(T, const Operand& x) { Tensor<variant, T>(call, x).rotate(); });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F64, ROPE_F32);
  all.theta_dtypes = mask(ROPE_F32, ROPE_F64);
  all.position_dtypes = mask(ROPE_I32, ROPE_I64);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_FREQUENCIES);
  all.features = usual | with_positions | with_key |
                 mask(ROPE_FEATURE_AXES, ROPE_FEATURE_STRIDED, ROPE_FEATURE_ANY_STRIDES, ROPE_FEATURE_IN_PLACE,
                      ROPE_FEATURE_BACKWARD, ROPE_FEATURE_ATTENTION_FACTOR);
  all.max_position = 1048576;
  return all;
}();

template <Variant variant>
constexpr rope_kernel in_double(const char* name) {
  return kernel(name, "given frequencies, several axes, any strides, in double", apply<rotate<variant>, claims>,
                claims);
}

constexpr rope_kernel kernels[] = {
    in_double<Variant::plain>("in_double"),
    in_double<Variant::rest_first>("in_double-rest-first"),
    in_double<Variant::long_double>("in_double-long-double"),
};

}  // namespace

Kernels in_double_kernels() { return kernels; }

}  // namespace rope::designs::reported
