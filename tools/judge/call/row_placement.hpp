// Tensors whose rows the kernel gets at other places than the suite stores them. Rows far apart in the address space
// show indices that are computed in 32 bits; only the pages with rows exist. q and k in one memory are as a single
// product outputs them.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

#include "tools/judge/call/call.hpp"

namespace rope {

// Whole pages that hold rows.
struct PageRun {
  std::size_t offset;  // bytes from element [0, 0, 0, 0], which is at the start of a page
  std::size_t packed;  // where its bytes are if all islands are packed one behind the other
  std::size_t length;
};

// In ascending order, for tensors with placed_strides in one memory, or for a table with absent rows.
std::vector<PageRun> islands_of(std::span<const Tensor* const> tensors);
std::vector<PageRun> islands_of(const Tensor& tensor);
std::size_t packed_bytes(const std::vector<PageRun>& islands);
std::size_t span_bytes(const std::vector<PageRun>& islands);  // from the first element to the end of the last page

// Copies between a tensor's own bytes and its islands, packed one behind the other.
void pack(const Tensor& tensor, const std::vector<PageRun>& islands, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const std::vector<PageRun>& islands, Tensor& tensor);

// The system provides no address space, or no memory, for the rows of a tensor.
struct NoRoom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Maps the islands of tensors into this process; the rest of their span is inaccessible. Throws NoRoom.
class PlacedRows {
 public:
  // The tensors must outlive this and must not move.
  explicit PlacedRows(std::vector<Tensor*> tensors);
  PlacedRows(const PlacedRows&) = delete;
  PlacedRows& operator=(const PlacedRows&) = delete;
  ~PlacedRows();

  void* first_element(const Tensor& tensor) const;
  void read_back() const;

 private:
  std::vector<Tensor*> tensors_;
  std::vector<PageRun> islands_;
  std::byte* base_ = nullptr;
  std::size_t span_ = 0;
};

}  // namespace rope
