// Where a worker has tensors in its address space. Both sides of the protocol count on it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rope::worker {

// Small tensors of our own host stay mapped from call to call: each name has rooms for tensors of 1 to 16 pages, and
// others for those that may be written. Mapping anew would cost more than a small kernel.
inline constexpr std::size_t region = std::size_t{64} << 10;  // bytes; a tensor with a room is at most as long
inline constexpr std::uint32_t pages_of_region = 16;          // of 4096 bytes
inline constexpr std::uint32_t outside_rooms = 2 * pages_of_region;

// The room for a tensor of so many bytes, in whole pages.
constexpr std::uint32_t room_of(std::size_t map_length, bool writable) {
  if (map_length == 0 || map_length > region) return outside_rooms;
  return static_cast<std::uint32_t>((map_length - 1) / (region / pages_of_region)) + (writable ? pages_of_region : 0);
}

// Each tensor has a slot. A large one lies a quarter of the slot behind its beginning. Rooms lie from an eighth on.
struct AddressSpace {
  std::uint64_t base = 0;  // of slot 0; 0: not told
  std::uint64_t slot = 0;  // bytes

  // Whether rooms begin with a page and do not overlap. Else little address space is there.
  bool has_rooms(std::size_t page) const { return slot >= 4096 * (region / 4) && slot % (4096 * page) == 0; }

  // Within a slot, no two of these are a power of two apart: an index that wraps at 32 bits must not lead from one
  // tensor's memory to another's.
  std::uint64_t of_room(std::uint64_t index, std::uint32_t room) const {
    const std::uint64_t unit = slot / 4096;
    return base + index * slot + (room < outside_rooms ? slot / 8 + (9 * room + 2) * unit : slot / 4);
  }
};

}  // namespace rope::worker
