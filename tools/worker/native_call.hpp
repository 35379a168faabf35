// The rope_call that a message of the protocol describes: what bind() of tests/conformance/call.hpp makes of a Call in
// the suite's own process.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "impls/rope_kernel.h"
#include "tools/worker/guarded_memory.hpp"

namespace rope::worker {

struct NativeCall {
  rope_call call{};
  std::vector<double> short_factor;  // call.scaling points here
  std::vector<double> long_factor;
};

// Maps the tensors of the message. Throws std::exception where the message is malformed.
void build_call(const nlohmann::json& message, GuardedMemory& memory, int inputs, int outputs, NativeCall& result);

}  // namespace rope::worker
