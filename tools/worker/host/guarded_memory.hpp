// The worker's view of the shared memories: a large reservation that nobody may touch. Each tensor's pages are mapped
// into it, far apart from each other. An access beside a tensor faults, and its address says which tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rope::worker {

class GuardedMemory {
 public:
  static constexpr std::size_t slots = 32;  // two calls of eleven tensors

  // Throws std::runtime_error if the system grants no address space (ulimit -v).
  GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  std::uintptr_t base() const { return reinterpret_cast<std::uintptr_t>(base_); }
  std::size_t slot_size() const { return slot_size_; }

  // Whole pages of a file, at an offset from the address of a tensor.
  struct Pages {
    std::size_t at = 0;
    std::size_t offset = 0;  // in the file
    std::size_t length = 0;
    bool operator==(const Pages&) const = default;
  };

  // Maps these parts of a file into a slot, from a quarter of the slot on; nothing else stays mapped there. Returns the
  // address that the parts count from. Throws std::runtime_error.
  std::byte* map(std::size_t slot, int fd, const std::vector<Pages>& pages, bool writable);

 private:
  struct Mapping {
    int fd = -1;
    std::vector<Pages> pages;
    bool operator==(const Mapping&) const = default;
  };

  std::byte* base_ = nullptr;
  std::size_t slot_size_ = 0;
  std::array<Mapping, slots> mapped_;
};

}  // namespace rope::worker
