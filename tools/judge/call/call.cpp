#include "tools/judge/call/call.hpp"

#include <cstring>
#include <numeric>
#include <utility>

#include "impls/contract.hpp"

namespace rope {

Tensor Tensor::contiguous(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor = unwritten(dtype, std::move(shape));
  tensor.bytes.assign(tensor.bytes.size(), std::byte{});
  return tensor;
}

Tensor Tensor::without_bytes(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  tensor.strides.assign(tensor.shape.size(), 1);
  for (std::size_t i = tensor.shape.size(); i-- > 1;) tensor.strides[i - 1] = tensor.strides[i] * tensor.shape[i];
  return tensor;
}

Tensor Tensor::unwritten(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor = without_bytes(dtype, std::move(shape));
  tensor.bytes.renew(static_cast<std::size_t>(tensor.count()) * size_of(dtype));
  return tensor;
}

std::byte* Tensor::renew(std::size_t size, TensorMemory* memory) {
  if (memory != nullptr && size >= large_tensor) {
    bytes = {};
    if (auto room = memory->room(size, size_of(dtype))) {
      bytes = SharedBytes(std::move(room), size);
      return bytes.data();
    }
  }
  return bytes.renew(size);
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

std::int64_t integer_at(const Tensor& tensor, std::int64_t index) {
  const std::byte* element = tensor.data() + index * static_cast<std::int64_t>(size_of(tensor.dtype));
  if (tensor.dtype == DType::i32) {
    std::int32_t value = 0;
    std::memcpy(&value, element, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, element, sizeof value);
  return value;
}

void store_integer(Tensor& tensor, std::int64_t index, std::int64_t value) {
  std::byte* element = tensor.data() + index * static_cast<std::int64_t>(size_of(tensor.dtype));
  if (tensor.dtype == DType::i32) {
    const auto narrow = static_cast<std::int32_t>(value);
    std::memcpy(element, &narrow, sizeof narrow);
  } else {
    std::memcpy(element, &value, sizeof value);
  }
}

bool counts_from_offset(const Call& call) { return !call.positions && !call.seqlen_offsets && !call.cu_seqlens; }

PlaceInSequence place_in_sequence(const Call& call, std::int64_t batch, std::int64_t seq) {
  if (!call.cu_seqlens) return {batch, 0};
  std::int64_t sequence = call.sequences() - 1;
  while (sequence > 0 && integer_at(*call.cu_seqlens, sequence) > seq) --sequence;
  return {sequence, integer_at(*call.cu_seqlens, sequence)};
}

namespace {

void* pointer(Tensor& tensor) { return tensor.null ? nullptr : tensor.data(); }

// Of what a kernel may not write. A copy of a small one keeps the suite's own bytes from kernels that do; copies of
// tables with 2^24 rows would take more memory than all else.
void* input_pointer(Tensor& tensor) {
  if (tensor.null || tensor.bytes.size() < large_tensor) return pointer(tensor);
  return const_cast<std::byte*>(std::as_const(tensor).data());
}

rope_tensor to_c(const Tensor& tensor) {
  rope_tensor result{};
  result.dtype = static_cast<std::int32_t>(tensor.dtype);
  for (std::size_t i = 0; i < 4; ++i) {
    result.shape[i] = tensor.shape[i];
    result.strides[i] = tensor.kernel_strides()[i];
  }
  return result;
}

rope_positions positions_of(const Call& call) {
  rope_positions result{};
  result.axes = call.axes;
  result.offset = call.position_offset;
  result.dtype = ROPE_I64;
  if (call.positions) {
    const Tensor& p = *call.positions;
    result.dtype = static_cast<std::int32_t>(p.dtype);
    result.axis_stride = p.strides[0];
    result.batch_stride = p.strides[1];
    result.seq_stride = p.strides[2];
  }
  return result;
}

rope_table table_of(const Call& call) {
  rope_table result{};
  if (!call.cos) return result;
  result.dtype = static_cast<std::int32_t>(call.cos->dtype);
  result.width = static_cast<std::int32_t>(call.cos->shape[1]);
  result.rows = call.cos->shape[0];
  result.row_stride = call.cos->kernel_strides()[0];
  return result;
}

}  // namespace

rope_call described(const Call& call) {
  rope_call c{};
  c.struct_size = sizeof(rope_call);
  c.abi = ROPE_KERNEL_ABI;
  c.q = to_c(call.q);
  if (call.k) c.k = to_c(*call.k);
  c.q_out = to_c(call.in_place ? call.q : *call.q_out);
  if (call.k) c.k_out = to_c(call.in_place ? *call.k : *call.k_out);
  c.positions = positions_of(call);
  c.rotary_dim = call.rotary_dim;
  c.rotary_offset = call.rotary_offset;
  c.pairing = static_cast<std::int32_t>(call.pairing);
  c.direction = static_cast<std::int32_t>(call.direction);
  c.angle_source = static_cast<std::int32_t>(call.source);
  c.attention_factor = call.attention_factor;
  c.table = table_of(call);
  if (call.theta) c.theta_dtype = static_cast<std::int32_t>(call.theta->dtype);
  c.device = ROPE_CPU;
  c.base = call.base;
  c.scaling = to_c(call.scaling);
  c.sequence_length = call.sequence_length;
  if (call.seqlen_offsets) c.seqlen_offsets_dtype = static_cast<std::int32_t>(call.seqlen_offsets->dtype);
  if (call.seqlen_offsets || call.cu_seqlens) c.sequences = static_cast<std::int32_t>(call.sequences());
  return c;
}

rope_call bind(Call& call) {
  rope_call c = described(call);
  c.q.data = call.in_place ? pointer(call.q) : input_pointer(call.q);
  if (call.k) c.k.data = call.in_place ? pointer(*call.k) : input_pointer(*call.k);
  c.q_out.data = call.in_place ? c.q.data : pointer(*call.q_out);
  if (call.k) c.k_out.data = call.in_place ? c.k.data : pointer(*call.k_out);
  if (call.positions) c.positions.data = input_pointer(*call.positions);
  if (call.cos) {
    c.table.cos = input_pointer(*call.cos);
    c.table.sin = input_pointer(*call.sin);
  }
  if (call.theta) c.theta = pointer(*call.theta);
  if (call.axis) c.axis = static_cast<const std::int32_t*>(pointer(*call.axis));
  if (call.seqlen_offsets) c.seqlen_offsets = pointer(*call.seqlen_offsets);
  if (call.cu_seqlens) c.cu_seqlens = static_cast<const std::int32_t*>(pointer(*call.cu_seqlens));
  return c;
}

}  // namespace rope
