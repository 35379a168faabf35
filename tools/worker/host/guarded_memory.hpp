// The worker's view of the shared memories: a large reservation that nobody may touch. Each tensor's pages are mapped
// into it, far apart from each other. An access beside a tensor faults, and its address says which tensor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/worker/protocol/address_space.hpp"
#include "tools/worker/protocol/handed_call.hpp"

namespace rope::worker {

class GuardedMemory {
 public:
  static constexpr std::size_t slots = 32;  // two calls of at most 16 tensors

  // Throws std::runtime_error if the system grants no address space (ulimit -v).
  GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  AddressSpace space() const { return {reinterpret_cast<std::uintptr_t>(base_), slot_size_}; }

  struct Place {
    std::uint32_t slot = 0;
    std::uint32_t room = outside_rooms;
  };

  // Maps these parts of a file; nothing else stays mapped there. Returns the address that the parts count from. What is
  // mapped in a room stays: it is always the same part of the same file. Throws std::runtime_error.
  std::byte* map(Place place, int fd, std::span<const HandedPart> parts, bool writable);

 private:
  struct Mapping {
    int fd = -1;
    std::vector<HandedPart> parts;
  };

  void put(std::byte* address, int fd, const HandedPart& part, bool writable);
  void replace(Mapping& now, std::byte* address, int fd, std::span<const HandedPart> parts, bool writable);

  std::byte* base_ = nullptr;
  std::size_t slot_size_ = 0;
  std::array<Mapping, slots> mapped_;
  std::array<std::array<std::size_t, outside_rooms>, slots> lengths_{};  // of what is mapped in the rooms
};

}  // namespace rope::worker
