// The angle of a pair, from base, scaling, tables, axes and positions; most are wrong in one of several paths.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

bool is_computed(const rope_call& call, std::int32_t kind) {
  return call.angle_source == ROPE_COMPUTED && call.scaling.kind == kind;
}

double plain_theta(const rope_call& call, std::size_t pair, double base) {
  return std::pow(base, -2 * static_cast<double>(pair) / call.rotary_dim);
}

std::int64_t tokens_of(const Place& at) { return at.in().shape[1]; }

// p * 2 / rotary_dim in integers.
struct ExponentInIntegers : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (is_computed(call, ROPE_SCALING_NONE)) std::ranges::fill(result, 1.0);
    return result;
  }
};

// arange(2, rotary_dim + 2, 2).
struct ExponentFromOne : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (call.angle_source != ROPE_COMPUTED) return result;
    for (double& value : result) value *= plain_theta(call, 1, call.base);
    return result;
  }
};

// The rope of k was built before the configuration was read.
struct BaseOfKeyBuiltIn : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    if (!at.key || at.call.angle_source != ROPE_COMPUTED || at.call.base == 10000) return Kernel::row(at, theta);
    rope_call c = at.call;
    c.base = 10000;
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, Kernel::theta(c));
  }
};

// rope_theta parsed into an int32, which saturates. There are models with 100000000042.
struct BaseInInt32 : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.base = std::min(call.base, static_cast<double>(std::numeric_limits<std::int32_t>::max()));
    return c;
  }
};

// The ramp runs over wavelengths instead of their inverse, the turns.
struct SmoothingOverWavelengths : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (!is_computed(call, ROPE_SCALING_LLAMA3)) return result;
    const rope_scaling& rule = call.scaling;
    const double longest = rule.original_max_position / rule.low_freq_factor;
    const double shortest = rule.original_max_position / rule.high_freq_factor;
    for (std::size_t p = 0; p < result.size(); ++p) {
      const double plain = plain_theta(call, p, call.base);
      const double wavelength = 2 * std::numbers::pi / plain;
      if (wavelength <= shortest || wavelength >= longest) continue;
      const double scaled = (wavelength - shortest) / (longest - shortest);
      result[p] = scaled * plain / rule.factor + (1 - scaled) * plain;
    }
    return result;
  }
};

struct Llama3FactorEight : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_LLAMA3)) c.scaling.factor = 8;
    return c;
  }
};

// Prefill reads a table that was made without the rule; decoding computes its angles.
struct PrefillWithoutYarn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_YARN) && call.q.shape[1] > 1) c.scaling = rope_scaling{};
    return c;
  }
};

// The function that finds the ramp does not get the base; its default is 10000.
struct RampOfDefaultBase : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (!is_computed(call, ROPE_SCALING_YARN)) return result;
    rope_call c = call;
    c.base = 10000;
    const std::vector<double> of_default = Kernel::theta(c);
    for (std::size_t p = 0; p < result.size(); ++p) {
      result[p] = plain_theta(call, p, call.base) * of_default[p] / plain_theta(call, p, c.base);
    }
    return result;
  }
};

// Each token's position selects its factors: one sequence is rotated with two sets of frequencies.
struct LongFactorsByPosition : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    if (!is_computed(at.call, ROPE_SCALING_LONGROPE)) return Kernel::row(at, theta);
    rope_call c = at.call;
    c.sequence_length = position(at, 0) + 1;
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, Kernel::theta(c));
  }
};

// The largest position is used as the length.
struct LengthOneShort : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (is_computed(call, ROPE_SCALING_DYNAMIC)) c.sequence_length = std::max<std::int64_t>(1, c.sequence_length - 1);
    return c;
  }
};

struct PositionDividedInIntegers : Kernel {
  double angle(const rope_call& call, double position, double theta) const override {
    if (!is_computed(call, ROPE_SCALING_LINEAR)) return position * theta;
    return std::floor(position / call.scaling.factor) * (theta * call.scaling.factor);
  }
};

