// Angles: theta, scaling, position and axis, most in one path of several.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <numbers>
#include <tuple>
#include <utility>

#include "impls/position.hpp"
#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

bool is_computed(const rope_call& call, std::int32_t kind) {
  return call.angle_source == ROPE_COMPUTED && call.scaling.kind == kind;
}

// 1 is taken for "not given".
struct TemperatureOfItsOwn : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const bool is_missing = is_computed(call, ROPE_SCALING_YARN) && call.attention_factor == 1;
    if (is_missing && call.scaling.factor > 1) c.attention_factor = 0.1 * std::log(call.scaling.factor) + 1;
    return c;
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

std::int64_t rows_of(const rope_call& call) { return call.positions.batch_stride == 0 ? 1 : call.q.shape[0]; }

struct AxesTakenToBeDense : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    if (call.positions.data != nullptr) c.positions.axis_stride = rows_of(call) * call.q.shape[1];
    return c;
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

// One instance of a template: k in bf16 with head_dim 128.
struct KeyOf128Narrow : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    if (!at.key || at.in().dtype != ROPE_BF16 || at.in().shape[3] != 128) return Kernel::row(at, theta);
    std::vector<double> rounded = theta;
    for (double& value : rounded) value = bfloat16_to_double(double_to_bfloat16(value));
    return Kernel::row(at, rounded);
  }
};

// The offset is added whether or not positions are given.
struct OffsetOnGivenPositions : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const std::int64_t m = Kernel::position(at, axis);
    return at.call.positions.data != nullptr ? m + at.call.positions.offset : m;
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

struct KeyOnTheFirstAxis : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    rope_call c = at.call;
    if (at.key) c.axis = nullptr;
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
  }
};

// Columns of the tables are counted from the head's first feature.
struct ColumnsOfTheHead : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    rope_call c = at.call;
    if (c.angle_source == ROPE_TABLES) {
      const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(c.table.dtype)));
      const std::int64_t columns = c.table.width == c.rotary_dim ? c.rotary_offset : c.rotary_offset / 2;
      const std::int64_t last = (c.table.rows - 1) * c.table.row_stride + c.table.width - c.rotary_dim;
      if (position_of(c, 0, at.batch, at.seq) * c.table.row_stride + columns <= last) {  // what lies there is read
        c.table.cos = static_cast<const std::byte*>(c.table.cos) + columns * size;
        c.table.sin = static_cast<const std::byte*>(c.table.sin) + columns * size;
      }
    }
    return Kernel::row({c, at.key, at.batch, at.seq, at.head}, theta);
  }
};

// The exponent counts features from the head's first one.
struct FrequenciesOfTheHead : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (call.angle_source != ROPE_COMPUTED) return result;
    for (double& value : result) value *= std::pow(call.base, -1.0 * call.rotary_offset / call.rotary_dim);
    return result;
  }
};

struct ExponentOneLess : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    if (call.angle_source == ROPE_COMPUTED) {
      for (double& value : result) value *= std::pow(call.base, 2.0 / call.rotary_dim);
    }
    return result;
  }
};

struct ExponentWithoutTwo : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.base = std::sqrt(call.base);
    return c;
  }
};

struct ExponentOverHeadDim : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    c.base = std::pow(call.base, static_cast<double>(call.rotary_dim) / static_cast<double>(call.q.shape[3]));
    return c;
  }
};

struct ExponentOverAnotherWidth : Kernel {
  rope_call understood(const rope_call& call) const override {
    rope_call c = call;
    const std::int64_t width = call.q.strides[1] / std::max<std::int64_t>(1, call.q.shape[2]);  // n_embd / n_head
    c.base = std::pow(call.base, call.rotary_dim / std::max(2.0, static_cast<double>(width)));
    return c;
  }
};

struct FactorInsideThePower : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    std::vector<double> result = Kernel::theta(call);
    const std::int32_t kind = call.scaling.kind;
    const double factor = call.scaling.factor;
    if (call.angle_source != ROPE_COMPUTED || (kind != ROPE_SCALING_LINEAR && kind != ROPE_SCALING_YARN)) return result;
    if (factor == 1) return result;
    for (std::size_t p = 0; p < result.size(); ++p) {
      const double exponent = -2.0 * static_cast<double>(p) / call.rotary_dim;
      const double plain = std::pow(call.base, exponent);
      const double ramp = (1 - result[p] / plain) / (1 - 1 / factor);  // 1 where the pair is interpolated
      result[p] = std::pow(factor * call.base, exponent) * ramp + plain * (1 - ramp);
    }
    return result;
  }
};

}  // namespace

Mutants angle_mutants() {
  static const Mutant all[] = {
      mutant<TemperatureOfItsOwn>("SCALE-OWN-FACTOR", "scaling-config",
                                  "yarn: a given attention factor of 1 is replaced by 0.1 ln(factor) + 1"),
      mutant<OffsetNotInterpolated>("SCALE-NOT-OFFSET", "scaling-config",
                                    "linear: the offset is not divided by the factor, the token's index is"),
      mutant<AxesTakenToBeDense>("AXIS-DENSE", "multi-axis",
                                 "axis_stride of the positions taken to be batches times tokens"),
      mutant<SpectrumOfItsOwn>("AXIS-OWN-SPECTRUM", "multi-axis",
                               "several axes: the frequencies start anew with each axis"),
      mutant<BaseOfKeyBuiltIn>("FREQ-KEY-BASE", "frequency-base", "k with base 10000 whatever the base is"),
      mutant<BaseInInt32>("FREQ-BASE-INT32", "frequency-base", "base cut to 2^31-1"),
      mutant<KeyOf128Narrow>("PREC-KEY-128", "precision", "k in bf16 with head_dim 128: theta rounded to bf16"),
      mutant<OffsetOnGivenPositions>("POS-OFFSET-ON-GIVEN", "position-offset", "offset added to given positions too"),
      mutant<LastRowRefused>("TAB-LAST-ROW-REFUSED", "table-cache", "the last row of the tables is refused"),
      mutant<KeyOnTheFirstAxis>("AXIS-KEY", "multi-axis", "k follows the first axis only"),
      mutant<ColumnsOfTheHead>("OFF-COLUMNS", "table-cache",
                               "rotary_offset: columns of the tables are counted from the head's first feature"),
      mutant<FrequenciesOfTheHead>("OFF-HEAD-FREQUENCY", "frequency-base",
                                   "rotary_offset: the exponent counts features from the head's first one"),
      mutant<ExponentOneLess>("FREQ-03", "frequency-base", "exponent -2(p-1)/r: every angle times base^(2/r)"),
      mutant<FactorInsideThePower>("FREQ-07", "frequency-base",
                                   "linear and yarn: (factor base)^(-2p/r) where base^(-2p/r) / factor is meant"),
      mutant<ExponentOverAnotherWidth>("FREQ-09", "frequency-base",
                                       "exponent -2p/n, n the memory of a token divided by its heads"),
      mutant<ExponentWithoutTwo>("FREQ-WITHOUT-TWO", "frequency-base", "exponent -p/r, the 2 lost"),
      mutant<ExponentOverHeadDim>("FREQ-OVER-HEAD-DIM", "frequency-base",
                                  "exponent -2p/head_dim where rotary_dim is below head_dim"),
  };
  return all;
}

}  // namespace rope::mutants
