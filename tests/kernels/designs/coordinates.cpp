// Tokens with up to three coordinates (time, height, width); every pair follows one of them. Theta is given, computed
// from a base, or one of the fixed families of vision towers.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

enum class Bug {
  none,
  none_sections,
  no_axis_is_last,
  axis_stride_packed,
  two_axes_agree,
};

extern const rope_kernel kernels[];  // in the order of Bug

struct Section {
  std::int32_t begin;
  std::int32_t end;
  std::int32_t axis;
};

template <Bug bug>
class Rotator {
 public:
  explicit Rotator(const rope_call& call)
      : c(call), half(call.rotary_dim / 2), theta(static_cast<std::size_t>(half)), cs(theta.size() * 2) {
    frequencies();
    if constexpr (bug == Bug::none_sections) {
      for (std::int32_t p = 0; p < half; ++p) {
        const std::int32_t a = axis_of(p);
        if (sections.empty() || sections.back().axis != a) sections.push_back({p, p, a});
        sections.back().end = p + 1;
      }
    }
  }

  void run() {
    for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
        angles(b, s, false);
        heads(c.q, c.q_out, b, s);
        if (c.k.data == nullptr) continue;
        heads(c.k, c.k_out, b, s);
      }
    }
  }

 private:
  void frequencies() {
    for (std::int32_t p = 0; p < half; ++p) {
      double t;
      if (c.angle_source == ROPE_FREQUENCIES) {
        t = c.theta_dtype == ROPE_F64 ? static_cast<const double*>(c.theta)[p] : static_cast<const float*>(c.theta)[p];
      } else if (c.scaling.kind == ROPE_SCALING_PIXEL) {
        const double steps = half - 1;
        t = std::numbers::pi * (half == 1 ? 1.0 : 1.0 + p * (c.scaling.max_frequency / 2 - 1.0) / steps);
      } else if (c.scaling.kind == ROPE_SCALING_CONSTANT) {
        t = 1.0;
      } else {
        t = std::pow(c.base, -2.0 * p / c.rotary_dim);
      }
      theta[static_cast<std::size_t>(p)] = t;
    }
  }
  std::int32_t axis_of(std::int32_t p) const {
    if (c.axis != nullptr) return c.axis[p];
    if (bug == Bug::no_axis_is_last && c.positions.data != nullptr) return c.positions.axes - 1;
    return 0;
  }
  std::int64_t coordinate(std::int32_t a, std::int64_t b, std::int64_t s) const {
    const rope_positions& p = c.positions;
    if (p.data == nullptr) {
      return p.offset + s;
    }
    std::int64_t at = b * p.batch_stride + s * p.seq_stride;
    if (bug == Bug::axis_stride_packed) {
      at += a * (p.batch_stride == 0 ? c.q.shape[1] : c.q.shape[0] * p.batch_stride);
    } else {
      at += a * p.axis_stride;
    }
    return p.dtype == ROPE_I64 ? static_cast<const std::int64_t*>(p.data)[at]
                               : static_cast<const std::int32_t*>(p.data)[at];
  }
  void set(std::int32_t p, std::int64_t m) {
    const double phi = static_cast<double>(m) * theta[static_cast<std::size_t>(p)];
    cs[static_cast<std::size_t>(2 * p)] = static_cast<float>(std::cos(phi));
    cs[static_cast<std::size_t>(2 * p + 1)] = static_cast<float>(std::sin(phi));
  }
  void angles(std::int64_t b, std::int64_t s, bool first_only) {
    if constexpr (bug == Bug::none_sections) {
      bool text = c.positions.data != nullptr;
      for (std::int32_t a = 1; text && a < c.positions.axes; ++a) text = coordinate(a, b, s) == coordinate(0, b, s);
      if (text) {
        const std::int64_t m = coordinate(0, b, s);
        for (std::int32_t p = 0; p < half; ++p) set(p, m);
        return;
      }
      for (const Section& one : sections) {
        const std::int64_t m = coordinate(one.axis, b, s);
        for (std::int32_t p = one.begin; p < one.end; ++p) set(p, m);
      }
      return;
    }
    for (std::int32_t p = 0; p < half; ++p) {
      std::int32_t a = first_only ? 0 : axis_of(p);
      if (bug == Bug::two_axes_agree && a == 2 && coordinate(0, b, s) == coordinate(1, b, s)) a = 0;
      set(p, coordinate(a, b, s));
    }
  }
  template <class T>
  void head(const T* x, T* y, std::int64_t head_dim) const {
    const bool neighbours = c.pairing == ROPE_INTERLEAVED;
    for (std::int32_t p = 0; p < half; ++p) {
      const std::int64_t i = neighbours ? 2 * p : p;
      const std::int64_t j = neighbours ? 2 * p + 1 : p + half;
      const float co = cs[static_cast<std::size_t>(2 * p)];
      const float si = cs[static_cast<std::size_t>(2 * p + 1)];
      const float a = widen(x[i]);
      const float d = widen(x[j]);
      y[i] = narrow<T>(a * co - d * si);
      y[j] = narrow<T>(a * si + d * co);
    }
    const std::int64_t r = 2 * half;
    if (x != y && head_dim > r) std::memcpy(y + r, x + r, static_cast<std::size_t>(head_dim - r) * sizeof(T));
  }
  void heads(const rope_tensor& x, const rope_tensor& y, std::int64_t b, std::int64_t s) const {
    for (std::int64_t h = 0; h < x.shape[2]; ++h) {
      const std::int64_t from = b * x.strides[0] + s * x.strides[1] + h * x.strides[2];
      const std::int64_t to = b * y.strides[0] + s * y.strides[1] + h * y.strides[2];
      if (x.dtype == ROPE_F32) {
        head(static_cast<const float*>(x.data) + from, static_cast<float*>(y.data) + to, x.shape[3]);
      } else {
        head(static_cast<const Bfloat16*>(x.data) + from, static_cast<Bfloat16*>(y.data) + to, x.shape[3]);
      }
    }
  }

  const rope_call& c;
  const std::int32_t half;
  std::vector<double> theta;
  std::vector<float> cs;
  std::vector<Section> sections;
};