struct TemperatureOfCosineOnly : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    Row result = Kernel::row(at, theta);
    if (!is_computed(at.call, ROPE_SCALING_YARN) || at.call.attention_factor == 0) return result;
    for (int feature = 0; feature < result.features(); ++feature) result.sin(feature) /= at.call.attention_factor;
    return result;
  }
};

struct ProportionRoundedUp : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (!is_computed(call, ROPE_SCALING_PROPORTIONAL)) return result;
    const double turning = std::ceil(call.scaling.proportion * call.rotary_dim / 2);
    for (std::size_t p = 0; static_cast<double>(p) < turning; ++p) {
      result[p] = plain_theta(call, p, call.base) / call.scaling.factor;
    }
    return result;
  }
};

// The angle is reduced by multiples of pi. An odd multiple negates cos and sin, but sin is not negated back.
struct ParityForgotten : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    const Turn right = Kernel::turn(call, angle);
    const bool odd = std::fmod(std::nearbyint(angle / std::numbers::pi), 2) != 0;
    return std::fabs(angle) > 8192 && odd ? Turn{right.cos, -right.sin} : right;
  }
};

// The class for several axes casts its table down to the narrower 16-bit type; the class for text does not.
struct AxesWithNarrowTable : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    const Turn right = Kernel::turn(call, angle);
    if (call.axis == nullptr || call.q.dtype == ROPE_BF16) return right;
    return {narrow(right.cos), narrow(right.sin)};
  }
  static double narrow(double x) { return bfloat16_to_double(double_to_bfloat16(x)); }
};

// One instance of a template: k in bf16 with head_dim 128.
struct KeyOf128Narrow : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    if (!at.key || at.in().dtype != ROPE_BF16 || at.in().shape[3] != 128) return Kernel::row(at, theta);
    std::vector<double> rounded = theta;
    for (double& value : rounded) value = bfloat16_to_double(double_to_bfloat16(value));
    return Kernel::row(at, rounded);
  }
};

// The device has no libm: types that seem to need no more get a table of the circle in 256 steps.
struct CircleIn256Steps : Kernel {
  Turn turn(const rope_call& call, double angle) const override {
    if (call.q.dtype != ROPE_F16 && call.q.dtype != ROPE_BF16) return Kernel::turn(call, angle);
    const double step = std::numbers::pi / 128;
    return Kernel::turn(call, std::nearbyint(angle / step) * step);
  }
};

// The offset is added whether or not positions are given.
struct OffsetOnGivenPositions : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    return at.call.positions.data != nullptr ? m + at.call.positions.offset : m;
  }
};

struct SeveralBatchesOfKeyFromZero : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const bool lost = at.key && at.in().shape[0] > 1 && at.call.positions.data == nullptr;
    return lost ? at.seq : Kernel::position(at, axis);
  }
};

// The row pointer was advanced as int32, then read as int64.
struct HalfABatchFurther : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.positions.dtype == ROPE_I64) c.positions.batch_stride /= 2;
    return c;
  }
};

// Positions are loaded four at a time; the remaining tokens keep the last one loaded.
struct LeftOverPositions : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t whole = tokens_of(at) / 4 * 4;
    if (at.call.positions.data == nullptr || whole == 0 || at.seq < whole) return Kernel::position(at, axis);
    return Kernel::position({at.call, at.key, at.batch, whole - 1, at.head}, axis);
  }
};

// A position that does not follow the one before is taken as the start of a sequence, and sequences start at 0.
struct SequencesBeginAtZero : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    if (at.call.positions.data == nullptr) return Kernel::position(at, axis);
    const auto given = [&](std::int64_t token) {
      return Kernel::position({at.call, at.key, at.batch, token, 0}, axis);
    };
    std::int64_t begin = at.seq;
    while (begin > 0 && given(begin) == given(begin - 1) + 1) --begin;
    return begin == 0 ? given(at.seq) : at.seq - begin;
  }
};

