#include "tools/worker/client/call_memory.hpp"

#include <algorithm>
#include <cstring>

#include "tools/judge/call/row_placement.hpp"
#include "tools/judge/case/build_call.hpp"
#include "tools/worker/protocol/canary.hpp"

namespace rope::worker {
namespace {

// Outputs change places in such pieces, so that both places together take hardly more than one.
constexpr std::size_t piece = std::size_t{4} << 20;

bool is_large(const TensorMapping& placed) { return placed.tensor->bytes.size() >= large_tensor; }

// Whether the tensor's own bytes are not needed before the call, and would only take memory during it.
bool is_filled_again(const TensorMapping& placed) {
  return is_large(placed) && !placed.read_only && !placed.beside && placed.tensor->is_all_poison();
}

void fill_with_its_poison(const Tensor& tensor, std::span<std::byte> bytes) {
  const std::size_t size = size_of(tensor.dtype);
  for (std::size_t at = 0; at < bytes.size(); at += size) std::memcpy(bytes.data() + at, &*tensor.poison, size);
}

}  // namespace

CallMemory::CallMemory(bool in_parts)
    : inputs_("ropecheck-inputs", in_parts ? SharedMemory::Use::read_only_in_parts : SharedMemory::Use::read_only),
      lent_(inputs_),
      outputs_("ropecheck-outputs", SharedMemory::Use::writable) {}

void CallMemory::put(const CallLayout& layout, bool known) {
  inputs_.reserve(layout.input_bytes);
  outputs_.reserve(layout.output_bytes);
  forgotten_.clear();
  for (const TensorMapping& placed : layout.tensors) {
    if (placed.lent) continue;
    const std::span<std::byte> page = pages(placed);
    const SharedBytes& bytes = placed.tensor->bytes;
    if (!placed.islands.empty()) {
      // Inputs have another byte between them than outputs, so a copy from gap to gap shows.
      if (!known && !placed.shares && placed.read_only) std::ranges::fill(page, input_canary);
      if (!known && !placed.shares && !placed.read_only) fill_canary(page, 0);
      pack(*placed.tensor, placed.islands, page);
      continue;
    }
    if (is_filled_again(placed)) {
      placed.tensor->bytes.forget();
      forgotten_.push_back(placed.tensor);
      fill_with_its_poison(*placed.tensor, page.subspan(placed.start, bytes.size()));
    } else if (!bytes.empty()) {
      std::memcpy(page.data() + placed.start, bytes.data(), bytes.size());
    }
    if (known) continue;
    const std::size_t end = placed.start + bytes.size();
    fill_canary(page.first(placed.start), 0);
    fill_canary(page.subspan(end), end);
  }
}

void CallMemory::take_back(const CallLayout& layout) {
  forgotten_.clear();
  for (const TensorMapping& placed : layout.tensors) {
    if (placed.read_only) continue;
    if (!placed.islands.empty()) {
      unpack(pages(placed), placed.islands, *placed.tensor);
    } else if (!placed.tensor->bytes.empty() && !placed.beside) {
      take_back(placed);
    }
  }
}

void CallMemory::take_back(const TensorMapping& placed) {
  SharedBytes& bytes = placed.tensor->bytes;
  const std::span<std::byte> page = pages(placed);
  std::byte* const to = bytes.renew(bytes.size());
  for (std::size_t begin = 0; begin < bytes.size(); begin += piece) {
    const std::size_t length = std::min(piece, bytes.size() - begin);
    std::memcpy(to + begin, page.data() + placed.start + begin, length);
    // The pages at both ends also have the canary.
    if (is_large(placed) && length == piece) outputs_.empty_within(placed.map_offset + placed.start + begin, length);
  }
}

void CallMemory::restore_outputs() {
  for (Tensor* const tensor : forgotten_) fill_with_its_poison(*tensor, tensor->bytes);
  forgotten_.clear();
}

std::span<std::byte> CallMemory::pages(const TensorMapping& placed) {
  return (placed.read_only ? inputs_ : outputs_).bytes().subspan(placed.map_offset, placed.map_length);
}

}  // namespace rope::worker
