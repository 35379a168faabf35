#include "tools/worker/guarded_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rope::worker {
namespace {

constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// A 32-bit index that wraps is off by 2^31 elements of at most 8 bytes: with 64 GiB it stays within its slot.
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

std::byte* GuardedMemory::map(std::size_t slot, int fd, std::size_t offset, std::size_t length, bool writable) {
  if (slot >= slots || length > slot_size_ / 2) {
    throw std::runtime_error("a tensor of " + std::to_string(length) + " bytes in slot " + std::to_string(slot) +
                             " does not fit into the address space of this worker");
  }
  std::byte* address = base_ + slot * slot_size_ + slot_size_ / 4;
  Mapping& now = mapped_[slot];
  const Mapping wanted{fd, offset, length};
  if (now == wanted) return address;
  const std::size_t before = now.length;
  now = {};
  // Populated at once, so that the kernel's time holds no page faults of ours.
  if (length > 0 && mmap(address, length, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                         MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, static_cast<off_t>(offset)) == MAP_FAILED) {
    throw std::runtime_error(std::string("mapping a tensor: ") + std::strerror(errno));
  }
  if (before > length &&
      mmap(address + length, before - length, PROT_NONE, reserved | MAP_FIXED, -1, 0) == MAP_FAILED) {
    throw std::runtime_error(std::string("taking a tensor away: ") + std::strerror(errno));
  }
  now = wanted;
  return address;
}

}  // namespace rope::worker
