#include "tools/worker/host/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rope::worker {
namespace {

constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// A wrapped 32-bit index is off by 2^31 elements of at most 8 bytes; in 128 GiB it stays within its slot.
constexpr std::size_t largest_slot = std::size_t{1} << 37;
constexpr std::size_t smallest_slot = std::size_t{1} << 24;

}  // namespace

GuardedMemory::GuardedMemory() {
  for (slot_size_ = largest_slot; slot_size_ >= smallest_slot; slot_size_ /= 2) {
    void* base = mmap(nullptr, slots * slot_size_, PROT_NONE, reserved, -1, 0);
    if (base != MAP_FAILED) {
      base_ = static_cast<std::byte*>(base);
      return;
    }
  }
  throw std::runtime_error(std::string("no address space for guard pages (") + std::strerror(errno) +
                           "); if `ulimit -v` is set, lift it");
}

GuardedMemory::~GuardedMemory() { munmap(base_, slots * slot_size_); }

std::byte* GuardedMemory::map(Place place, int fd, std::span<const HandedPart> parts, bool writable) {
  const std::size_t end = parts.empty() ? 0 : parts.back().at + parts.back().length;
  if (place.slot >= slots || place.room > outside_rooms) {
    throw std::runtime_error("it is handed over for room " + std::to_string(place.room) + " of slot " +
                             std::to_string(place.slot) + "; this worker has " + std::to_string(slots) +
                             " slots with " + std::to_string(outside_rooms) + " rooms");
  }
  if (const std::size_t room = slot_size_ / 4 * 3; end > room) {
    throw std::runtime_error("its rows span " + std::to_string(end) + " bytes, and this worker has address space for " +
                             std::to_string(room) +
                             (slot_size_ < largest_slot ? "; if `ulimit -v` is set, lift it" : ""));
  }
  auto* const address = reinterpret_cast<std::byte*>(space().of_room(place.slot, place.room));
  if (place.room == outside_rooms) {
    replace(mapped_[place.slot], address, fd, parts, writable);
  } else if (std::size_t& length = lengths_[place.slot][place.room]; length == 0) {
    for (const HandedPart& part : parts) put(address, fd, part, writable);
    length = end;
  }
  return address;
}

// Populated at once: our page faults must not count as the kernel's time.
void GuardedMemory::put(std::byte* address, int fd, const HandedPart& part, bool writable) {
  if (part.offset == HandedPart::zeros) {
    if (mmap(address + part.at, part.length, PROT_READ, reserved | MAP_FIXED, -1, 0) == MAP_FAILED) {
      throw std::runtime_error(std::string("mapping the first rows of a table: ") + std::strerror(errno));
    }
    return;
  }
  if (mmap(address + part.at, part.length, writable ? PROT_READ | PROT_WRITE : PROT_READ,
           MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, static_cast<off_t>(part.offset)) == MAP_FAILED) {
    throw std::runtime_error(std::string("mapping a tensor: ") + std::strerror(errno));
  }
}

void GuardedMemory::replace(Mapping& now, std::byte* address, int fd, std::span<const HandedPart> parts,
                            bool writable) {
  if (now.fd == fd && std::ranges::equal(now.parts, parts)) return;
  // The usual case, one part from the beginning: only what is longer than the new part is removed.
  const bool overlaps = now.parts.size() == 1 && parts.size() == 1 && now.parts[0].at == 0 && parts[0].at == 0;
  for (const HandedPart& old : now.parts) {
    const std::size_t kept = overlaps ? std::min(old.length, parts[0].length) : 0;
    if (old.length > kept &&
        mmap(address + old.at + kept, old.length - kept, PROT_NONE, reserved | MAP_FIXED, -1, 0) == MAP_FAILED) {
      throw std::runtime_error(std::string("taking a tensor away: ") + std::strerror(errno));
    }
  }
  const bool begins_alike = overlaps && now.fd == fd && now.parts[0].offset == parts[0].offset;
  const std::size_t stays = begins_alike ? std::min(now.parts[0].length, parts[0].length) : 0;
  now = {};
  for (const HandedPart& part : parts) {
    if (part.length > stays) put(address, fd, {part.at + stays, part.offset + stays, part.length - stays}, writable);
  }
  now = {fd, {parts.begin(), parts.end()}};
}

}  // namespace rope::worker
