// The rope_call that a message of the protocol describes. In the suite's own process bind() of
// tools/judge/call/call.hpp makes it from a Call.
#pragma once

#include <nlohmann/json.hpp>
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
  std::vector<MappedPages> pages;  // of tensors without `pages` of their own, but for what stays with the host
};

// Maps the message's tensors into slots from `first_slot` on. Throws std::exception if the message is
// malformed.
void build_call(const nlohmann::json& message, GuardedMemory& memory, std::size_t first_slot, int inputs, int outputs,
                NativeCall& result);

}  // namespace rope::worker
