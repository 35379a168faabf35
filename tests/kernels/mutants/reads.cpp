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

struct RowBeforeRead : Kernel {
  Row row(const Place& at, const std::vector<double>& theta) const override {
    const rope_table& table = at.call.table;
    if (at.call.angle_source == ROPE_TABLES) {
      touch(table.dtype, table.cos, row_start(at, position(at, axis(at.call, 0))) - 1);
    }
    return Kernel::row(at, theta);
  }
};

struct NextPositionRead : Kernel {
  std::int64_t position(const Place& at, int axis) const override {
    const rope_positions& p = at.call.positions;
    if (p.data != nullptr) {
      const std::int64_t next = at.seq + 1;
      touch(p.dtype, p.data, axis * p.axis_stride + at.batch * p.batch_stride + next * p.seq_stride);
    }
    return Kernel::position(at, axis);
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

struct ThetaReadTooWide : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    if (call.angle_source == ROPE_FREQUENCIES) touch(call.theta_dtype, call.theta, call.rotary_dim / 2);
    return Kernel::theta(call);
  }
};

struct ThetaBeforeRead : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    if (call.angle_source == ROPE_FREQUENCIES) touch(call.theta_dtype, call.theta, -1);
    return Kernel::theta(call);
  }
};

// Reads the list for the sequence length as if it had a value per feature: rotary_dim values.
struct FactorsReadTooWide : Kernel {
  std::vector<double> theta(const rope_call& call) const override {
    const bool is_long = static_cast<double>(call.sequence_length) > call.scaling.original_max_position;
    const double* factors = is_long ? call.scaling.long_factor : call.scaling.short_factor;
    if (call.angle_source == ROPE_COMPUTED && factors != nullptr) touch(ROPE_F64, factors, call.rotary_dim - 1);
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

struct AxisReadTooWide : Kernel {
  int axis(const rope_call& call, int pair) const override {
    if (call.axis != nullptr) touch(ROPE_I32, call.axis, pair + 1);
    return Kernel::axis(call, pair);
  }
};

struct AxisBeforeRead : Kernel {
  int axis(const rope_call& call, int pair) const override {
    if (call.axis != nullptr) touch(ROPE_I32, call.axis, pair - 1);
    return Kernel::axis(call, pair);
  }
};

struct InputReadTooWide : Kernel {
  double load(const Place& at, int feature) const override {
    touch(at.in().dtype, at.in().data, element(at, at.in(), feature) + 1);
    return Kernel::load(at, feature);
  }
};

struct InputBeforeRead : Kernel {
  double load(const Place& at, int feature) const override {
    touch(at.in().dtype, at.in().data, element(at, at.in(), feature) - 1);
    return Kernel::load(at, feature);
  }
};

}  // namespace

Mutants read_mutants() {
  static const Mutant all[] = {
      mutant<TableReadTooWide>("MEM-07", "strides-memory-race", "reads four columns past the end of a row of sin"),
      mutant<CosReadTooWide>("MEM-PAST-COS", "strides-memory-race", "reads one column past the end of a row of cos"),
      mutant<RowBeforeRead>("MEM-BEFORE-COS", "strides-memory-race", "reads the column before a row of cos"),
      mutant<NextPositionRead>("MEM-PAST-POSITIONS", "strides-memory-race", "reads the position of the next token too"),
      mutant<PositionBeforeRead>("MEM-BEFORE-POSITIONS", "strides-memory-race",
                                 "reads the position of the token before too"),
      mutant<ThetaReadTooWide>("MEM-PAST-THETA", "strides-memory-race", "reads one theta past the last"),
      mutant<ThetaBeforeRead>("MEM-BEFORE-THETA", "strides-memory-race", "reads one theta before the first"),
      mutant<FactorsReadTooWide>("MEM-PAST-FACTORS", "strides-memory-race",
                                 "longrope: reads as many factors as there are features"),
      mutant<FactorsBeforeRead>("MEM-BEFORE-FACTORS", "strides-memory-race",
                                "longrope: reads one long factor before the first"),
      mutant<AxisReadTooWide>("MEM-PAST-AXIS", "strides-memory-race", "reads the axis of the next pair too"),
      mutant<AxisBeforeRead>("MEM-BEFORE-AXIS", "strides-memory-race", "reads the axis of the pair before too"),
      mutant<InputReadTooWide>("MEM-PAST-INPUT", "strides-memory-race", "reads one feature past the last"),
      mutant<InputBeforeRead>("MEM-BEFORE-INPUT", "strides-memory-race", "reads one feature before the first"),
  };
  return all;
}

}  // namespace rope::mutants
