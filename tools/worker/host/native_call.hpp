// The rope_call that ropecheck hands over, protocol/handed_call.hpp. In the suite's own process bind() of
// tools/judge/call/call.hpp makes it from a Call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/include/rope_kernel.h"
#include "tools/worker/host/guarded_memory.hpp"

namespace rope::worker {

// The pages that a tensor was mapped on.
struct MappedPages {
  std::string name;
  std::byte* start = nullptr;
  std::size_t length = 0;
  std::size_t at = 0;               // bytes from the start to element [0, 0, ..]
  std::size_t first = 0, last = 0;  // to the first byte of any element, and to the end of the last
  bool writable = false;
};

struct NativeCall {
  rope_call call{};
  std::vector<MappedPages> pages;  // of what goes to a device
};

struct HandedCalls {
  std::int64_t id = -1;
  NativeCall judged;
  std::optional<NativeCall> companion;
};

// Maps the tensors of a message without its size. Throws std::runtime_error if it is too short or too long, or if pages
// cannot be mapped. `for_device`: whether their places are wanted too.
HandedCalls take_over(std::span<const std::byte> message, GuardedMemory& memory, int inputs, int outputs,
                      bool for_device);

}  // namespace rope::worker
