// Tensors whose rows lie gigabytes apart in address space of which only the pages that hold rows are there. They show
// element indices that are computed in 32 bits, and take a few pages of memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/conformance/call.hpp"

namespace rope {

// Whole pages that hold rows.
struct Island {
  std::size_t offset;  // bytes from element [0, 0, 0, 0], which is at the beginning of a page
  std::size_t packed;  // where its bytes are where all islands lie one behind the other
  std::size_t length;
};

// In ascending order. Of a tensor with far_strides.
std::vector<Island> islands_of(const Tensor& tensor);
std::size_t packed_bytes(const std::vector<Island>& islands);

// Between a tensor's own bytes and its islands packed one behind the other.
void pack(const Tensor& tensor, const std::vector<Island>& islands, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const std::vector<Island>& islands, Tensor& tensor);

// The islands of a tensor in this process, the rest of its span inaccessible. Throws std::runtime_error where the
// system grants no address space.
class FarMemory {
 public:
  explicit FarMemory(const Tensor& tensor);
  FarMemory(const FarMemory&) = delete;
  FarMemory& operator=(const FarMemory&) = delete;
  ~FarMemory();

  void* first_element() { return base_; }
  void read_into(Tensor& tensor) const;

 private:
  std::vector<Island> islands_;
  std::byte* base_ = nullptr;
  std::size_t span_ = 0;
};

}  // namespace rope
