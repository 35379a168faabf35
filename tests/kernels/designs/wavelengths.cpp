// A framework's fast operator: one offset per call, frequencies kept as wavelengths, dense rows. A single token has its
// own path.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/reported.hpp"

namespace rope::designs::reported {
namespace {

enum class Bug {
  none,
  none_reduced_angle,
  none_flat_rows,
  one_token_first_batch,
  one_token_first_row,
  one_token_head_as_token,
  positions_doubled,
  dynamic_length_of_heads,
  dynamic_factor_two,
  llama3_mean_of_wavelengths,
  llama3_as_linear,
  query_alone_after_the_call,
};

template <Bug bug>
double llama3(const rope_scaling& scaling, double reciprocal) {
  const double low = scaling.original_max_position / scaling.low_freq_factor;
  const double high = scaling.original_max_position / scaling.high_freq_factor;
  const double wavelength = 2 * std::numbers::pi * reciprocal;
  if (bug == Bug::llama3_as_linear || wavelength > low) return reciprocal * scaling.factor;
  if (wavelength < high) return reciprocal;
  if constexpr (bug == Bug::llama3_mean_of_wavelengths) {
    const double smooth = (wavelength - high) / (low - high);
    return reciprocal * ((1 - smooth) * scaling.factor + smooth);
  }
  const double smooth = (scaling.original_max_position / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return reciprocal / ((1 - smooth) / scaling.factor + smooth);
}

// 1 / theta.
template <Bug bug>
std::vector<double> reciprocals(const rope_call& call) {
  const rope_scaling& scaling = call.scaling;
  const int dims = call.rotary_dim;
  double base = call.base;
  if (scaling.kind == ROPE_SCALING_DYNAMIC) {
    const auto length =
        static_cast<double>(bug == Bug::dynamic_length_of_heads ? call.q.shape[2] : call.sequence_length);
    const double factor = bug == Bug::dynamic_factor_two ? 2.0 : scaling.factor;
    if (length > scaling.original_max_position && dims > 2) {
      base *= std::pow(factor * length / scaling.original_max_position - (factor - 1), dims / (dims - 2.0));
    }
  }
  std::vector<double> all;
  for (int pair = 0; pair < dims / 2; ++pair) {
    const double exponent = 2.0 * pair / dims;
    double reciprocal = std::exp2(exponent * std::log2(base));
    if (scaling.kind == ROPE_SCALING_LINEAR) reciprocal *= scaling.factor;
    if (scaling.kind == ROPE_SCALING_LLAMA3) reciprocal = llama3<bug>(scaling, reciprocal);
    all.push_back(reciprocal);
  }
  return all;
}

template <Bug bug>
std::vector<double> frequencies(const rope_call& call) {
  if (call.angle_source == ROPE_FREQUENCIES) {
    const float* given = static_cast<const float*>(call.theta);
    return {given, given + call.rotary_dim / 2};
  }
  std::vector<double> theta = reciprocals<bug>(call);
  for (double& t : theta) t = 1.0 / t;
  return theta;
}

template <Bug bug, class T>
class Rows {
 public:
  Rows(const rope_call& call, const Operand& operand)
      : call_(call),
        operand_(operand),
        theta_(frequencies<bug>(call)),
        cos_(theta_.size()),
        sin_(theta_.size()),
        offset_(call.positions.offset) {
    const bool scaled = call.angle_source != ROPE_COMPUTED || call.scaling.kind == ROPE_SCALING_LINEAR;
    if (bug == Bug::positions_doubled && !scaled) scale_ = 2.0;
    if (bug == Bug::query_alone_after_the_call && call.k.data == nullptr) offset_ += operand.tokens();
  }

  void rotate() {
    if (operand_.tokens() == 1) return rotate_single();
    if constexpr (bug == Bug::none_flat_rows) return rotate_flat();
    const std::int64_t tokens = operand_.tokens();
    for (std::int64_t s = 0; s < tokens; ++s) {
      take_angles(offset_ + s);
      for (std::int64_t b = 0; b < operand_.batches(); ++b) {
        for (std::int64_t h = 0; h < operand_.heads(); ++h) turn((b * tokens + s) * operand_.heads() + h);
      }
    }
  }

 private:
  void rotate_single() {
    const std::int64_t rows = (bug == Bug::one_token_first_batch ? 1 : operand_.batches()) * operand_.heads();
    take_angles(offset_);
    for (std::int64_t row = 0; row < rows; ++row) {
      if constexpr (bug == Bug::one_token_head_as_token) take_angles(offset_ + row % operand_.heads());
      if (bug == Bug::one_token_first_row && row > 0) {
        std::memmove(out(row), in(row), static_cast<std::size_t>(operand_.head_dim()) * sizeof(T));
      } else {
        turn(row);
      }
    }
  }

  void rotate_flat() {
    std::int64_t last = -1;
    for (std::int64_t row = 0; row < operand_.batches() * operand_.tokens() * operand_.heads(); ++row) {
      const std::int64_t s = row / operand_.heads() % operand_.tokens();
      if (s != last) take_angles(offset_ + s);
      last = s;
      turn(row);
    }
  }

  void take_angles(std::int64_t position) {
    for (std::size_t pair = 0; pair < theta_.size(); ++pair) {
      double phi = scale_ * static_cast<double>(position) * theta_[pair];
      if constexpr (bug == Bug::none_reduced_angle) phi = std::remainder(phi, 2 * std::numbers::pi);
      cos_[pair] = static_cast<float>(std::cos(phi));
      sin_[pair] = static_cast<float>(std::sin(phi));
    }
  }

  void turn(std::int64_t row) {
    const T* x = in(row);
    T* y = out(row);
    for (std::size_t pair = 0; pair < theta_.size(); ++pair) {
      const Pair at = pair_at(call_, static_cast<std::int64_t>(pair));
      const float first = widen(x[at.first]);
      const float second = widen(x[at.second]);
      y[at.first] = narrow<T>(first * cos_[pair] - second * sin_[pair]);
      y[at.second] = narrow<T>(first * sin_[pair] + second * cos_[pair]);
    }
    copy_rest(call_, x, y);
  }

  const T* in(std::int64_t row) const { return static_cast<const T*>(operand_.in.data) + row * operand_.head_dim(); }
  T* out(std::int64_t row) const { return static_cast<T*>(operand_.out.data) + row * operand_.head_dim(); }

  const rope_call& call_;
  const Operand operand_;
  const std::vector<double> theta_;
  std::vector<float> cos_;
  std::vector<float> sin_;
  std::int64_t offset_;
  double scale_ = 1.0;
};

template <Bug bug>
void rotate(const rope_call& call) {
  for_operands<float, Half, Bfloat16>(call, [&]<class T>(T, const Operand& x) { Rows<bug, T>(call, x).rotate(); });
}

constexpr rope_capabilities claims = [] {
  rope_capabilities all = claims_for(ROPE_F32, ROPE_F16, ROPE_BF16);
  all.theta_dtypes = mask(ROPE_F32);
  all.pairings = either_pairing;
  all.angle_sources = mask(ROPE_FREQUENCIES, ROPE_COMPUTED);
  all.scalings = mask(ROPE_SCALING_NONE, ROPE_SCALING_LINEAR, ROPE_SCALING_DYNAMIC, ROPE_SCALING_LLAMA3);
  all.features = usual | with_key | mask(ROPE_FEATURE_IN_PLACE);
  all.max_position = 1048576;
  return all;
}();

template <Bug bug>
constexpr rope_kernel wavelengths(const char* name) {
  return kernel(name, "one offset, wavelengths, a single token on its own path", apply<rotate<bug>, claims>, claims);
}

constexpr rope_kernel kernels[] = {
    wavelengths<Bug::none>("wavelengths"),
    wavelengths<Bug::none_reduced_angle>("wavelengths-reduced-angle"),
    wavelengths<Bug::none_flat_rows>("wavelengths-flat-rows"),
    wavelengths<Bug::one_token_first_batch>("wavelengths/one-token-first-batch"),
    wavelengths<Bug::one_token_first_row>("wavelengths/one-token-first-row"),
    wavelengths<Bug::one_token_head_as_token>("wavelengths/one-token-head-as-token"),
    wavelengths<Bug::positions_doubled>("wavelengths/positions-doubled"),
    wavelengths<Bug::dynamic_length_of_heads>("wavelengths/dynamic-length-of-heads"),
    wavelengths<Bug::dynamic_factor_two>("wavelengths/dynamic-factor-two"),
    wavelengths<Bug::llama3_mean_of_wavelengths>("wavelengths/llama3-mean-of-wavelengths"),
    wavelengths<Bug::llama3_as_linear>("wavelengths/llama3-as-linear"),
    wavelengths<Bug::query_alone_after_the_call>("wavelengths/q-alone-after-the-call"),
};

}  // namespace

Kernels wavelengths_kernels() { return kernels; }

}  // namespace rope::designs::reported
