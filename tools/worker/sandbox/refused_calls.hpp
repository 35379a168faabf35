// The system calls of a worker that its sandbox refused. The first process of its namespace is told of each before the
// worker goes on, and counts it in memory that the worker does not have.
#pragma once

#include <cstdint>
#include <string>

#include "tools/worker/protocol/file_descriptor.hpp"
#include "tools/worker/sandbox/entry.hpp"

namespace rope::sandbox {

class RefusedCalls {
 public:
  RefusedCalls();
  RefusedCalls(const RefusedCalls&) = delete;
  RefusedCalls& operator=(const RefusedCalls&) = delete;
  ~RefusedCalls();

  const worker::FileDescriptor& file() const { return file_; }
  void forget();
  // The last one since forget(), by name: "socket". Empty: none was seen.
  std::string last() const;

 private:
  worker::FileDescriptor file_;
  Refusals* seen_ = nullptr;
  std::int32_t forgotten_ = 0;
};

}  // namespace rope::sandbox
