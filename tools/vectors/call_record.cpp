#include "tools/vectors/call_record.hpp"

#include <fmt/format.h>

#include <cstring>

#include "golden/manifest.hpp"
#include "golden/sha256.hpp"
#include "tools/worker/client/call_message.hpp"

namespace rope::vectors {
namespace {

constexpr std::size_t digits_in_name = 24;

// Equal for two calls exactly if they are the same to a kernel.
std::string digest_of(const CallRecord& record) {
  std::string text = record.attrs;
  for (const auto* arrays : {&record.inputs, &record.outputs}) {
    for (const Array& array : *arrays) {
      text += fmt::format("\n{} {} {} {}", array.name, name(array.dtype), shape_text(array.shape), array.sha256);
    }
  }
  return sha256(std::as_bytes(std::span(text)));
}

// Copies the elements of the dimensions from `dimension` on.
void copy_packed(const Tensor& tensor, std::size_t dimension, std::int64_t offset, std::byte*& out) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  if (dimension == tensor.shape.size()) {
    std::memcpy(out, tensor.data() + offset * size, static_cast<std::size_t>(size));
    out += size;
    return;
  }
  const std::int64_t count = tensor.shape[dimension];
  if (dimension + 1 == tensor.shape.size() && tensor.strides[dimension] == 1) {
    std::memcpy(out, tensor.data() + offset * size, static_cast<std::size_t>(count * size));
    out += count * size;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    copy_packed(tensor, dimension + 1, offset + i * tensor.strides[dimension], out);
  }
}

}  // namespace

NpyArray packed(const Tensor& tensor) {
  NpyArray array{storage_of(tensor.dtype), tensor.shape, {}};
  array.bytes.resize(static_cast<std::size_t>(tensor.count()) * size_of(tensor.dtype));
  std::byte* out = array.bytes.data();
  if (!array.bytes.empty()) copy_packed(tensor, 0, 0, out);
  return array;
}

Array stored(std::string name, DType dtype, const NpyArray& array, std::vector<Content>& contents) {
  std::vector<std::byte> bytes = format_npy(array);
  const std::string hash = sha256(bytes);
  const std::string file = fmt::format("arrays/{}.npy", hash.substr(0, digits_in_name));
  contents.push_back({file, std::move(bytes)});
  return {std::move(name), dtype, array.shape, file, hash};
}

DescribedCall describe(Call& call) {
  DescribedCall described;
  CallRecord& record = described.record;
  record.attrs = worker::attributes({call});
  const auto give = [&](const char* name, const Tensor& tensor) {
    record.inputs.push_back(stored(name, tensor.dtype, packed(tensor), described.contents));
  };
  const auto give_if = [&](const char* name, const std::optional<Tensor>& tensor) {
    if (tensor) give(name, *tensor);
  };
  give("q", call.q);
  give_if("k", call.k);
  give_if("positions", call.positions);
  give_if("cos", call.cos);
  give_if("sin", call.sin);
  give_if("theta", call.theta);
  give_if("axis", call.axis);
  const auto ask = [&](const char* name, const Tensor& tensor) {
    record.outputs.push_back({name, tensor.dtype, tensor.shape, "", ""});
  };
  ask("q_out", call.q_result());
  if (call.k) ask("k_out", call.k_result());
  record.digest = digest_of(record);
  return described;
}

void name_call(CallRecord& record, std::string id) {
  record.id = std::move(id);
  for (Array& array : record.outputs) array.file = fmt::format("responses/{}.{}.npy", record.id, array.name);
}

}  // namespace rope::vectors
