// Longer contexts. A FrequencyRule knows one rule; the rotation only asks it for theta.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numbers>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tests/kernels/designs/engine.hpp"

namespace rope::designs::engines {
namespace {

struct Variant {
  bool f32_angles = false;
  bool yarn_ramp_head_dim = false;
  bool longrope_decode_short = false;
};

class FrequencyRule {
 public:
  virtual ~FrequencyRule() = default;
  virtual void fill(const rope_call& c, std::vector<double>& theta) const {
    for (std::size_t p = 0; p < theta.size(); ++p) {
      theta[p] = std::pow(c.base, -2.0 * static_cast<double>(p) / c.rotary_dim);
    }
  }
  virtual double position(const rope_call&, std::int64_t m) const { return static_cast<double>(m); }
};

class Linear : public FrequencyRule {
 public:
  explicit Linear(const Variant& variant) : variant_(variant) {}
  void fill(const rope_call& c, std::vector<double>& theta) const override {
    FrequencyRule::fill(c, theta);
    if (variant_.f32_angles) {
      for (double& t : theta) t /= c.scaling.factor;
    }
  }
  double position(const rope_call& c, std::int64_t m) const override {
    if (variant_.f32_angles) return static_cast<double>(m);
    return static_cast<double>(m) / c.scaling.factor;
  }

 private:
  Variant variant_;
};

class Yarn : public FrequencyRule {
 public:
  explicit Yarn(const Variant& variant) : variant_(variant) {}
  void fill(const rope_call& c, std::vector<double>& theta) const override {
    FrequencyRule::fill(c, theta);
    const rope_scaling& z = c.scaling;
    const double r = variant_.yarn_ramp_head_dim ? static_cast<double>(c.q.shape[3]) : c.rotary_dim;
    const auto pair_of = [&](double turns) {
      return r * std::log(z.original_max_position / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(c.base));
    };
    double low = pair_of(z.beta_fast);
    double high = pair_of(z.beta_slow);
    if (z.yarn_truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, z.yarn_clamp_pairs ? r / 2 - 1 : r - 1);
    if (low == high) high += 0.001;
    for (std::size_t p = 0; p < theta.size(); ++p) {
      const double ramp = std::clamp((static_cast<double>(p) - low) / (high - low), 0.0, 1.0);
      theta[p] = theta[p] / z.factor * ramp + theta[p] * (1.0 - ramp);
    }
  }

 private:
  Variant variant_;
};

class Dynamic : public FrequencyRule {
 public:
  void fill(const rope_call& c, std::vector<double>& theta) const override {
    const double length = std::max(static_cast<double>(c.sequence_length), c.scaling.original_max_position);
    const double stretch = c.scaling.factor * length / c.scaling.original_max_position - (c.scaling.factor - 1.0);
    rope_call other = c;
    if (c.rotary_dim > 2) other.base = c.base * std::pow(stretch, c.rotary_dim / (c.rotary_dim - 2.0));
    FrequencyRule::fill(other, theta);
  }
};

class Llama3 : public FrequencyRule {
 public:
  void fill(const rope_call& c, std::vector<double>& theta) const override {
    FrequencyRule::fill(c, theta);
    const rope_scaling& z = c.scaling;
    for (double& t : theta) {
      const double wave = 2.0 * std::numbers::pi / t;
      if (wave < z.original_max_position / z.high_freq_factor) continue;
      if (wave > z.original_max_position / z.low_freq_factor) {
        t /= z.factor;
        continue;
      }
      const double keep =
          (z.original_max_position / wave - z.low_freq_factor) / (z.high_freq_factor - z.low_freq_factor);
      t = (1.0 - keep) * t / z.factor + keep * t;
    }
  }
};

class LongRope : public FrequencyRule {
 public:
  explicit LongRope(const Variant& variant) : variant_(variant) {}
  void fill(const rope_call& c, std::vector<double>& theta) const override {
    bool is_long = static_cast<double>(c.sequence_length) > c.scaling.original_max_position;
    if (variant_.longrope_decode_short && c.q.shape[1] == 1) is_long = false;
    fill(c, theta, is_long);
  }
  void fill(const rope_call& c, std::vector<double>& theta, bool is_long) const {
    FrequencyRule::fill(c, theta);
    const double* f = is_long ? c.scaling.long_factor : c.scaling.short_factor;
    for (std::size_t p = 0; p < theta.size(); ++p) theta[p] /= f[p];
  }

