// The angle of a pair, from base, scaling, tables and positions.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <map>
#include <mutex>
#include <numbers>
#include <utility>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

bool is_computed(const rope_call& call, std::int32_t kind) {
  return call.angle_source == ROPE_COMPUTED && call.scaling.kind == kind;
}

// linspace(0, 1, pairs) instead of arange(pairs) / pairs.
struct ExponentUpToOne : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    const double steps = std::max(1, call.rotary_dim / 2 - 1);
    if (!is_computed(call, ROPE_SCALING_NONE)) return result;
    for (std::size_t p = 0; p < result.size(); ++p) {
      result[p] = std::pow(call.base, -static_cast<double>(p) / steps);
    }
    return result;
  }
};

// The template was made for heads of 128, and its constant was kept.
struct ExponentOver128AtMost : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (call.angle_source != ROPE_COMPUTED || call.rotary_dim <= 128) return result;
    for (std::size_t p = 0; p < result.size(); ++p) {
      const double pair = static_cast<double>(p);
      result[p] *= std::pow(call.base, 2 * pair / call.rotary_dim - 2 * pair / 128);
    }
    return result;
  }
};

// 1 is taken for "not given".
struct TemperatureOfItsOwn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const bool is_missing = is_computed(call, ROPE_SCALING_YARN) && call.attention_factor == 1;
    if (is_missing && call.scaling.factor > 1) c.attention_factor = 0.1 * std::log(call.scaling.factor) + 1;
    return c;
  }
};

struct SmoothingInverted : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (!is_computed(call, ROPE_SCALING_LLAMA3)) return result;
    const rope_scaling& rule = call.scaling;
    for (std::size_t p = 0; p < result.size(); ++p) {
      const double plain = std::pow(call.base, -2.0 * static_cast<double>(p) / call.rotary_dim);
      const double turns = rule.original_max_position * plain / (2 * std::numbers::pi);
      if (turns < rule.low_freq_factor || turns > rule.high_freq_factor) continue;
      const double mix = (turns - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor);
      result[p] = mix * plain / rule.factor + (1 - mix) * plain;
    }
    return result;
  }
};

struct Llama3FactorsBuiltIn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_LLAMA3)) {
      c.scaling.low_freq_factor = 1;
      c.scaling.high_freq_factor = 4;
    }
    return c;
  }
};

struct YarnTurnsBuiltIn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_YARN)) {
      c.scaling.beta_fast = 32;
      c.scaling.beta_slow = 1;
    }
    return c;
  }
};

struct PixelFrequencyBuiltIn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_PIXEL)) c.scaling.max_frequency = 10;
    return c;
  }
};

// The factor is parsed as an integer.
struct FactorCutOff : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_LINEAR)) c.scaling.factor = std::max(1.0, std::floor(call.scaling.factor));
    return c;
  }
};

struct BaseTimesFactor : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_NTK)) {
      c.base *= call.scaling.factor;
      c.scaling = rope_scaling{};
    }
    return c;
  }
};

struct ProportionalOverTurningPart : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (!is_computed(call, ROPE_SCALING_PROPORTIONAL)) return result;
    const double turning = std::floor(call.scaling.proportion * call.rotary_dim / 2);
    for (std::size_t p = 0; static_cast<double>(p) < turning; ++p) {
      result[p] = std::pow(call.base, -static_cast<double>(p) / turning) / call.scaling.factor;
    }
    return result;
  }
};

// arange is divided by the factor; the length of the cache is added only afterwards.
struct OffsetNotInterpolated : Kernel {
  double angle(const rope_call& call, double position, double theta) const override {
    const bool with_offset = is_computed(call, ROPE_SCALING_LINEAR) && call.positions.data == nullptr;
    if (!with_offset) return position * theta;
    const double offset = static_cast<double>(call.positions.offset);
    return (position - offset) * theta + offset * theta * call.scaling.factor;
  }
};

// cos(m theta) and sin(m theta) are the m-th power of a complex f32: its rounding is raised to that power too.
struct PowersInSingle : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.call.angle_source == ROPE_TABLES || at.in().dtype == ROPE_F64) return result;
    for (int p = 0; p < at.call.rotary_dim / 2; ++p) {
      const double step = theta[static_cast<std::size_t>(p)];
      const auto [c, s] = power({static_cast<float>(std::cos(step)), static_cast<float>(std::sin(step))},
                                position(at, axis(at.call, p)));
      for (const int feature : {pair(at.call, p).first, pair(at.call, p).second}) {
        result.cos(feature) = c * at.call.attention_factor;
        result.sin(feature) = s * at.call.attention_factor;
      }
    }
    return result;
  }
  static Turn power(std::complex<float> factor, std::int64_t exponent) {
    std::complex<float> result = 1;
    for (; exponent > 0; exponent >>= 1) {
      if ((exponent & 1) != 0) result *= factor;
      factor *= factor;
    }
    return {result.real(), result.imag()};
  }
};

// A prefill is cut into chunks of 64; each chunk starts at the last position of the one before.
struct ChunksOverlap : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    return at.call.positions.data == nullptr ? m - at.seq / 64 : m;
  }
};

struct OwnTableOneShort : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    const bool past_end = at.call.angle_source == ROPE_COMPUTED && m > 0 && m + 1 >= at.call.sequence_length;
    return past_end ? m - 1 : m;
  }
};

