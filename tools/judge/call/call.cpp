#include "tools/judge/call/call.hpp"

#include <numeric>

#include "impls/contract.hpp"

namespace rope {

Tensor Tensor::contiguous(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.strides.assign(tensor.shape.size(), 1);
  for (std::size_t i = tensor.shape.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * tensor.shape[i];
  tensor.bytes.resize(static_cast<std::size_t>(tensor.count()) * size_of(dtype));
  return tensor;
}

std::int64_t Tensor::count() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string_view name(Direction direction) { return direction == Direction::forward ? "forward" : "backward"; }

std::string_view name(AngleSource source) {
  switch (source) {
    case AngleSource::tables: return "tables";
    case AngleSource::frequencies: return "frequencies";
    case AngleSource::computed: return "computed";
  }
  return "?";
}

namespace {

void* pointer(Tensor& tensor) { return tensor.null ? nullptr : tensor.data(); }

rope_tensor to_c(Tensor& tensor) {
  rope_tensor result{};
  result.data = pointer(tensor);
  result.dtype = static_cast<std::int32_t>(tensor.dtype);
  for (std::size_t i = 0; i < 4; ++i) {
    result.shape[i] = tensor.shape[i];
    result.strides[i] = tensor.kernel_strides()[i];
  }
  return result;
}

rope_positions positions_of(Call& call) {
  rope_positions result{};
  result.axes = call.axes;
  result.offset = call.position_offset;
  result.dtype = ROPE_I64;
  if (call.positions) {
    Tensor& p = *call.positions;
    result.data = p.data();
    result.dtype = static_cast<std::int32_t>(p.dtype);
    result.axis_stride = p.strides[0];
    result.batch_stride = p.strides[1];
    result.seq_stride = p.strides[2];
  }
  return result;
}

rope_table table_of(Call& call) {
  rope_table result{};
  if (!call.cos) return result;
  result.cos = pointer(*call.cos);
  result.sin = pointer(*call.sin);
  result.dtype = static_cast<std::int32_t>(call.cos->dtype);
  result.width = static_cast<std::int32_t>(call.cos->shape[1]);
  result.rows = call.cos->shape[0];
  result.row_stride = call.cos->kernel_strides()[0];
  return result;
}

}  // namespace

rope_call bind(Call& call) {
  rope_call c{};
  c.struct_size = sizeof(rope_call);
  c.abi = ROPE_KERNEL_ABI;
  c.q = to_c(call.q);
  if (call.k) c.k = to_c(*call.k);
  c.q_out = to_c(call.in_place ? call.q : *call.q_out);
  if (call.k) c.k_out = to_c(call.in_place ? *call.k : *call.k_out);
  c.positions = positions_of(call);
  c.rotary_dim = call.rotary_dim;
  c.pairing = static_cast<std::int32_t>(call.pairing);
  c.direction = static_cast<std::int32_t>(call.direction);
  c.angle_source = static_cast<std::int32_t>(call.source);
  c.attention_factor = call.attention_factor;
  if (call.axis) c.axis = reinterpret_cast<const std::int32_t*>(call.axis->data());
  c.table = table_of(call);
  if (call.theta) {
    c.theta = pointer(*call.theta);
    c.theta_dtype = static_cast<std::int32_t>(call.theta->dtype);
  }
  c.device = ROPE_CPU;
  c.base = call.base;
  c.scaling = to_c(call.scaling);
  c.sequence_length = call.sequence_length;
  return c;
}

}  // namespace rope
