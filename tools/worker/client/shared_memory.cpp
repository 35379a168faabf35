#include "tools/worker/client/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "tools/worker/client/subject_error.hpp"

namespace rope::worker {
namespace {

[[noreturn]] void fail(const char* what) {
  throw SubjectError(fmt::format("{}: {}; if `ulimit` limits memory or the size of files, lift it", what,
                                 std::strerror(errno)));
}

// Of Linux 5.1.
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

// Behind all that a call's tensors take in bytes(). The file has holes, so its size costs nothing.
std::shared_ptr<std::byte[]> fixed_part_of(int file) {
  constexpr std::size_t end = SharedMemory::fixed_offset + SharedMemory::fixed_size;
  struct rlimit limit {};
  // Beyond the limit, a signal would end us.
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < end) return nullptr;
  if (ftruncate(file, static_cast<off_t>(end)) != 0) return nullptr;
  void* mapped = mmap(nullptr, SharedMemory::fixed_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                      static_cast<off_t>(SharedMemory::fixed_offset));
  if (mapped == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(mapped), [](std::byte* first) { munmap(first, SharedMemory::fixed_size); }};
}

}  // namespace

SharedMemory::SharedMemory(const char* name, Use use) : memory_(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!memory_) fail("memfd_create");
  // If a worker shrank the file, the suite would die of SIGBUS.
  if (fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) fail("sealing a memfd");
  reserve(1 << 16);
  if (use == Use::read_only_in_parts) fixed_part_ = fixed_part_of(memory_.get());
  // A worker could open its read-only descriptor again, for writing. The mappings that are there stay writable.
  if (use != Use::writable) fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  // A seal of the worker's could keep the file from growing.
  if (fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SEAL) != 0) fail("sealing a memfd");
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

void SharedMemory::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  std::size_t size = size_ == 0 ? bytes : size_;
  while (size < bytes) size *= 2;
  // A worker may have made it larger; it cannot be made smaller again.
  struct stat status {};
  if (fstat(memory_.get(), &status) != 0) fail("the size of shared memory");
  if (status.st_size < static_cast<off_t>(size) && ftruncate(memory_.get(), static_cast<off_t>(size)) != 0) {
    fail("growing shared memory");
  }
  void* mapped = data_ == nullptr
                     ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory_.get(), 0)
                     : mremap(data_, size_, size, MREMAP_MAYMOVE);
  if (mapped == MAP_FAILED) fail("mapping shared memory");
  data_ = static_cast<std::byte*>(mapped);
  size_ = size;
}

void SharedMemory::empty_within(std::size_t offset, std::size_t bytes) {
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
  // If it fails, the memory stays taken.
  if (begin < end) madvise(data_ + begin, end - begin, MADV_REMOVE);
}

FileDescriptor SharedMemory::open_writable() const {
  FileDescriptor copy(fcntl(memory_.get(), F_DUPFD_CLOEXEC, 3));
  if (!copy) fail("duplicating a memfd");
  return copy;
}

FileDescriptor SharedMemory::open_read_only() const {
  FileDescriptor copy(open(fmt::format("/proc/self/fd/{}", memory_.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (!copy) fail("opening a memfd read-only (is /proc mounted?)");
  return copy;
}

}  // namespace rope::worker