template <Bug bug>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, kernels[static_cast<int>(bug)].claims, [call] {
    Rotator<bug>(*call).run();
    return ROPE_OK;
  });
}

constexpr std::uint32_t half_split = mask(ROPE_HALF_SPLIT);
constexpr std::uint32_t either = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
constexpr std::uint32_t plain = mask(ROPE_SCALING_NONE);
constexpr std::uint32_t pixel = plain | mask(ROPE_SCALING_PIXEL);
constexpr std::uint32_t vision = pixel | mask(ROPE_SCALING_CONSTANT);

constexpr rope_capabilities claimed(std::uint32_t pairings, std::uint32_t scalings, bool bf16) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_BF16] = bf16 ? mask(ROPE_BF16) : 0;
  claims.theta_dtypes = mask(ROPE_F32, ROPE_F64);
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = pairings;
  claims.angle_sources = mask(ROPE_FREQUENCIES, ROPE_COMPUTED);
  claims.scalings = scalings;
  claims.features = mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_AXES, ROPE_FEATURE_OFFSET,
                         ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_IN_PLACE, ROPE_FEATURE_STRIDED,
                         ROPE_FEATURE_PARTIAL);
  claims.max_position = 1 << 20;
  return claims;
}

template <Bug bug>
constexpr rope_kernel coordinates(const char* name, const rope_capabilities& claims) {
  return kernel(name, "positions on several axes", apply<bug>, claims);
}

constexpr rope_kernel kernels[] = {
    coordinates<Bug::none>("coordinates", claimed(either, vision, true)),
    coordinates<Bug::none_sections>("coordinates-sections", claimed(either, plain, true)),
    coordinates<Bug::no_axis_is_last>("coordinates/no-axis-is-last", claimed(half_split, plain, true)),
    coordinates<Bug::axis_stride_packed>("coordinates/axis-stride-packed", claimed(half_split, plain, false)),
    coordinates<Bug::two_axes_agree>("coordinates/two-axes-agree", claimed(either, plain, true)),
};

}  // namespace

Kernels coordinates_kernels() { return kernels; }

}  // namespace rope::designs::engines
