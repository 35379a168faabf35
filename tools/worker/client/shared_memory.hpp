// A memfd that only grows, mapped whole: how tensors travel between the suite and a worker without a copy into a pipe.
#pragma once

#include <cstddef>
#include <span>

#include "tools/worker/client/file_descriptor.hpp"

namespace rope::worker {

class SharedMemory {
 public:
  // `name` is seen in /proc/PID/maps. Throws std::system_error where the system gives no memory.
  explicit SharedMemory(const char* name);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // At least this many bytes; earlier results of bytes() are void where it grew. Throws std::system_error.
  void reserve(std::size_t bytes);
  std::span<std::byte> bytes() { return {data_, size_}; }

  // For a worker. A read-only one cannot be mapped writable by anybody.
  FileDescriptor open_writable() const;
  FileDescriptor open_read_only() const;

 private:
  FileDescriptor memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rope::worker