// A rank of context parallelism has two chunks of the sequence; the second is assumed to follow the first.
struct SecondChunkFollowsFirst : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t half = tokens_of(at) / 2;
    const bool two_chunks =
        at.call.positions.data != nullptr && at.call.positions.batch_stride == 0 && half > 1 && tokens_of(at) % 2 == 0;
    if (!two_chunks || at.seq < half) return Kernel::position(at, axis);
    return Kernel::position({at.call, at.key, at.batch, half - 1, 0}, axis) + at.seq - half + 1;
  }
};

// >= instead of >: the last row is refused.
struct LastRowRefused : Kernel {
  rope_status check(const rope_call* call) const override {
    const rope_status status = Kernel::check(call);
    if (status != ROPE_OK || call->angle_source != ROPE_TABLES || call->positions.data != nullptr) return status;
    return call->positions.offset + call->q.shape[1] >= call->table.rows ? ROPE_INVALID_ARGUMENT : status;
  }
};

// Each row of one cache holds cos and sin; only the pointer to cos is used.
struct SineBehindCosine : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.angle_source != ROPE_TABLES || call.table.row_stride < 2 * call.table.width) return c;
    const std::size_t bytes = size_of(static_cast<DType>(call.table.dtype));
    c.table.sin = static_cast<const std::byte*>(call.table.cos) + static_cast<std::size_t>(call.table.width) * bytes;
    return c;
  }
};

class ThetaKeyedByBase : public Kernel {
 public:
  std::vector<double> theta(const rope_call& call) const override {
    if (call.angle_source != ROPE_COMPUTED) return Kernel::theta(call);
    const std::lock_guard guard(lock_);
    std::vector<double>& kept = first_[{call.base, call.rotary_dim, call.q.shape[3], call.scaling.kind}];
    if (kept.empty()) kept = Kernel::theta(call);
    return kept;
  }

 private:
  mutable std::mutex lock_;
  mutable std::map<std::tuple<double, std::int32_t, std::int64_t, std::int32_t>, std::vector<double>> first_;
};

// Full-width tables are assumed to be two equal halves side by side, for every pairing.
struct FullTablesInHalves : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const Row given = Kernel::row(at, theta);
    const rope_call& call = at.call;
    const bool full = call.angle_source == ROPE_TABLES && call.table.width == call.rotary_dim;
    Row result = given;
    for (int feature = 0; full && call.pairing == ROPE_INTERLEAVED && feature < given.features(); ++feature) {
      const int column = feature / 2 + feature % 2 * (call.rotary_dim / 2);
      result.cos(feature) = given.cos(column);
      result.sin(feature) = given.sin(column);
    }
    return result;
  }
};

// The end of a section counts as part of it.
struct SectionsOneLate : Kernel {
  int axis(const rope_call& call, int pair) const override { return Kernel::axis(call, std::max(0, pair - 1)); }
};

struct KeyOnTheFirstAxis : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    rope_call c = at.call;
    if (at.key) c.axis = nullptr;
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
  }
};

struct TablesOfTheFirstAxis : Kernel {
  int axis(const rope_call& call, int pair) const override {
    return call.angle_source == ROPE_TABLES ? 0 : Kernel::axis(call, pair);
  }
};

}  // namespace

