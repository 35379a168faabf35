// Scaling rules whose parameters are misread, or which switch at the wrong point.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

// Most mutants of this file misread the calls that ask for one rule.
template <std::int32_t kind>
struct Misread : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.angle_source == ROPE_COMPUTED && call.scaling.kind == kind) misread(c);
    return c;
  }
  virtual void misread(rope_call& c) const = 0;
};

double default_temperature(const rope_scaling& yarn) { return yarn.factor <= 1 ? 1 : 0.1 * std::log(yarn.factor) + 1; }

struct LinearInverted : Misread<ROPE_SCALING_LINEAR> {
  void misread(rope_call& c) const override { c.scaling.factor = 1 / c.scaling.factor; }
};

struct DynamicIsStatic : Misread<ROPE_SCALING_DYNAMIC> {
  void misread(rope_call& c) const override {
    c.sequence_length = static_cast<std::int64_t>(c.scaling.factor * c.scaling.original_max_position);
  }
};

struct CacheOfTheOriginalLength : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    const rope_scaling& scaling = at.call.scaling;
    if (at.call.angle_source != ROPE_COMPUTED || scaling.kind != ROPE_SCALING_DYNAMIC) return m;
    return std::min(m, static_cast<std::int64_t>(scaling.original_max_position) - 1);
  }
};

class LengthNeverShrinks : public Misread<ROPE_SCALING_DYNAMIC> {
  void misread(rope_call& c) const override {
    const std::lock_guard guard(lock_);
    c.sequence_length = longest_ = std::max(longest_, c.sequence_length);
  }
  mutable std::mutex lock_;
  mutable std::int64_t longest_ = 0;
};

struct TemperatureTwice : Misread<ROPE_SCALING_YARN> {
  void misread(rope_call& c) const override {
    if (c.scaling.factor > 1) c.attention_factor = 0.1 * c.attention_factor * std::log(c.scaling.factor) + 1;
  }
};

struct MscaleIgnored : Misread<ROPE_SCALING_YARN> {
  void misread(rope_call& c) const override { c.attention_factor = default_temperature(c.scaling); }
};

struct ClampAtPairs : Misread<ROPE_SCALING_YARN> {
  void misread(rope_call& c) const override { c.scaling.yarn_clamp_pairs = 1; }
};

struct TruncateAlways : Misread<ROPE_SCALING_YARN> {
  void misread(rope_call& c) const override { c.scaling.yarn_truncate = 1; }
};

struct LengthInSixteenBits : Misread<ROPE_SCALING_YARN> {
  void misread(rope_call& c) const override {
    constexpr double largest = std::numeric_limits<std::int16_t>::max();
    c.scaling.original_max_position = std::min(c.scaling.original_max_position, largest);
  }
};

struct Llama3NotInDecode : Misread<ROPE_SCALING_LLAMA3> {
  void misread(rope_call& c) const override {
    if (c.q.shape[1] == 1) c.scaling.kind = ROPE_SCALING_NONE;
  }
};

struct LongFactorsAlways : Misread<ROPE_SCALING_LONGROPE> {
  void misread(rope_call& c) const override { c.scaling.short_factor = c.scaling.long_factor; }
};

struct LongFactorsAtTheBoundary : Misread<ROPE_SCALING_LONGROPE> {
  void misread(rope_call& c) const override {
    const bool at_boundary = static_cast<double>(c.sequence_length) == c.scaling.original_max_position;
    if (at_boundary) c.scaling.short_factor = c.scaling.long_factor;
  }
};

struct LengthOfTheChunk : Misread<ROPE_SCALING_LONGROPE> {
  void misread(rope_call& c) const override { c.sequence_length = c.q.shape[1]; }
};

// The long factors are read from head_dim/2 on, though only rotary_dim/2 short ones were written before them.
struct FactorsSpacedByHeadDim : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    rope_call c = call;
    std::vector<double> shifted;
    const std::int64_t shift = (call.q.shape[3] - call.rotary_dim) / 2;
    if (call.angle_source == ROPE_COMPUTED && call.scaling.kind == ROPE_SCALING_LONGROPE) {
      for (std::int64_t p = shift; p < call.rotary_dim / 2 + shift; ++p) {
        shifted.push_back(p < call.rotary_dim / 2 ? call.scaling.long_factor[p] : 1);
      }
      c.scaling.long_factor = shifted.data();
    }
    return Kernel::theta(c);
  }
};

}  // namespace

Mutants scaling_mutants() {
  static const Mutant all[] = {
      mutant<LinearInverted>("SCALE-01", "scaling-config", "linear: theta times the factor"),
      mutant<DynamicIsStatic>("SCALE-03", "scaling-config", "dynamic: base of the full length at every length"),
      mutant<CacheOfTheOriginalLength>("SCALE-05", "scaling-config",
                                       "dynamic: positions from the original length on get the last one's angles"),
      mutant<LengthNeverShrinks>("SCALE-LONGEST-SEEN", "scaling-config",
                                 "dynamic: base of the longest sequence seen so far"),
      mutant<TemperatureTwice>("SCALE-07", "scaling-config",
                               "yarn: 0.1 A ln(factor) + 1 of an attention factor A that was final"),
      mutant<MscaleIgnored>("SCALE-09", "scaling-config",
                            "yarn: attention factor 0.1 ln(factor) + 1 whatever mscale made of it"),
      mutant<ClampAtPairs>("SCALE-11", "scaling-config", "yarn: ramp clamped at r/2-1 where r-1 is asked for"),
      mutant<LengthInSixteenBits>("SCALE-13", "scaling-config", "yarn: original length cut to 32767"),
      mutant<Llama3NotInDecode>("SCALE-15", "scaling-config", "llama3: no scaling where there is one token"),
      mutant<LongFactorsAlways>("SCALE-17", "scaling-config", "longrope: long factors at every length"),
      mutant<LengthOfTheChunk>("SCALE-19", "scaling-config",
                               "longrope: factors chosen by the length of the call, not of the sequence"),
      mutant<FactorsSpacedByHeadDim>("SCALE-21", "scaling-config",
                                     "longrope: long factors read head_dim/2 behind the short ones, not rotary_dim/2"),
      mutant<TruncateAlways>("SCALE-YARN-TRUNCATE", "scaling-config", "yarn: truncate whether asked for or not"),
      mutant<LongFactorsAtTheBoundary>("SCALE-BOUNDARY", "scaling-config",
                                       "longrope: long factors already at exactly the original length"),
  };
  return all;
}

}  // namespace rope::mutants
