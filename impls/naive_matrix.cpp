// reference/naive_matrix as a kernel: eq. 15 of the RoFormer paper as a matrix product, one token at a time, in double,
// rounded once. It reads and writes one element at a time, and shares no loop with the fast kernels.
#include "reference/naive_matrix.hpp"

#include <array>
#include <cstring>
#include <exception>

#include "impls/builtin.hpp"
#include "impls/call_check.hpp"
#include "impls/claims.hpp"
#include "impls/contract.hpp"

namespace rope {
namespace {

constexpr rope_capabilities claims = everything_on_cpu(ROPE_BIT(ROPE_HALF_SPLIT) | ROPE_BIT(ROPE_INTERLEAVED));

std::byte* element(const rope_tensor& t, std::int64_t b, std::int64_t s, std::int64_t h, std::int64_t i) {
  const std::int64_t index = b * t.strides[0] + s * t.strides[1] + h * t.strides[2] + i * t.strides[3];
  return static_cast<std::byte*>(t.data) + index * static_cast<std::int64_t>(size_of(static_cast<DType>(t.dtype)));
}

int axis_of(const rope_call& call, int pair) { return call.axis == nullptr ? 0 : call.axis[pair]; }
int first_of(const rope_call& call, int pair) {
  return call.rotary_offset + (call.pairing == ROPE_HALF_SPLIT ? pair : 2 * pair);
}
int second_of(const rope_call& call, int pair) {
  return first_of(call, pair) + (call.pairing == ROPE_HALF_SPLIT ? call.rotary_dim / 2 : 1);
}

RotationPlan plan_of(const rope_call& call) {
  RotationPlan plan;
  if (call.angle_source == ROPE_COMPUTED) {
    plan = compile(spec_of(call), call.sequence_length);
    for (int p = 0; p < call.rotary_dim / 2; ++p) plan.pairs[static_cast<std::size_t>(p)].axis = axis_of(call, p);
    return plan;
  }
  plan.head_dim = static_cast<int>(call.q.shape[3]);
  plan.lambda = call.attention_factor;
  if (call.angle_source == ROPE_TABLES) return plan;
  const auto dtype = static_cast<DType>(call.theta_dtype);
  const auto* theta = static_cast<const std::byte*>(call.theta);
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    const double value = load(dtype, theta + static_cast<std::size_t>(p) * size_of(dtype));
    plan.pairs.push_back({first_of(call, p), second_of(call, p), axis_of(call, p), Real(value)});
  }
  return plan;
}

std::vector<MatrixBlock> blocks_of_tables(const rope_call& call, std::span<const std::int64_t> position) {
  const rope_table& table = call.table;
  const auto dtype = static_cast<DType>(table.dtype);
  const auto at = [&](const void* data, std::int64_t row, int column) {
    const std::int64_t offset = (row * table.row_stride + column) * static_cast<std::int64_t>(size_of(dtype));
    return call.attention_factor * load(dtype, static_cast<const std::byte*>(data) + offset);
  };
  const bool full = table.width == call.rotary_dim;
  std::vector<MatrixBlock> blocks;
  for (int p = 0; p < call.rotary_dim / 2; ++p) {
    const std::int64_t row = position[static_cast<std::size_t>(axis_of(call, p))];
    const int first = first_of(call, p);
    const int second = second_of(call, p);
    const int first_column = full ? first - call.rotary_offset : p;
    const int second_column = full ? second - call.rotary_offset : p;
    blocks.push_back({first,
                      second,
                      {{at(table.cos, row, first_column), -at(table.sin, row, first_column)},
                       {at(table.sin, row, second_column), at(table.cos, row, second_column)}}});
  }
  return blocks;
}

RotationMatrix rotation_at(const rope_call& call, const RotationPlan& plan, std::int64_t b, std::int64_t s) {
  std::array<std::int64_t, 3> position{};
  const int axes = call.positions.data == nullptr ? 3 : call.positions.axes;
  for (int axis = 0; axis < axes; ++axis) {
    position[static_cast<std::size_t>(axis)] = position_of(call, axis, b, s);
  }
  const bool given = call.angle_source == ROPE_TABLES;
  std::vector<MatrixBlock> blocks = given ? blocks_of_tables(call, position) : blocks_at(plan, position);
  if (call.direction == ROPE_BACKWARD) blocks = transposed(std::move(blocks));
  return rotation_matrix(std::move(blocks));
}

void turn(const rope_tensor& in, const rope_tensor& out, const RotationMatrix& rotation, std::int64_t b,
          std::int64_t s) {
  const auto in_dtype = static_cast<DType>(in.dtype);
  const auto out_dtype = static_cast<DType>(out.dtype);
  const auto width = static_cast<std::size_t>(in.shape[3]);
  std::vector<double> x;
  for (std::int64_t h = 0; h < in.shape[2]; ++h) {
    for (std::int64_t i = 0; i < in.shape[3]; ++i) x.push_back(load(in_dtype, element(in, b, s, h, i)));
  }
  const auto turns = [&](std::int64_t i) {
    const auto from = static_cast<std::int64_t>(rotation.from);
    return i >= from && i < from + static_cast<std::int64_t>(rotation.d);
  };
  const std::vector<double> y = multiply(rotation, x, static_cast<int>(width));
  for (std::int64_t h = 0; h < in.shape[2]; ++h) {
    for (std::int64_t i = 0; i < in.shape[3]; ++i) {
      std::byte* target = element(out, b, s, h, i);
      if (turns(i) || in_dtype != out_dtype) {
        store(out_dtype, target, y[static_cast<std::size_t>(h) * width + static_cast<std::size_t>(i)]);
      } else {  // bit for bit; going through double would quiet a signalling NaN
        std::memmove(target, element(in, b, s, h, i), size_of(in_dtype));
      }
    }
  }
}

std::int32_t apply(const rope_call* call) {
  const rope_status status = check_call(call, claims);
  if (status != ROPE_OK) return status;
  try {
    const RotationPlan plan = plan_of(*call);
    for (std::int64_t b = 0; b < call->q.shape[0]; ++b) {
      for (std::int64_t s = 0; s < call->q.shape[1]; ++s) {
        const RotationMatrix rotation = rotation_at(*call, plan, b, s);
        turn(call->q, call->q_out, rotation, b, s);
        if (call->k.data != nullptr) turn(call->k, call->k_out, rotation, b, s);
      }
    }
  } catch (const std::exception&) {
    return ROPE_FAILED;
  }
  return ROPE_OK;
}

}  // namespace

const rope_kernel& naive_matrix_kernel() {
  static constexpr rope_kernel kernel{
      sizeof(rope_kernel), ROPE_KERNEL_ABI, "naive_matrix", "RoFormer eq. 15 as a matrix product", apply, claims};
  return kernel;
}

}  // namespace rope