class ThetaKeyedByAddress : public Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    if (call.angle_source != ROPE_FREQUENCIES) return Kernel::theta(call);
    const std::lock_guard guard(lock_);
    std::vector<double>& kept = first_[{call.theta, call.rotary_dim}];
    if (kept.empty()) kept = Kernel::theta(call);
    return kept;
  }
  mutable std::mutex lock_;
  mutable std::map<std::pair<const void*, std::int32_t>, std::vector<double>> first_;
};

struct SineTakenToBeDense : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (at.call.angle_source != ROPE_TABLES) return result;
    rope_call c = at.call;
    c.table.row_stride = c.table.width;
    const Row dense = Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
    for (int feature = 0; feature < result.features(); ++feature) result.sin(feature) = dense.sin(feature);
    return result;
  }
};

struct SectionsCountFeatures : Kernel {
  int axis(const rope_call& call, int pair) const override {
    return Kernel::axis(call, std::min(2 * pair, call.rotary_dim / 2 - 1));
  }
};

std::int64_t rows_of(const rope_call& call) { return call.positions.batch_stride == 0 ? 1 : call.q.shape[0]; }

struct AxesTakenToBeDense : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.positions.data != nullptr) c.positions.axis_stride = rows_of(call) * call.q.shape[1];
    return c;
  }
};

struct BatchesTakenToBeDense : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.positions.batch_stride != 0) c.positions.batch_stride = call.q.shape[1];
    return c;
  }
};

// For text, only the first axis is filled from the offset.
struct OffsetOnTheFirstAxis : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    return at.call.positions.data == nullptr && axis > 0 ? 0 : Kernel::position(at, axis);
  }
};

struct SpectrumOfItsOwn : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    const std::vector<double> right = Kernel::theta(call);
    std::vector<double> result = right;
    std::map<int, std::size_t> rank;  // by axis
    for (std::size_t p = 0; call.axis != nullptr && p < right.size(); ++p) result[p] = right[rank[call.axis[p]]++];
    return result;
  }
};

}  // namespace

Mutants angle_mutants() {
  static const Mutant all[] = {
      mutant<ExponentUpToOne>("FREQ-UP-TO-BASE", "frequency-base",
                              "exponent -p/(r/2-1): the last pair gets 1/base, no scaling rule"),
      mutant<ExponentOver128AtMost>("FREQ-OVER-128", "frequency-base",
                                    "rotary_dim above 128: exponent -2p/128, as for heads of 128"),
      mutant<TemperatureOfItsOwn>("SCALE-OWN-FACTOR", "scaling-config",
                                  "yarn: a given attention factor of 1 is replaced by 0.1 ln(factor) + 1"),
      mutant<SmoothingInverted>("SCALE-SMOOTHING-INVERTED", "scaling-config",
                                "llama3: scaled and plain theta exchanged where the two are mixed"),
      mutant<Llama3FactorsBuiltIn>("SCALE-LLAMA3-BUILT-IN", "scaling-config",
                                   "llama3: low and high frequency factors 1 and 4, whatever is given"),
      mutant<YarnTurnsBuiltIn>("SCALE-YARN-BUILT-IN", "scaling-config",
                               "yarn: beta_fast 32 and beta_slow 1, whatever is given"),
      mutant<PixelFrequencyBuiltIn>("SCALE-PIXEL-BUILT-IN", "scaling-config",
                                    "pixel: largest frequency 10, whatever is given"),
      mutant<FactorCutOff>("SCALE-WHOLE-FACTOR", "scaling-config", "linear: factor cut to an integer"),
      mutant<BaseTimesFactor>("SCALE-NTK-NO-POWER", "scaling-config",
                              "ntk: base times factor, without the power r/(r-2)"),
      mutant<ProportionalOverTurningPart>("SCALE-OVER-TURNING", "scaling-config",
                                          "proportional: exponent over the turning pairs, not over head_dim"),
      mutant<OffsetNotInterpolated>("SCALE-NOT-OFFSET", "scaling-config",
                                    "linear: the offset is not divided by the factor, the token's index is"),
      mutant<PowersInSingle>("PREC-POWERS", "precision", "cos and sin of a position as a power of e^(i theta) in f32"),
      mutant<ChunksOverlap>("POS-CHUNKS", "position-offset",
                            "chunks of 64 tokens: each starts at the last position of the one before"),
      mutant<OwnTableOneShort>("TAB-ONE-SHORT", "table-cache",
                               "its own table one row short: the last position gets the row before"),
      mutant<ThetaKeyedByAddress>("TAB-KEYED-BY-ADDRESS", "table-cache",
                                  "given theta kept for each address, whatever stands there later"),
      mutant<SineTakenToBeDense>("TAB-SIN-DENSE", "table-cache", "row stride of the table used for cos, not for sin"),
      mutant<SectionsCountFeatures>("AXIS-FEATURES", "multi-axis",
                                    "sections of the axes counted in features where they are pairs"),
      mutant<AxesTakenToBeDense>("AXIS-DENSE", "multi-axis",
                                 "axis_stride of the positions taken to be batches times tokens"),
      mutant<OffsetOnTheFirstAxis>("AXIS-OFFSET", "multi-axis",
                                   "several axes without positions: the offset counts on the first axis only"),
      mutant<BatchesTakenToBeDense>("VAR-DENSE", "varlen-packing-cp",
                                    "batch_stride of the positions taken to be the number of tokens"),
      mutant<SpectrumOfItsOwn>("AXIS-OWN-SPECTRUM", "multi-axis",
                               "several axes: the frequencies start anew with each axis"),
  };
  return all;
}

}  // namespace rope::mutants
