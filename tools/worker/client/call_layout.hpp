// Where each tensor of a call lies in the two shared memories. Each has its own whole pages, so a worker can map it
// between inaccessible ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tools/judge/call/call.hpp"
#include "tools/judge/call/row_placement.hpp"
#include "tools/worker/client/lent_memory.hpp"
#include "tools/worker/client/worker_options.hpp"
#include "tools/worker/protocol/address_space.hpp"

namespace rope::worker {

struct TensorMapping {
  std::string_view name;   // as in the protocol: q, k, q_out, k_out, positions, cos, sin, ..
  Tensor* tensor;          // of the call, or one of `lists`
  bool read_only;          // lies in the memory for inputs, else in the one for outputs
  std::size_t map_offset;  // bytes, whole pages
  std::size_t map_length;
  std::size_t start;  // of tensor->bytes, from map_offset
  bool beside;        // belongs to the concurrent call
  std::uint32_t slot = 0;              // of the worker's address space
  std::uint32_t room = outside_rooms;  // of the slot
  std::vector<PageRun> islands{};      // of a tensor with placed_strides or absent rows; their pages lie one behind the
                                       // other from map_offset
  bool shares = false;  // k or k_out, in the pages of the tensor before it
  bool lent = false;    // lies in LentMemory already
  // From map_offset to element [0, 0, ..], in bytes.
  std::size_t at() const {
    return start + static_cast<std::size_t>(tensor->origin + tensor->behind_q) * size_of(tensor->dtype);
  }
  // Whether unmapped whole pages lie between its rows.
  bool is_far() const { return !islands.empty() && (islands.size() > 1 || islands[0].offset > 0); }
};

struct CallLayout {
  std::vector<TensorMapping> tensors;  // the judged call's first
  std::deque<Tensor> lists;     // of a scaling rule; a Call has them in its rule
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
};

// Against the page that follows, or against the one before. `origin`: the bytes before element [0, 0, ..], whose
// address is a multiple of `alignment`.
Extent extent_of(std::size_t bytes, std::size_t origin, std::size_t alignment, Placement placement);
std::size_t whole_pages(std::size_t bytes);  // the bytes of as many pages as are needed

// How tensors must lie for a worker and its kernel.
struct LayoutRules {
  std::size_t
      alignment;  // bytes, as the kernel claims; what lies between a tensor and the page that follows is smaller
  Placement placement;
  bool far;  // the worker maps pages that are not there between the rows of a tensor; else all of its span is there
  bool overwrites_inputs = false;  // q and k are writable in any call
  const LentMemory* lent = nullptr;
  bool has_rooms = false;  // the worker keeps small tensors mapped, address_space.hpp
};

// Refers to the call's tensors, which must not move.
CallLayout lay_out(Call& call, const LayoutRules& rules);

// Bytes from the beginning of each tensor's pages; words do not say them where other strides begin elsewhere.
std::vector<std::size_t> starts_of(const CallLayout& layout);

// Adds the concurrent call.
void lay_out_beside(CallLayout& layout, Call& companion, const LayoutRules& rules);

}  // namespace rope::worker
