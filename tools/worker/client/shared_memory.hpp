// A memfd that only grows, mapped whole: it carries tensors between the suite and a worker without a copy into a pipe.
#pragma once

#include <cstddef>
#include <span>

#include "tools/worker/protocol/file_descriptor.hpp"

namespace rope::worker {

class SharedMemory {
 public:
  enum class Use { read_only, writable };  // what a worker may do

  // `name` appears in /proc/PID/maps. Throws SubjectError if the system gives no memory.
  SharedMemory(const char* name, Use use);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // At least this many bytes. If it grew, earlier results of bytes() are invalid. Throws SubjectError.
  void reserve(std::size_t bytes);
  std::span<std::byte> bytes() { return {data_, size_}; }

  // For a worker.
  FileDescriptor open_writable() const;
  FileDescriptor open_read_only() const;

 private:
  FileDescriptor memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rope::worker
