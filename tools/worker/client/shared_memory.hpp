// A memfd that only grows, mapped whole: it carries tensors between the suite and a worker without a copy into a pipe.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tools/worker/protocol/file_descriptor.hpp"

namespace rope::worker {

class SharedMemory {
 public:
  enum class Use { read_only, read_only_in_parts, writable };  // what a worker may do, and does

  // `name` appears in /proc/PID/maps. Throws SubjectError if the system gives no memory.
  SharedMemory(const char* name, Use use);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // At least this many bytes. If it grew, earlier results of bytes() are invalid. Throws SubjectError.
  void reserve(std::size_t bytes);
  std::span<std::byte> bytes() { return {data_, size_}; }
  std::size_t size() const { return size_; }

  // Of memory that is only read, in parts: one that lies far behind bytes() in the file, and stays where it is mapped.
  // Null if limits on memory or on the size of files leave no room for it. Whoever has it may keep it longer than this.
  static constexpr std::size_t fixed_offset = std::size_t{1} << 36, fixed_size = std::size_t{1} << 34;  // bytes
  const std::shared_ptr<std::byte[]>& fixed_part() const { return fixed_part_; }

  // Gives the whole pages within this part of bytes() back to the system; they hold zeros then. Only of memory that a
  // worker may write.
  void empty_within(std::size_t offset, std::size_t bytes);

  // For a worker.
  FileDescriptor open_writable() const;
  FileDescriptor open_read_only() const;

 private:
  FileDescriptor memory_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<std::byte[]> fixed_part_;
};

}  // namespace rope::worker
