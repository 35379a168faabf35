// The worker's view of the shared memories: a large reservation that nobody may touch, into which the pages of each
// tensor are mapped far apart from each other. An access beside a tensor faults, and its address says which tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rope::worker {

class GuardedMemory {
 public:
  static constexpr std::size_t slots = 16;

  // Throws std::runtime_error where the system grants no address space (ulimit -v).
  GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::uintptr_t base() const { return reinterpret_cast<std::uintptr_t>(base_); }
  std::size_t slot_size() const { return slot_size_; }

  // Maps part of a file into a slot, a quarter of the slot from its start, and nothing else into that slot. Returns the
  // address of the first byte. Throws std::runtime_error.
  std::byte* map(std::size_t slot, int fd, std::size_t offset, std::size_t length, bool writable);

 private:
  struct Mapping {
    int fd = -1;
    std::size_t offset = 0;
    std::size_t length = 0;
    bool operator==(const Mapping&) const = default;
  };

  std::byte* base_ = nullptr;
  std::size_t slot_size_ = 0;
  std::array<Mapping, slots> mapped_;
};

}  // namespace rope::worker