 private:
  Variant variant_;
};

std::unique_ptr<FrequencyRule> rule_for(int kind, const Variant& variant) {
  switch (kind) {
    case ROPE_SCALING_LINEAR: return std::make_unique<Linear>(variant);
    case ROPE_SCALING_YARN: return std::make_unique<Yarn>(variant);
    case ROPE_SCALING_DYNAMIC: return std::make_unique<Dynamic>();
    case ROPE_SCALING_LLAMA3: return std::make_unique<Llama3>();
    case ROPE_SCALING_LONGROPE: return std::make_unique<LongRope>(variant);
    default: return std::make_unique<FrequencyRule>();
  }
}

template <class T>
void turn(const rope_tensor& in, const rope_tensor& out, std::int64_t b, std::int64_t s, const std::vector<float>& cs,
          bool neighbours) {
  const auto half = static_cast<std::int64_t>(cs.size() / 2);
  const std::int64_t head_dim = in.shape[3];
  for (std::int64_t h = 0; h < in.shape[2]; ++h) {
    const T* x = static_cast<const T*>(in.data) + b * in.strides[0] + s * in.strides[1] + h * in.strides[2];
    T* y = static_cast<T*>(out.data) + b * out.strides[0] + s * out.strides[1] + h * out.strides[2];
    for (std::int64_t p = 0; p < half; ++p) {
      T& first = y[neighbours ? 2 * p : p];
      T& second = y[neighbours ? 2 * p + 1 : p + half];
      const float a = static_cast<float>(x[neighbours ? 2 * p : p]);
      const float d = static_cast<float>(x[neighbours ? 2 * p + 1 : p + half]);
      const float cos = cs[static_cast<std::size_t>(2 * p)];
      const float sin = cs[static_cast<std::size_t>(2 * p + 1)];
      first = static_cast<T>(std::fma(a, cos, -(d * sin)));
      second = static_cast<T>(std::fma(d, cos, a * sin));
    }
    if (x != y) std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(head_dim - 2 * half) * sizeof(T));
  }
}

void extended(const rope_call& c, const Variant& variant) {
  const int kind = c.angle_source == ROPE_COMPUTED ? c.scaling.kind : 0;
  const auto rule = rule_for(kind, variant);
  const std::size_t half = static_cast<std::size_t>(c.rotary_dim / 2);
  std::vector<double> theta(half), far(half);
  rule->fill(c, theta);
  std::vector<float> cs(2 * half);
  for (std::int64_t b = 0; b < c.q.shape[0]; ++b) {
    for (std::int64_t s = 0; s < c.q.shape[1]; ++s) {
      const std::int64_t m = position_of(c.positions, b, s);
      const double turns = rule->position(c, m);
      const std::vector<double>& t = theta;
      for (std::size_t p = 0; p < half; ++p) {
        if (variant.f32_angles) {  // f32 frequencies times f32 positions, as in model code in Python
          const float phi = static_cast<float>(turns) * static_cast<float>(t[p]);
          cs[2 * p] = static_cast<float>(std::cos(static_cast<double>(phi)) * c.attention_factor);
          cs[2 * p + 1] = static_cast<float>(std::sin(static_cast<double>(phi)) * c.attention_factor);
        } else {
          cs[2 * p] = static_cast<float>(std::cos(turns * t[p]) * c.attention_factor);
          cs[2 * p + 1] = static_cast<float>(std::sin(turns * t[p]) * c.attention_factor);
        }
      }
      const bool neighbours = c.pairing == ROPE_INTERLEAVED;
      if (c.q.dtype == ROPE_F32) {
        turn<float>(c.q, c.q_out, b, s, cs, neighbours);
        if (c.k.data) turn<float>(c.k, c.k_out, b, s, cs, neighbours);
      } else {
        turn<Float16>(c.q, c.q_out, b, s, cs, neighbours);
        if (c.k.data) turn<Float16>(c.k, c.k_out, b, s, cs, neighbours);
      }
    }
  }
}

constexpr std::uint32_t none = mask(ROPE_SCALING_NONE);

constexpr rope_capabilities base_claims(std::uint32_t scalings, bool f16, std::int64_t max_position) {
  rope_capabilities claims{};
  claims.out_dtypes[ROPE_F32] = mask(ROPE_F32);
  claims.out_dtypes[ROPE_F16] = f16 ? mask(ROPE_F16) : 0;
  claims.position_dtypes = mask(ROPE_I32, ROPE_I64);
  claims.pairings = mask(ROPE_HALF_SPLIT, ROPE_INTERLEAVED);
  claims.angle_sources = mask(ROPE_COMPUTED);
  claims.scalings = scalings;
  claims.features =
      mask(ROPE_FEATURE_POSITIONS, ROPE_FEATURE_BATCH_POSITIONS, ROPE_FEATURE_OFFSET, ROPE_FEATURE_IN_PLACE,
           ROPE_FEATURE_KEY, ROPE_FEATURE_GROUPED_HEADS, ROPE_FEATURE_ATTENTION_FACTOR, ROPE_FEATURE_PARTIAL);
  claims.max_position = max_position;
  return claims;
}

template <std::uint32_t scalings, bool f16, std::int64_t max_position = 1 << 20>
constexpr rope_capabilities claims = base_claims(scalings, f16, max_position);

constexpr const rope_capabilities& yarn = claims<none | mask(ROPE_SCALING_YARN), false>;
constexpr const rope_capabilities& yarn_f16 = claims<none | mask(ROPE_SCALING_YARN), true>;
constexpr const rope_capabilities& longrope = claims<none | mask(ROPE_SCALING_LONGROPE), false>;
constexpr const rope_capabilities& longrope_f16 = claims<none | mask(ROPE_SCALING_LONGROPE), true>;
constexpr const rope_capabilities& others =
    claims<none | mask(ROPE_SCALING_LONGROPE, ROPE_SCALING_DYNAMIC, ROPE_SCALING_LLAMA3), true>;
constexpr const rope_capabilities& short_contexts =
    claims<none | mask(ROPE_SCALING_LINEAR, ROPE_SCALING_LONGROPE), false, 131071>;

template <const rope_capabilities& claimed, Variant variant>
std::int32_t apply(const rope_call* call) {
  return if_accepted(call, claimed, [call] {
    extended(*call, variant);
    return ROPE_OK;
  });
}

template <const rope_capabilities& claimed, Variant variant = Variant{}>
constexpr rope_kernel rules(const char* name) {
  return kernel(name, "a class for each rule of scaling", apply<claimed, variant>, claimed);
}

constexpr rope_kernel kernels[] = {
    rules<yarn_f16>("scaling_rules"),
    rules<others>("scaling_rules-others"),
    rules<short_contexts, Variant{.f32_angles = true}>("scaling_rules-f32-angles"),
    rules<yarn_f16, Variant{.yarn_ramp_head_dim = true}>("scaling_rules/yarn-ramp-head-dim"),
    rules<longrope_f16, Variant{.longrope_decode_short = true}>("scaling_rules/longrope-decode-short"),
};

}  // namespace

Kernels scaling_rules_kernels() { return kernels; }

}  // namespace rope::designs::engines
