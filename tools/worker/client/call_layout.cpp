#include "tools/worker/client/call_layout.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

namespace rope::worker {
namespace {

// A name's place here is its slot where slots have rooms. The slots of a concurrent call come behind.
constexpr std::array<std::string_view, 13> tensor_names{
    "q",   "k",   "q_out", "k_out", "positions",    "seqlen_offsets", "cu_seqlens",
    "cos", "sin", "theta", "axis",  "short_factor", "long_factor"};
constexpr std::size_t most_names = 16;
constexpr std::size_t behind_rooms = 2 * most_names * region;  // bytes in each of the two files

std::size_t rounded_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::uint32_t slot_of(std::string_view name, bool beside) {
  const auto index = std::ranges::find(tensor_names, name) - tensor_names.begin();
  return static_cast<std::uint32_t>(index) + (beside ? std::uint32_t{most_names} : 0);
}

void add(CallLayout& layout, Call& call, bool beside, const LayoutRules& rules) {
  // `behind`: what may share this memory and is placed next.
  const auto place = [&](std::string_view name, Tensor& tensor, bool read_only,
                         const std::optional<Tensor>* behind = nullptr) {
    const std::size_t unit = std::max(rules.alignment, size_of(tensor.dtype));
    std::size_t& used = read_only ? layout.input_bytes : layout.output_bytes;
    const auto slot = rules.has_rooms ? slot_of(name, beside) : static_cast<std::uint32_t>(layout.tensors.size());
    TensorMapping placed{name, &tensor, read_only, used, 0, 0, beside, slot};
    if (tensor.behind_q != 0) {
      placed = layout.tensors.back();
      placed.name = name;
      placed.tensor = &tensor;
      placed.shares = true;
      layout.tensors.push_back(placed);
      return;
    }
    if (tensor.placed_strides.empty() && tensor.absent_rows == 0) {
      const std::size_t size = tensor.bytes.size(), origin = placed.at();
      if (read_only && rules.lent != nullptr && rules.placement == Placement::at_end) {
        const auto lent = rules.lent->pages_of(std::as_const(tensor).bytes.data(), size);
        if (lent && (lent->extent.start + origin) % unit == 0) {
          placed.map_offset = lent->offset;
          placed.start = lent->extent.start;
          placed.map_length = lent->extent.map_length;
          placed.lent = true;
          layout.tensors.push_back(placed);
          return;
        }
      }
      const Extent extent = extent_of(size, origin, unit, rules.placement);
      placed.start = extent.start;
      placed.map_length = extent.map_length;
    } else {  // between unmapped pages, wherever it lies
      std::vector<const Tensor*> in_one_memory{&tensor};
      if (behind != nullptr && *behind && (*behind)->behind_q != 0) in_one_memory.push_back(&**behind);
      placed.islands = islands_of(in_one_memory);
      if (!rules.far) placed.islands = {{0, 0, span_bytes(placed.islands)}};
      placed.map_length = packed_bytes(placed.islands);
    }
    if (rules.has_rooms && placed.islands.empty()) placed.room = room_of(placed.map_length, !read_only);
    if (placed.room != outside_rooms) {
      placed.map_offset = slot * region;
    } else {
      used += rounded_up(placed.map_length, region);
    }
    layout.tensors.push_back(placed);
  };
  const auto place_if = [&](std::string_view name, std::optional<Tensor>& tensor, bool read_only) {
    if (tensor) place(name, *tensor, read_only);
  };
  const bool read_only = !call.in_place && !rules.overwrites_inputs;
  place("q", call.q, read_only, &call.k);
  place_if("k", call.k, read_only);
  if (!call.in_place) {
    if (call.q_out) place("q_out", *call.q_out, false, &call.k_out);
    place_if("k_out", call.k_out, false);
  }
  place_if("positions", call.positions, true);
  place_if("seqlen_offsets", call.seqlen_offsets, true);
  place_if("cu_seqlens", call.cu_seqlens, true);
  place_if("cos", call.cos, true);
  place_if("sin", call.sin, true);
  place_if("theta", call.theta, true);
  place_if("axis", call.axis, true);
  for (const auto& [name, values] : lists_of(call.scaling)) {
    if (values->empty()) continue;
    Tensor& list =
        layout.lists.emplace_back(Tensor::contiguous(DType::f64, {static_cast<std::int64_t>(values->size())}));
    std::memcpy(list.data(), values->data(), values->size() * sizeof(double));
    place(name, list, true);
  }
}

}  // namespace

// The kernel is promised an aligned address of element [0, 0, ..], not of the span's first byte.
Extent extent_of(std::size_t bytes, std::size_t origin, std::size_t alignment, Placement placement) {
  if (placement == Placement::at_start) {
    const std::size_t start = rounded_up(origin, alignment) - origin;
    return {start, whole_pages(start + bytes)};
  }
  std::size_t map_length = whole_pages(bytes);
  const std::size_t latest = map_length - bytes;
  const std::size_t back = (latest + origin) % alignment;
  if (back > latest) map_length += whole_pages(alignment);
  return {map_length - bytes - back, map_length};
}

std::size_t whole_pages(std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return rounded_up(bytes, page);
}

CallLayout lay_out(Call& call, const LayoutRules& rules) {
  CallLayout layout;
  layout.tensors.reserve(12);
  if (rules.has_rooms) layout.input_bytes = layout.output_bytes = behind_rooms;
  add(layout, call, false, rules);
  return layout;
}

std::vector<std::size_t> starts_of(const CallLayout& layout) {
  std::vector<std::size_t> starts;
  for (const TensorMapping& placed : layout.tensors) starts.push_back(placed.start);
  return starts;
}

void lay_out_beside(CallLayout& layout, Call& companion, const LayoutRules& rules) {
  add(layout, companion, true, rules);
}

}  // namespace rope::worker
