// A memfd that only grows, mapped whole: it carries tensors between the suite and a worker without a copy into a pipe.
#pragma once

#include <cstddef>
#include <span>

#include "tools/worker/protocol/file_descriptor.hpp"

namespace rope::worker {

class SharedMemory {
 public:
  // `name` appears in /proc/PID/maps. Throws std::system_error if the system gives no memory.
  explicit SharedMemory(const char* name);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // At least this many bytes. If it grew, earlier results of bytes() are invalid. Throws std::system_error.
  void reserve(std::size_t bytes);
  std::span<std::byte> bytes() { return {data_, size_}; }

  // For a worker. Nobody can map a read-only one writable.
  FileDescriptor open_writable() const;
  FileDescriptor open_read_only() const;

 private:
  FileDescriptor memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rope::worker
