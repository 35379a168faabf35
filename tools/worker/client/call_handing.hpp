// A call in the bytes that our own host takes, protocol/handed_call.hpp.
#pragma once

#include <cstdint>
#include <string>

#include "tools/worker/client/call_layout.hpp"
#include "tools/worker/client/call_message.hpp"
#include "tools/worker/protocol/address_space.hpp"

namespace rope::worker {

// What follows the head: calls with their tensors. `companion`, the concurrent call, may be null.
std::string handed_calls(const BoundCall& judged, const BoundCall* companion, const CallLayout& layout,
                         const AddressSpace& space);

// The whole message, ready to be sent.
std::string handed(std::int64_t id, bool has_companion, const CallLayout& layout, const std::string& calls);

// The message that ends the host.
std::string handed_end();

}  // namespace rope::worker
