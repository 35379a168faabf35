// Tensors whose rows the kernel gets otherwise than the suite stores them. Far apart in address space, of which only
// the pages that hold rows are there: they show element indices that are computed in 32 bits, and take a few pages of
// memory. Or q and k in one memory, as one product gives both.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "tools/judge/call/call.hpp"

namespace rope {

// Whole pages that hold rows.
struct Island {
  std::size_t offset;  // bytes from element [0, 0, 0, 0], which is at the beginning of a page
  std::size_t packed;  // where its bytes are where all islands lie one behind the other
  std::size_t length;
};

// In ascending order. Of tensors with placed_strides, in one memory.
std::vector<Island> islands_of(std::span<const Tensor* const> tensors);
std::vector<Island> islands_of(const Tensor& tensor);
std::size_t packed_bytes(const std::vector<Island>& islands);
std::size_t span_bytes(const std::vector<Island>& islands);  // from the first element to the end of the last page

// Between a tensor's own bytes and its islands packed one behind the other.
void pack(const Tensor& tensor, const std::vector<Island>& islands, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const std::vector<Island>& islands, Tensor& tensor);

// The system grants no address space, or no memory, for the rows of a tensor.
struct NoRoom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The islands of tensors in this process, the rest of their span inaccessible. Throws NoRoom.
class PlacedRows {
 public:
  // The tensors must outlive this, and stay where they are.
  explicit PlacedRows(std::vector<Tensor*> tensors);
  PlacedRows(const PlacedRows&) = delete;
  PlacedRows& operator=(const PlacedRows&) = delete;
  ~PlacedRows();

  void* first_element(const Tensor& tensor) const;
  void read_back() const;

 private:
  std::vector<Tensor*> tensors_;
  std::vector<Island> islands_;
  std::byte* base_ = nullptr;
  std::size_t span_ = 0;
};

}  // namespace rope
