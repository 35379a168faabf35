#include "tools/worker/host/guarded_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace rope::worker {
namespace {

constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// A wrapped 32-bit index is off by 2^31 elements of at most 8 bytes; in 64 GiB it stays within its slot.
constexpr std::size_t largest_slot = std::size_t{1} << 36;
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

std::byte* GuardedMemory::map(std::size_t slot, int fd, const std::vector<Pages>& pages, bool writable) {
  const std::size_t end = pages.empty() ? 0 : pages.back().at + pages.back().length;
  if (slot >= slots) throw std::runtime_error("a call has at most " + std::to_string(slots) + " tensors");
  if (const std::size_t room = slot_size_ / 4 * 3; end > room) {
    throw std::runtime_error("its rows span " + std::to_string(end) + " bytes, and this worker has address space for " +
                             std::to_string(room) +
                             (slot_size_ < largest_slot ? "; if `ulimit -v` is set, lift it" : ""));
  }
  std::byte* address = base_ + slot * slot_size_ + slot_size_ / 4;
  Mapping& now = mapped_[slot];
  Mapping wanted{fd, pages};
  if (now == wanted) return address;
  // The usual case, one part from the beginning: only what is longer than the new part is removed.
  const bool overlaps = now.pages.size() == 1 && pages.size() == 1 && now.pages[0].at == 0 && pages[0].at == 0;
  for (const Pages& old : now.pages) {
    const std::size_t kept = overlaps ? std::min(old.length, pages[0].length) : 0;
    if (old.length > kept &&
        mmap(address + old.at + kept, old.length - kept, PROT_NONE, reserved | MAP_FIXED, -1, 0) == MAP_FAILED) {
      throw std::runtime_error(std::string("taking a tensor away: ") + std::strerror(errno));
    }
  }
  const bool begins_alike = overlaps && now.fd == fd && now.pages[0].offset == pages[0].offset;
  const std::size_t stays = begins_alike ? std::min(now.pages[0].length, pages[0].length) : 0;
  now = {};
  // Populated at once: our page faults must not count as the kernel's time.
  for (const Pages& part : pages) {
    if (part.length > stays &&
        mmap(address + part.at + stays, part.length - stays, writable ? PROT_READ | PROT_WRITE : PROT_READ,
             MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, static_cast<off_t>(part.offset + stays)) == MAP_FAILED) {
      throw std::runtime_error(std::string("mapping a tensor: ") + std::strerror(errno));
    }
  }
  now = std::move(wanted);
  return address;
}

}  // namespace rope::worker