Mutants one_path_angle_mutants() {
  static const Mutant all[] = {
      mutant<ExponentInIntegers>("FREQ-INTEGER-DIVISION", "frequency-base",
                                 "exponent 2p/r divided in integers: theta 1, no scaling rule"),
      mutant<ExponentFromOne>("FREQ-FROM-ONE", "frequency-base", "exponent -2(p+1)/r: every angle over base^(2/r)"),
      mutant<BaseOfKeyBuiltIn>("FREQ-KEY-BASE", "frequency-base", "k with base 10000 whatever the base is"),
      mutant<BaseInInt32>("FREQ-BASE-INT32", "frequency-base", "base cut to 2^31-1"),
      mutant<SmoothingOverWavelengths>("SCALE-OVER-WAVELENGTHS", "scaling-config",
                                       "llama3: mixed in proportion to wavelengths, not to turns"),
      mutant<Llama3FactorEight>("SCALE-LLAMA3-EIGHT", "scaling-config", "llama3: factor 8, whatever is given"),
      mutant<PrefillWithoutYarn>("SCALE-PREFILL-PLAIN", "scaling-config", "yarn: no scaling where tokens are several"),
      mutant<RampOfDefaultBase>("SCALE-RAMP-BASE", "scaling-config", "yarn: ramp found for base 10000"),
      mutant<LongFactorsByPosition>("SCALE-LONG-BY-POSITION", "scaling-config",
                                    "longrope: factors chosen by each token's position, not by the sequence"),
      mutant<LengthOneShort>("SCALE-LENGTH-ONE-SHORT", "scaling-config",
                             "dynamic: base of a sequence that is one token shorter"),
      mutant<PositionDividedInIntegers>("SCALE-WHOLE-POSITION", "scaling-config",
                                        "linear: position divided by the factor in integers"),
      mutant<TemperatureOfCosineOnly>("SCALE-COSINE-ONLY", "scaling-config",
                                      "yarn: attention factor on cos, not on sin"),
      mutant<ProportionRoundedUp>("SCALE-PROPORTION-UP", "scaling-config",
                                  "proportional: number of turning pairs rounded up"),
      mutant<ParityForgotten>("PREC-PARITY", "precision",
                              "angles above 8192 reduced by pi: sign of sin lost at odd multiples"),
      mutant<AxesWithNarrowTable>("PREC-AXES-NARROW", "precision",
                                  "several axes: its own cos and sin kept in bf16, f16 and wider tensors"),
      mutant<KeyOf128Narrow>("PREC-KEY-128", "precision", "k in bf16 with head_dim 128: theta rounded to bf16"),
      mutant<CircleIn256Steps>("PREC-CIRCLE-256", "precision", "16-bit tensors: angles in steps of 1/256 of a turn"),
      mutant<OffsetOnGivenPositions>("POS-OFFSET-ON-GIVEN", "position-offset", "offset added to given positions too"),
      mutant<SeveralBatchesOfKeyFromZero>("POS-KEY-FROM-ZERO", "position-offset",
                                          "several batches: k without the offset"),
      mutant<HalfABatchFurther>("POS-HALF-BATCH", "position-offset", "int64 positions: batch_stride halved"),
      mutant<LeftOverPositions>("POS-LEFT-OVER", "position-offset",
                                "given positions: tokens left over from vectors of four share the last one loaded"),
      mutant<SequencesBeginAtZero>("VAR-BEGIN-AT-ZERO", "varlen-packing-cp",
                                   "given positions that jump: counted from 0 behind the jump"),
      mutant<SecondChunkFollowsFirst>("VAR-SECOND-CHUNK", "varlen-packing-cp",
                                      "shared positions, an even number: second half counted on from the first"),
      mutant<LastRowRefused>("TAB-LAST-ROW-REFUSED", "table-cache", "the last row of the tables is refused"),
      mutant<SineBehindCosine>("TAB-SIN-BEHIND-COS", "table-cache",
                               "rows at least twice as far apart as wide: sin read behind cos in its row"),
      mutant<ThetaKeyedByBase>("TAB-KEYED-BY-BASE", "table-cache",
                               "theta kept for base, widths and kind of rule, whatever its parameters are later"),
      mutant<FullTablesInHalves>("TAB-FULL-IN-HALVES", "table-cache",
                                 "full-width tables, interleaved: columns read as for half-split"),
      mutant<SectionsOneLate>("AXIS-ONE-LATE", "multi-axis", "each pair follows the axis of the pair before"),
      mutant<KeyOnTheFirstAxis>("AXIS-KEY", "multi-axis", "k follows the first axis only"),
      mutant<TablesOfTheFirstAxis>("AXIS-TABLES", "multi-axis", "with tables every pair follows the first axis"),
  };
  return all;
}

}  // namespace rope::mutants
