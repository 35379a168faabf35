#include "tools/worker/client/call_handing.hpp"

#include <algorithm>
#include <cstring>

#include "impls/scaling_fields.hpp"
#include "tools/worker/protocol/handed_call.hpp"

namespace rope::worker {
namespace {

bool is_list(std::string_view name) {
  return std::ranges::any_of(scaling_lists, [&](const auto& list) { return list.name == name; });
}

void set_address(rope_call& call, std::string_view name, std::uint64_t address, bool in_place) {
  void* const to = reinterpret_cast<void*>(address);  // in another process
  if (name == "q") call.q.data = to;
  if (name == "k") call.k.data = to;
  if (name == "q_out" || (in_place && name == "q")) call.q_out.data = to;
  if (name == "k_out" || (in_place && name == "k")) call.k_out.data = to;
  if (name == "positions") call.positions.data = to;
  if (name == "seqlen_offsets") call.seqlen_offsets = to;
  if (name == "cu_seqlens") call.cu_seqlens = static_cast<const std::int32_t*>(to);
  if (name == "cos") call.table.cos = to;
  if (name == "sin") call.table.sin = to;
  if (name == "theta") call.theta = to;
  if (name == "axis") call.axis = static_cast<const std::int32_t*>(to);
  for (const auto& list : scaling_lists) {
    if (list.name == name) call.scaling.*list.member = static_cast<const double*>(to);
  }
}

// Adds a tensor's elements to those that lie on the pages.
void extend(HandedTensor& pages, const TensorMapping& placed) {
  const Tensor& tensor = *placed.tensor;
  if (tensor.null || tensor.count() <= 0) return;
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  std::int64_t low = 0, high = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const std::int64_t span = (tensor.shape[i] - 1) * tensor.kernel_strides()[i];
    (span < 0 ? low : high) += span;
  }
  const auto at = static_cast<std::int64_t>(placed.at());
  const auto first = static_cast<std::uint64_t>(at + low * size), last = static_cast<std::uint64_t>(at + high * size);
  const bool is_first = pages.first == pages.last;
  pages.first = is_first ? first : std::min(pages.first, first);
  pages.last = is_first ? last : std::max(pages.last, last);
}

HandedTensor handed_tensor(const TensorMapping& placed) {
  HandedTensor tensor;
  std::ranges::copy(placed.name, tensor.name.begin());
  tensor.slot = placed.slot;
  tensor.room = placed.room;
  tensor.writable = placed.read_only ? 0 : 1;
  tensor.at = tensor.first = tensor.last = placed.at();
  tensor.goes_to_device = placed.is_far() || is_list(placed.name) ? 0 : 1;
  extend(tensor, placed);
  return tensor;
}

// Of the judged call or of the companion.
void append_call(std::string& message, const BoundCall& described, bool beside, const CallLayout& layout,
                 const AddressSpace& space) {
  rope_call call = described.bound;
  for (const TensorMapping& placed : layout.tensors) {
    if (placed.beside != beside || placed.tensor->null) continue;
    set_address(call, placed.name, space.of_room(placed.slot, placed.room) + placed.at(), described.call.in_place);
  }
  append_bytes(message, call);
  for (std::size_t i = 0; i < layout.tensors.size(); ++i) {
    const TensorMapping& placed = layout.tensors[i];
    if (placed.beside != beside || placed.shares) continue;
    HandedTensor tensor = handed_tensor(placed);
    if (i + 1 < layout.tensors.size() && layout.tensors[i + 1].shares) extend(tensor, layout.tensors[i + 1]);
    const bool has_zeros = placed.tensor->absent_rows > 0 && placed.islands.front().offset > 0;
    tensor.parts = (placed.is_far() ? static_cast<std::uint32_t>(placed.islands.size()) : 1) + (has_zeros ? 1 : 0);
    append_bytes(message, tensor);
    if (!placed.is_far()) append_bytes(message, HandedPart{0, placed.map_offset, placed.map_length});
    if (has_zeros) append_bytes(message, HandedPart{0, HandedPart::zeros, placed.islands.front().offset});
    if (!placed.is_far()) continue;
    for (const PageRun& island : placed.islands) {
      append_bytes(message, HandedPart{island.offset, placed.map_offset + island.packed, island.length});
    }
  }
}

std::uint32_t count_of(const CallLayout& layout, bool beside) {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      layout.tensors, [&](const TensorMapping& placed) { return placed.beside == beside && !placed.shares; }));
}

}  // namespace

std::string handed_calls(const BoundCall& judged, const BoundCall* companion, const CallLayout& layout,
                         const AddressSpace& space) {
  std::string calls;
  calls.reserve(4096);
  append_call(calls, judged, false, layout, space);
  if (companion != nullptr) append_call(calls, *companion, true, layout, space);
  return calls;
}

std::string handed(std::int64_t id, bool has_companion, const CallLayout& layout, const std::string& calls) {
  std::string message;
  message.reserve(sizeof(FrameSize) + sizeof(HandedHead) + calls.size());
  append_bytes(message, static_cast<FrameSize>(sizeof(HandedHead) + calls.size()));
  append_bytes(message, HandedHead{id, count_of(layout, false), has_companion ? 1u : 0u, count_of(layout, true)});
  message += calls;
  return message;
}

std::string handed_end() {
  std::string message;
  append_bytes(message, FrameSize{0});
  return message;
}

}  // namespace rope::worker
