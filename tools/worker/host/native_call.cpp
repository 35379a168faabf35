#include "tools/worker/host/native_call.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "impls/scaling_fields.hpp"
#include "reference/dtype.hpp"
#include "tools/worker/protocol/wire.hpp"

namespace rope::worker {
namespace {

using nlohmann::json;

struct Mapped {
  std::byte* start = nullptr;  // of its pages
  std::byte* data = nullptr;
  std::int32_t dtype = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

using Tensors = std::map<std::string, Mapped, std::less<>>;

Mapped placed(const json& item, std::byte* start) {
  std::byte* const data = item.value("null", false) ? nullptr : start + item.at("at").get<std::size_t>();
  return {start, data, wire::enumerator(item.at("dtype"), wire::dtypes),
          item.at("shape").get<std::vector<std::int64_t>>(), item.at("strides").get<std::vector<std::int64_t>>()};
}

// Adds a tensor's elements to the elements that lie in the pages.
void extend(MappedPages& pages, const Mapped& tensor) {
  if (tensor.data == nullptr || std::ranges::any_of(tensor.shape, [](std::int64_t n) { return n <= 0; })) return;
  std::int64_t low = 0, high = 1;
  for (std::size_t i = 0; i < std::min(tensor.shape.size(), tensor.strides.size()); ++i) {
    const std::int64_t span = (tensor.shape[i] - 1) * tensor.strides[i];
    (span < 0 ? low : high) += span;
  }
  const auto size = static_cast<std::int64_t>(size_of(static_cast<DType>(tensor.dtype)));
  const std::int64_t at = tensor.data - pages.start;
  const auto first = static_cast<std::size_t>(at + low * size);
  const auto last = static_cast<std::size_t>(at + high * size);
  const bool is_first = pages.first == pages.last;
  pages.first = is_first ? first : std::min(pages.first, first);
  pages.last = is_first ? last : std::max(pages.last, last);
}

Tensors map_tensors(const json& list, GuardedMemory& memory, std::size_t slot, int inputs, int outputs,
                    std::vector<MappedPages>& mapped) {
  Tensors tensors;
  mapped.clear();
  for (const json& item : list) {
    const bool read_only = item.at("ro").get<int>() != 0;
    const auto name = item.at("name").get<std::string>();
    if (item.contains("in")) {
      const Mapped& shared = tensors.at(item.at("in").get<std::string>());
      ++slot;
      const Mapped& tensor = tensors[name] = placed(item, shared.start);
      const auto pages = std::ranges::find(mapped, shared.start, &MappedPages::start);
      if (pages != mapped.end()) extend(*pages, tensor);
      continue;
    }
    const json& map = item.at("map");
    const auto offset = map.at(0).get<std::size_t>();
    std::vector<GuardedMemory::Pages> pages{{0, offset, map.at(1).get<std::size_t>()}};
    if (item.contains("pages")) {
      pages.clear();
      for (const json& part : item.at("pages")) {
        pages.push_back(
            {part.at(0).get<std::size_t>(), offset + part.at(1).get<std::size_t>(), part.at(2).get<std::size_t>()});
      }
    }
    std::byte* start = nullptr;
    try {
      start = memory.map(slot++, read_only ? inputs : outputs, pages, !read_only);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error("tensor " + name + ": " + error.what());
    }
    const auto at = item.at("at").get<std::size_t>();
    const Mapped& tensor = tensors[name] = placed(item, start);
    const bool stays_with_host = name == "short_factor" || name == "long_factor";
    if (item.contains("pages") || stays_with_host) continue;
    mapped.push_back({name, start, pages[0].length, at, at, at, !read_only});
    extend(mapped.back(), tensor);
  }
  return tensors;
}

const Mapped* find(const Tensors& tensors, std::string_view name) {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

const Mapped& with_rank(const Mapped& tensor, std::size_t rank, std::string_view name) {
  if (tensor.shape.size() == rank && tensor.strides.size() == rank) return tensor;
  throw std::invalid_argument(std::string(name) + " must have " + std::to_string(rank) + " dimensions");
}

rope_tensor tensor_of(const Tensors& tensors, std::string_view name) {
  rope_tensor result{};
  if (const Mapped* found = find(tensors, name)) {
    const Mapped& tensor = with_rank(*found, 4, name);
    result.data = tensor.data;
    result.dtype = tensor.dtype;
    std::ranges::copy(tensor.shape, result.shape);
    std::ranges::copy(tensor.strides, result.strides);
  }
  return result;
}

rope_positions positions_of(const Tensors& tensors, const json& attrs) {
  rope_positions result{};
  result.axes = attrs.at("axes").get<std::int32_t>();
  result.offset = attrs.at("offset").get<std::int64_t>();
  result.dtype = ROPE_I64;
  if (const Mapped* found = find(tensors, "positions")) {
    const Mapped& positions = with_rank(*found, 3, "positions");
    result.data = positions.data;
    result.dtype = positions.dtype;
    result.axis_stride = positions.strides[0];
    result.batch_stride = positions.strides[1];
    result.seq_stride = positions.strides[2];
  }
  return result;
}

rope_table table_of(const Tensors& tensors) {
  rope_table result{};
  const Mapped* cos = find(tensors, "cos");
  const Mapped* sin = find(tensors, "sin");
  if (cos == nullptr && sin == nullptr) return result;
  const Mapped& given = with_rank(cos != nullptr ? *cos : *sin, 2, "a table");
  result.cos = cos != nullptr ? cos->data : nullptr;
  result.sin = sin != nullptr ? sin->data : nullptr;
  result.dtype = given.dtype;
  result.rows = given.shape[0];
  result.width = static_cast<std::int32_t>(given.shape[1]);
  result.row_stride = given.strides[0];
  return result;
}

const double* factors_of(const Tensors& tensors, std::string_view name) {
  const Mapped* list = find(tensors, name);
  return list == nullptr ? nullptr : reinterpret_cast<const double*>(list->data);
}

rope_scaling scaling_of(const json& scaling, const Tensors& tensors) {
  rope_scaling result{};
  result.kind = wire::enumerator(scaling.at("kind"), wire::scalings);
  for (const auto& mode : scaling_modes) result.*mode.member = scaling.value(std::string(mode.name), 0);
  for (const auto& number : scaling_numbers) {
    const auto found = scaling.find(number.name);
    if (found != scaling.end()) result.*number.member = wire::to_double(*found);
  }
  for (const auto& list : scaling_lists) result.*list.member = factors_of(tensors, list.name);
  return result;
}

void give_sequences(const Tensors& tensors, rope_call& call) {
  if (const Mapped* starts = find(tensors, "seqlen_offsets")) {
    const Mapped& given = with_rank(*starts, 1, "seqlen_offsets");
    call.seqlen_offsets = given.data;
    call.seqlen_offsets_dtype = given.dtype;
    call.sequences = static_cast<std::int32_t>(given.shape[0]);
  }
  if (const Mapped* borders = find(tensors, "cu_seqlens")) {
    const Mapped& given = with_rank(*borders, 1, "cu_seqlens");
    if (given.dtype != ROPE_I32) throw std::invalid_argument("cu_seqlens must be i32");
    call.cu_seqlens = reinterpret_cast<const std::int32_t*>(given.data);
    call.sequences = static_cast<std::int32_t>(given.shape[0]) - 1;
  }
}

}  // namespace

void build_call(const json& message, GuardedMemory& memory, std::size_t first_slot, int inputs, int outputs,
                NativeCall& result) {
  const json& attrs = message.at("attrs");
  const Tensors tensors = map_tensors(message.at("t"), memory, first_slot, inputs, outputs, result.pages);
  const bool in_place = attrs.at("in_place").get<bool>();
  rope_call& call = result.call;
  call = {};
  call.struct_size = sizeof(rope_call);
  call.abi = ROPE_KERNEL_ABI;
  call.q = tensor_of(tensors, "q");
  call.k = tensor_of(tensors, "k");
  call.q_out = in_place ? call.q : tensor_of(tensors, "q_out");
  call.k_out = in_place ? call.k : tensor_of(tensors, "k_out");
  call.positions = positions_of(tensors, attrs);
  call.rotary_dim = attrs.at("rotary_dim").get<std::int32_t>();
  call.pairing = wire::enumerator(attrs.at("pairing"), wire::pairings);
  call.direction = wire::enumerator(attrs.at("direction"), wire::directions);
  call.angle_source = wire::enumerator(attrs.at("source"), wire::sources);
  call.attention_factor = wire::to_double(attrs.at("attention_factor"));
  if (const Mapped* axis = find(tensors, "axis")) call.axis = reinterpret_cast<const std::int32_t*>(axis->data);
  call.table = table_of(tensors);
  if (const Mapped* theta = find(tensors, "theta")) {
    call.theta = theta->data;
    call.theta_dtype = theta->dtype;
  }
  call.device = wire::enumerator(attrs.at("device"), wire::devices);
  call.device_index = attrs.value("device_index", 0);
  call.base = wire::to_double(attrs.at("base"));
  call.scaling = scaling_of(attrs.at("scaling"), tensors);
  call.sequence_length = attrs.at("sequence_length").get<std::int64_t>();
  give_sequences(tensors, call);
}

}  // namespace rope::worker
