// The results are right, but these kernels also read memory that they were not given: vectors wider than the row,
// elements before the first one. They may crash: run them in a worker.
#include <cstddef>
#include <cstdint>

#include "reference/dtype.hpp"
#include "tests/kernels/mutants/mutant.hpp"

namespace rope::mutants {
namespace {

void touch(std::int32_t dtype, const void* data, std::int64_t element) {
  const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(dtype)));
  static_cast<void>(static_cast<const volatile std::byte*>(data)[element * size]);
}

// The index of the first element in a token's table row.
std::int64_t row_start(const Place& at, std::int64_t position) { return position * at.call.table.row_stride; }

struct TableReadTooWide : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const rope_table& table = at.call.table;
    const std::int64_t lanes_behind = table.width + 3;  // of the last vector that is loaded
    if (at.call.angle_source == ROPE_TABLES) {
      touch(table.dtype, table.sin, row_start(at, position(at, axis(at.call, 0))) + lanes_behind);
    }
    return Kernel::row(at, theta);
  }
};

struct CosReadTooWide : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const rope_table& table = at.call.table;
    if (at.call.angle_source == ROPE_TABLES) {
      touch(table.dtype, table.cos, row_start(at, position(at, axis(at.call, 0))) + table.width);
    }
    return Kernel::row(at, theta);
  }
};

struct PositionBeforeRead : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_positions& p = at.call.positions;
    if (p.data != nullptr) {
      const std::int64_t before = at.seq - 1;
      touch(p.dtype, p.data, axis * p.axis_stride + at.batch * p.batch_stride + before * p.seq_stride);
    }
    return Kernel::position(at, axis);
  }
};

struct ThetaBeforeRead : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    if (call.angle_source == ROPE_FREQUENCIES) touch(call.theta_dtype, call.theta, -1);
    return Kernel::theta(call);
  }
};

struct FactorsBeforeRead : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    const double* factors = call.scaling.long_factor;
    if (call.angle_source == ROPE_COMPUTED && factors != nullptr) touch(ROPE_F64, factors, -1);
    return Kernel::theta(call);
  }
};

struct AxisBeforeRead : Kernel {
  int axis(const rope_call& call, int pair) const override {
    if (call.axis != nullptr) touch(ROPE_I32, call.axis, pair - 1);
    return Kernel::axis(call, pair);
  }
};

}  // namespace

Mutants read_mutants() {
  static const Mutant all[] = {
      mutant<TableReadTooWide>("MEM-07", "strides-memory-race", "reads four columns past the end of a row of sin"),
      mutant<CosReadTooWide>("MEM-PAST-COS", "strides-memory-race", "reads one column past the end of a row of cos"),
      mutant<PositionBeforeRead>("MEM-BEFORE-POSITIONS", "strides-memory-race",
                                 "reads the position of the token before too"),
      mutant<ThetaBeforeRead>("MEM-BEFORE-THETA", "strides-memory-race", "reads one theta before the first"),
      mutant<FactorsBeforeRead>("MEM-BEFORE-FACTORS", "strides-memory-race",
                                "longrope: reads one long factor before the first"),
      mutant<AxisBeforeRead>("MEM-BEFORE-AXIS", "strides-memory-race", "reads the axis of the pair before too"),
  };
  return all;
}

}  // namespace rope::mutants
